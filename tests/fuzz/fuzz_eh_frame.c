/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_eh_frame.c - any bytes as an .eh_frame section; the first byte selects class and byte
 * order. */
#include <stdint.h>
#include <stdlib.h>

#include "resolve/unwind/eh_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eh_frame frames;

	if (!size)
		return 0;
	if (eh_frame_parse(data + 1, size - 1, 0x402000, data[0] & 1, data[0] & 2,
			   &frames))
		return 0;
	for (size_t i = 0; i < frames.functions.nr; i++) {
		const struct eh_function *f = &frames.functions.at[i];
		const struct eh_function *found = eh_frame_find(&frames, f->start);

		if (!f->bytes || f->start + f->bytes < f->start ||
		    (i && f->start < f[-1].start))
			abort();
		if (!found || found->start != f->start)
			abort();
	}
	eh_frame_done(&frames);
	return 0;
}
