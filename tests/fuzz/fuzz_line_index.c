/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_line_index.c - index files and their blocks. The first byte selects the kind of the
 * rest. The hashes of an index file are corrected, so that the fuzzer reaches the data that
 * they protect. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/hash.h"
#include "base/files/io.h"
#include "resolve/lines/block.h"
#include "resolve/lines/index.h"
#include "resolve/lines/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_u64(uint8_t *at, uint64_t v)
{
	for (unsigned int i = 0; i < 8; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

static void look_at_block(const uint8_t *data, size_t size)
{
	struct line_block b;
	struct line_row_walk walk;
	struct line_seek seek;
	struct line_row row;
	uint64_t addr = 0;

	if (line_block_open(&b, data, size))
		return;
	line_row_walk_begin(&walk, &b, 0x1234);
	for (unsigned int i = 0; i < 4096 && line_row_walk_next(&walk, &row); i++)
		addr = row.addr;
	line_seek_begin(&seek, &b);
	for (unsigned int k = 0; k < 512; k += 7) {
		uint64_t at = addr + k; /* can wrap around to 0 */
		uint32_t id = line_block_scope_at(&b, at);
		struct line_scope s;

		(void)line_block_row(&b, at, &row);
		(void)line_seek_row(&seek, at, &row);
		(void)line_seek_scope(&seek, at);
		for (unsigned int i = 0; i < 64 && id != LINE_NO_SCOPE; i++) {
			if (!line_block_scope(&b, id, &s))
				break;
			id = s.parent;
		}
	}
}

static void look_at_symbols(const uint8_t *data, size_t size)
{
	struct line_symbols s;
	struct line_symbol symbol;

	if (line_symbols_open(&s, data, size))
		return;
	for (uint64_t at = 0; at < 64; at++)
		(void)line_symbols_find(&s, at << at, "f", &symbol);
}

static void look_at_index(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/fuzz_line_index.XXXXXX";
	struct line_directory dir;
	struct line_index index;
	uint8_t *copy = malloc(size + 1);
	int fd = mkostemp(path, O_CLOEXEC);

	if (copy && fd >= 0 && size > LINE_INDEX_HEAD) {
		uint64_t low;
		uint64_t high;
		uint64_t at;

		memcpy(copy, data, size);
		memcpy(&at, copy + 16, 8);
		if (at <= size)
			put_u64(copy + 32, hash_bytes(copy + at, size - at, 0));
		put_u64(copy + 56, hash_bytes(copy, LINE_INDEX_HEAD - 8, 0));
		if (!io_write_all(fd, copy, size) &&
		    !line_index_open(&index, path, NULL, &dir)) {
			for (size_t i = 0; i < dir.units.nr; i++)
				(void)line_index_check(&dir.units.at[i]);
			(void)line_directory_find(&dir, 0x1234, &low, &high);
			line_directory_done(&dir);
			line_index_close(&index);
		}
	}
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] == 'i')
		look_at_index(data + 1, size - 1);
	else if (data[0] == 's')
		look_at_symbols(data + 1, size - 1);
	else
		look_at_block(data + 1, size - 1);
	return 0;
}
