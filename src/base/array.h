/* SPDX-License-Identifier: GPL-2.0-or-later */
/* array.h - the number of elements of an array.
 * Layer: base. */
#pragma once

/* The number of elements of `array`. A pointer as the argument does not compile. */
#define COUNT_OF(array)                                                                \
	(sizeof(array) / sizeof(*(array)) +                                            \
	 0 * sizeof(struct {                                                           \
		 _Static_assert(!__builtin_types_compatible_p(                         \
					__typeof__(array), __typeof__(&(array)[0])),   \
				"not an array");                                       \
		 int unused;                                                           \
	 }))
