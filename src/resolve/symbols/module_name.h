/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module_name.h - compares names of kernel modules: the kernel writes '_' where file names can
 * have '-' or ',' (KBUILD_MODNAME in scripts/Makefile.lib).
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

static inline char module_name_char(char c)
{
	if (c == '-' || c == ',')
		return '_';
	return c;
}

static inline bool module_name_equal(const char *a, size_t a_len, const char *b,
				     size_t b_len)
{
	size_t i = 0;

	if (a_len != b_len)
		return false;
	while (i < a_len && module_name_char(a[i]) == module_name_char(b[i]))
		i++;
	return i == a_len;
}
