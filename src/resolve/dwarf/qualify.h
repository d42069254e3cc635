/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qualify.h - composes qualified names (with namespaces, types and enclosing functions) of C++
 * functions that have no linkage name.
 * Layer: resolve. gcc writes no linkage name for functions of internal linkage: static ones,
 * those of anonymous namespaces and local types, and lambdas. The names look like demangled
 * symbols without parameters. */
#pragma once
#include "resolve/dwarf/scopes.h"

/* Replaces the names of the functions in `s->unlinked` by qualified ones. If functions of the
 * unit then still have equal names, their parameters are appended. Returns 0 or -ENOMEM. */
int dwarf_qualify(struct dwarf_scopes *s, struct dwarf_open_unit *o,
		  struct dwarf_reader *rd);
