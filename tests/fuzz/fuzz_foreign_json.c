/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_foreign_json.c - any bytes as JSON profiles of other tools: every reader gets every text. */
#include "base/array.h"
#include "foreign_sample.h"

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
	struct foreign_info info = { 0 };
	struct err err;

	(void)foreign_find(data, size);
	for (size_t i = 0; i < COUNT_OF(readers); i++)
		(void)readers[i](data, size, fuzz_sum_sample, &sum, &info, &err);
	/* Keep the compiler from removing the sum. */
	return sum == SIZE_MAX ? -1 : 0;
}
