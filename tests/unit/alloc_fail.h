/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alloc_fail.h - makes the n-th allocation of a test fail.
 * Every unit test is linked with --wrap for malloc, calloc, realloc, strdup, strndup and
 * asprintf; while nothing is armed they are the real ones.  Use:
 *
 *	for (unsigned long n = 1;; n++) {
 *		alloc_fail_at(n);
 *		r = thing_new(&thing, &err);
 *		if (!alloc_fail_off())
 *			break;           // no n-th allocation: all of them were tried
 *		assert_int_equal(r, -ENOMEM);
 *	}
 */
#pragma once
#include <stdbool.h>

/* Makes the n-th allocation from now on (1: the next one) and all later ones return NULL. */
void alloc_fail_at(unsigned long n);
/* Makes allocations work again. Returns true if one failed since alloc_fail_at(). */
bool alloc_fail_off(void);
