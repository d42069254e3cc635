/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_build_id.c - reads any bytes as notes with a build-id, and as hex digits of a build-id. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/elf/build_id.h"
#include "resolve/find/debug_cache_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	HEX_BYTES = 2 * BUILD_ID_MAX + 1
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct build_id id = { 0 };
	struct build_id again;
	char hex[HEX_BYTES];
	char *text;

	if (!notes_build_id(data, size, &id)) {
		if (!id.len || id.len > BUILD_ID_MAX)
			abort();
		build_id_to_hex(&id, hex);
		if (!build_id_parse(hex, &again) || !build_id_equal(&id, &again))
			abort();
	}
	text = strndup((const char *)data, size);
	if (text && build_id_parse(text, &id) && id.len * 2 != strlen(text))
		abort();
	free(text);
	return 0;
}
