/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_dwarf.c - a whole ELF file with debug information: sections, compressed or not,
 * relocations, units, entries, ranges, line programs, symbols. */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/files/io.h"
#include "resolve/lines/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take_position(void *ctx, const struct line_position *position)
{
	int *left = ctx;

	if (position->low >= position->high)
		__builtin_trap();
	return --*left == 0;
}

static int take_source(void *ctx, const char *path)
{
	(void)ctx;
	return path[0] == '\1';
}

static void look(struct lines *l, uint64_t addr)
{
	struct line_frame frames[8];
	struct line_symbol_name symbol;
	size_t nr = lines_find(l, addr, frames, 8);

	for (size_t i = 0; i < nr; i++) {
		if (frames[i].name && frames[i].name[0] == '\1')
			continue;
	}
	(void)lines_symbol(l, addr, nr ? frames[0].name : NULL, &symbol);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines_options options = { .threads = 1 };
	struct lines_file file = { .path = "fuzz", .debug_fd = -1 };
	struct lines *l;
	int left = 1000;

	file.fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (file.fd < 0)
		return 0;
	if (!io_write_all(file.fd, data, size) &&
	    !lines_open(&options, &file, &l, NULL)) {
		lines_prepare_all(l);
		for (uint64_t at = 0; at < 256; at += 3) {
			look(l, 0x100000 + at);
			look(l, at * 0x1000 / 16);
		}
		(void)lines_rows(l, 0, UINT64_MAX, take_position, &left);
		(void)lines_sources(l, take_source, NULL);
		lines_free(l);
	}
	close(file.fd);
	return 0;
}
