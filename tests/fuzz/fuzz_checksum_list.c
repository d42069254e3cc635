/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_checksum_list.c - the list of checksums in a directory of a session. A compacted list
 * must name the same files. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/containers/hash.h"
#include "format/session/checksum_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Adds a name to a sum that does not depend on their order. */
static int note_name(void *ctx, const char *name)
{
	uint64_t *sum = ctx;

	assert(*name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
	*sum += hash_bytes(name, strlen(name), 0) | 1;
	return 0;
}

/* Sums the names in a list. Returns false if memory is exhausted. */
static bool sum_names(const uint8_t *data, size_t size, uint64_t *ret_sum)
{
	struct buf text = { 0 };
	int r = 0;

	*ret_sum = 0;
	buf_put(&text, data, size);
	if (size)
		r = checksum_list_promised((char *)text.data, size, note_name, ret_sum);
	buf_done(&text);
	return !r;
}

static size_t nr_good_lines(const uint8_t *data, size_t size)
{
	struct checksum_line line;
	struct buf text = { 0 };
	size_t at = 0, nr = 0;
	int r;

	buf_put(&text, data, size);
	while (size && (r = checksum_list_next((char *)text.data, size, &at, &line))) {
		assert(at <= size);
		if (r > 0) {
			const char *slash = strchr(line.name, '/');

			assert(!slash || !slash[1]);
			nr++;
		}
	}
	buf_done(&text);
	return nr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = { 0 }, compact = { 0 };
	size_t nr = nr_good_lines(data, size);
	uint64_t before, after;
	bool whole = sum_names(data, size, &before);

	buf_put(&text, data, size);
	if (size && !checksum_list_compact((char *)text.data, size, &compact)) {
		assert(nr_good_lines(compact.data, compact.len) <= nr);
		whole = sum_names(compact.data, compact.len, &after) && whole;
		assert(!whole || before == after);
	}
	buf_done(&text);
	buf_done(&compact);
	return 0;
}
