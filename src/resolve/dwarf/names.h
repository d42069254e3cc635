/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.h - finds the name of a function: in its own entry, or in entries it refers to, also in
 * other units and files.
 * Layer: resolve. */
#pragma once
#include "resolve/dwarf/scopes.h"

/* Appends a function to s->functions and, if it has no linkage name, also to s->unlinked. Sets
 * *ret_function to its index in s->functions. The entry at `off` of `info` describes it; `info`
 * is the file of the open unit, or dwz's file. Returns 0 or -ENOMEM. */
int dwarf_names_function(struct dwarf_scopes *s, const struct dwarf_open_unit *o,
			 struct dwarf_reader *rd, const struct dwarf_info *info,
			 uint64_t off, uint32_t *ret_function);
