/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles of other tools from untrusted sources: each reader, and the detection of the
 * format. */
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "format/foreign/foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads each string to its last byte, which must be valid. */
static size_t look_at(struct foreign_word w)
{
	size_t sum = 0;

	for (size_t i = 0; i < w.len; i++)
		sum += (unsigned char)w.at[i];
	return sum;
}

static int take(void *ctx, const struct foreign_sample *s)
{
	size_t *sum = ctx;

	*sum += look_at(s->event) + look_at(s->comm);
	for (size_t i = 0; i < s->nr_frames && i < 64; i++)
		*sum += look_at(s->frames[i].name) + look_at(s->frames[i].image);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t sum = 0;
	struct foreign_info info;
	struct err err;

	(void)foreign_find(data, size);
	(void)foreign_read_folded(data, size, take, &sum, &info, &err);
	(void)foreign_read_perf_script(data, size, take, &sum, &info, &err);
	(void)foreign_read_difffolded(data, size, take, &sum, &info, &err);
	(void)foreign_read_callgrind(data, size, take, &sum, &info, &err);
	(void)foreign_read_simpleperf(data, size, take, &sum, &info, &err);
	(void)foreign_read_jfr(data, size, take, &sum, &info, &err);
	if (!foreign_read_pprof(data, size, take, &sum, &info, &err))
		sum += look_at(info.main_image) + look_at(info.period_event);
	/* Keep the compiler from removing the sum. */
	return sum == SIZE_MAX ? -1 : 0;
}
