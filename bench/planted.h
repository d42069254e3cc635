/* SPDX-License-Identifier: GPL-2.0-or-later */
/* planted.h - a delay that compare.py plants into a function.  It has no includes: it precedes the
 * definitions that choose the features of system headers. */
#pragma once

extern unsigned int planted_rounds, planted_calls;

/* Makes the loops only in every 16th call, for fine steps. */
static inline __attribute__((always_inline)) void planted_delay(void)
{
	if (++planted_calls % 16)
		return;
	for (unsigned int i = planted_rounds; i; i--)
		__asm__ volatile("" ::: "memory");
}
