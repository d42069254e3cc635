/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_elf_needed.c - any bytes as a binary that is stored without unneeded ranges: these are
 * sorted, and contain nothing that must be kept. */
#include <stdint.h>
#include <stdlib.h>

#include "resolve/elf/file.h"
#include "resolve/elf/needed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_span kept[] = { { size / 4, size / 2 }, { size - size / 8, size } };
	const elf_spans keep = { .at = kept, .nr = 2 };
	elf_spans found = { 0 };
	struct elf_file f;

	if (elf_file_init_bytes(&f, data, size, NULL))
		return 0;
	(void)elf_unneeded(&f, &keep, &found);
	for (size_t i = 0; i < found.nr; i++) {
		const struct elf_span *s = &found.at[i];

		if (s->end <= s->offset || (i && s->offset <= s[-1].end))
			abort();
		for (size_t k = 0; k < keep.nr; k++)
			if (s->offset < kept[k].end && s->end > kept[k].offset)
				abort();
	}
	vec_done(&found);
	elf_file_done(&f);
	return 0;
}
