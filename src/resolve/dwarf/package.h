/* package.h - finds a unit in a .dwp, where split units of many files lie together.
 * Layer: resolve.  Source of the format: DWARF 5, section 7.3.5; version 2 is GNU's. */
#pragma once
#include <stdint.h>

#include "resolve/dwarf/unit.h"

/* Fills `ret_unit` (root not read) with the unit of this id.  `info` is of the package; its
 * unit list is not used.  0, -ENOENT or -EBADMSG. */
int dwarf_package_find(const struct dwarf_info *info, uint64_t id,
		       struct dwarf_unit *ret_unit);
