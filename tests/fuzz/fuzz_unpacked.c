/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_unpacked.c - any bytes as a compressed kernel module: xz, zstd or gzip. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "resolve/elf/gzip.h"
#include "resolve/elf/unpacked.h"
#include "resolve/symbols/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	GZIP_MAX = 1 << 20
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf packed = { 0 }, out = { 0 }, small = { 0 };
	struct symtab *tab = NULL;
	int r;

	buf_put(&packed, data, size);
	r = packed.failed ? -1 : unpacked_bytes(&packed, &out);
	if (out.len > UNPACKED_MAX_BYTES + GZIP_MAX)
		abort();
	if (!r)
		(void)symtab_load_elf_bytes(out.data, out.len, &tab, NULL);
	r = gzip_unpack(data, size, GZIP_MAX, &small);
	if (small.len > GZIP_MAX || (r && small.len) ||
	    (!r && out.len >= small.len && data[0] == 0x1f &&
	     memcmp(out.data, small.data, small.len)))
		abort();
	symtab_free(tab);
	buf_done(&small);
	buf_done(&packed);
	buf_done(&out);
	return 0;
}
