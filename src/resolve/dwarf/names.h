/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.h - finds the name of a function: in its own entry, or in entries it refers to, also in
 * other units and files.
 * Layer: resolve. */
#pragma once
#include "resolve/dwarf/scopes.h"

/* Appends the function that the entry at `off` in the open unit describes to s->functions, and
 * sets *ret_function to its index. Returns 0 or -ENOMEM. */
int dwarf_names_function(struct dwarf_scopes *s, const struct dwarf_open_unit *o,
			 struct dwarf_reader *rd, const struct dwarf_info *info,
			 uint64_t off, uint32_t *ret_function);
