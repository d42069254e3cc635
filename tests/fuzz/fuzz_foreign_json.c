/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON profiles of other tools from untrusted sources: every reader gets every text. */
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/err.h"
#include "format/foreign/foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads each string to its last byte, which must be valid. */
static size_t sum_word(struct foreign_word w)
{
	size_t sum = 0;

	for (size_t i = 0; i < w.len; i++)
		sum += (unsigned char)w.at[i];
	return sum;
}

static int sum_sample(void *ctx, const struct foreign_sample *s)
{
	size_t *sum = ctx;

	*sum += sum_word(s->event) + sum_word(s->comm);
	for (size_t i = 0; i < s->nr_frames && i < 64; i++)
		*sum += sum_word(s->frames[i].name) + sum_word(s->frames[i].image);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int (*const readers[])(const void *, size_t, foreign_fn, void *,
				      struct foreign_info *, struct err *) = {
		foreign_read_speedscope,
		foreign_read_firefox,
		foreign_read_cpuprofile,
		foreign_read_chrome_trace,
	};
	size_t sum = 0;
	struct foreign_info info;
	struct err err;

	(void)foreign_find(data, size);
	for (size_t i = 0; i < COUNT_OF(readers); i++)
		(void)readers[i](data, size, sum_sample, &sum, &info, &err);
	/* Keep the compiler from removing the sum. */
	return sum == SIZE_MAX ? -1 : 0;
}
