/* ranges.h - where the code of a unit or a function lies.
 * Layer: resolve.  Source of the format: DWARF 5, sections 2.17.3 and 7.25; DWARF 4, 2.17.3. */
#pragma once
#include "base/containers/vec.h"
#include "resolve/dwarf/unit.h"

typedef VEC(struct dwarf_code) dwarf_code_vec;

/* Appends the ranges that DW_AT_ranges `v` of an entry of `u` means, without empty ones and
 * those that linkers dropped.  0 or -ENOMEM; what cannot be read ends the list. */
int dwarf_ranges_read(const struct dwarf_unit *u, struct dwarf_reader *rd,
		      struct dwarf_value v, dwarf_code_vec *out);
/* Appends those of the unit itself. */
int dwarf_ranges_of_unit(const struct dwarf_unit *u, struct dwarf_reader *rd,
			 dwarf_code_vec *out);
