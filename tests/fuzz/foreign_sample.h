/* SPDX-License-Identifier: GPL-2.0-or-later */
/* foreign_sample.h - reads the strings of each sample in the fuzz targets of foreign profiles. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "format/foreign/foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the sum of a string's bytes. It reads each byte, so a sanitizer detects an invalid
 * string. */
static inline size_t fuzz_sum_word(struct foreign_word w)
{
	size_t sum = 0;

	for (size_t i = 0; i < w.len; i++)
		sum += (unsigned char)w.at[i];
	return sum;
}

/* A foreign_fn that adds the bytes of all strings of a sample to `ctx`, a size_t. */
static inline int fuzz_sum_sample(void *ctx, const struct foreign_sample *s)
{
	size_t *sum = ctx;

	*sum += fuzz_sum_word(s->event) + fuzz_sum_word(s->comm);
	for (size_t i = 0; i < s->nr_frames && i < 64; i++)
		*sum += fuzz_sum_word(s->frames[i].name) +
			fuzz_sum_word(s->frames[i].image);
	return 0;
}
