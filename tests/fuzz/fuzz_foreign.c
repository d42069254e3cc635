/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_foreign.c - any bytes as folded stacks, text of perf script and pprof, and the detection
 * of the format of a profile. */
#include "foreign_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct foreign_info info = { 0 };
	struct err err;
	size_t sum = 0;

	(void)foreign_find(data, size);
	(void)foreign_read_folded(data, size, fuzz_sum_sample, &sum, &info, &err);
	(void)foreign_read_perf_script(data, size, fuzz_sum_sample, &sum, &info, &err);
	if (!foreign_read_pprof(data, size, fuzz_sum_sample, &sum, &info, &err))
		sum += fuzz_sum_word(info.main_image) +
		       fuzz_sum_word(info.period_event);
	/* Keep the compiler from removing the sum. */
	return sum == SIZE_MAX ? -1 : 0;
}
