/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_tar.c - any bytes as an archive: plain, or compressed with zstd. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/archive/manifest.h"
#include "format/archive/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	UNPACKED_MAX = 1 << 20
};

struct bytes {
	const uint8_t *at;
	size_t left;
};

/* Returns the input in blocks of varying size, as a pipe does. */
static ssize_t take(void *ctx, void *out, size_t len)
{
	struct bytes *b = ctx;
	size_t n = b->left < 700 ? b->left : 700;

	if (n > len)
		n = len;
	memcpy(out, b->at, n);
	b->at += n;
	b->left -= n;
	return (ssize_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	struct tar_member m;
	struct tar_reader *t;
	uint64_t total = 0;
	char content[300];

	if (tar_reader_new((struct tar_source){ take, &b }, UNPACKED_MAX, &t))
		abort();
	while (!tar_reader_next(t, &m, NULL)) {
		ssize_t n;

		(void)archive_name_ok(m.name);
		if (m.kind != TAR_FILE && m.bytes)
			abort();
		while ((n = tar_reader_get(t, content, sizeof(content), NULL)) > 0)
			total += (uint64_t)n;
		if (total > UNPACKED_MAX)
			abort();
	}
	tar_reader_free(t);
	return 0;
}
