/* SPDX-License-Identifier: GPL-2.0-or-later */
/* planted.c - included at the end of the file with the delay (planted.h), in C or C++.  The
 * environment variable PLANTED_ROUNDS is the number of loops. */
#include <stdlib.h>

unsigned int planted_rounds, planted_calls;

__attribute__((constructor)) static void planted_read_rounds(void)
{
	const char *text = getenv("PLANTED_ROUNDS");

	planted_rounds = text ? (unsigned int)strtoul(text, NULL, 10) : 0;
}
