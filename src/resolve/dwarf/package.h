/* SPDX-License-Identifier: GPL-2.0-or-later */
/* package.h - finds a unit in a .dwp, which contains the split units of many files.
 * Layer: resolve. Source of the format: DWARF 5, section 7.3.5; version 2 is GNU's. */
#pragma once
#include <stdint.h>

#include "resolve/dwarf/unit.h"

/* Fills `ret_unit` with the unit of this id, and reads its root entry. `info` is the package's;
 * its list of units is not used. Returns 0, -ENOENT or -EBADMSG. */
int dwarf_package_find(const struct dwarf_info *info, uint64_t id,
		       struct dwarf_reader *rd, struct dwarf_unit *ret_unit);
