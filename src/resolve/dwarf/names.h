/* names.h - what a function is called: by its own entry, or by those that the entry
 * refers to, in other units and files too.
 * Layer: resolve. */
#pragma once
#include "resolve/dwarf/scopes.h"

/* Appends the function that the entry at `off` in the open unit means; *ret_function is its
 * index.  0 or -ENOMEM. */
int dwarf_names_function(struct dwarf_scopes *s, const struct dwarf_open_unit *o,
			 struct dwarf_reader *rd, const struct dwarf_info *info,
			 uint64_t off, uint32_t *ret_function);
