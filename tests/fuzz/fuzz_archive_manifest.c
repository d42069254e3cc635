/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_archive_manifest.c - any text as a manifest; a manifest that was read is written back
 * unchanged. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/archive/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct archive_manifest m, again;
	struct buf text = { 0 };

	if (!archive_manifest_parse((const char *)data, size, &m, NULL)) {
		for (size_t i = 0; i < m.files.nr; i++)
			if (!archive_name_ok(m.files.at[i].name))
				abort();
		archive_manifest_put(&m, &text);
		if (archive_manifest_parse((const char *)text.data, text.len, &again,
					   NULL) ||
		    again.files.nr != m.files.nr)
			abort();
		archive_manifest_done(&again);
	}
	archive_manifest_done(&m);
	buf_done(&text);
	return 0;
}
