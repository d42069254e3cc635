/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranges.h - reads the address ranges of a unit or a function.
 * Layer: resolve. Source of the format: DWARF 5, sections 2.17.3 and 7.25; DWARF 4, 2.17.3. */
#pragma once
#include "base/containers/vec.h"
#include "resolve/dwarf/unit.h"

typedef VEC(struct dwarf_code) dwarf_code_vec;

/* Appends the ranges of the DW_AT_ranges value `v` of an entry in `u`, except for empty ones
 * and code that the linker removed. A malformed entry ends the list. Returns 0 or -ENOMEM. */
int dwarf_ranges_read(const struct dwarf_unit *u, struct dwarf_reader *rd,
		      struct dwarf_value v, dwarf_code_vec *out);
/* Appends the ranges of the unit itself to `out`. Returns 0 or a negative errno. */
int dwarf_ranges_of_unit(const struct dwarf_unit *u, struct dwarf_reader *rd,
			 dwarf_code_vec *out);
