/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_difffolded.c - any bytes as folded stacks with two counts per line. */
#include "foreign_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct foreign_info info = { 0 };
	struct err err;
	size_t sum = 0;

	(void)foreign_read_difffolded(data, size, fuzz_sum_sample, &sum, &info, &err);
	/* Keep the compiler from removing the sum. */
	return sum == SIZE_MAX ? -1 : 0;
}
