/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_xz.c - any bytes as the xz stream of a .gnu_debugdata section. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "resolve/elf/xz.h"
#include "resolve/symbols/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	UNPACKED_MAX = 1 << 20
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out = { 0 };
	struct symtab *tab = NULL;
	int r = xz_unpack(data, size, UNPACKED_MAX, &out);

	if (out.len > UNPACKED_MAX || (r && out.len))
		abort();
	if (!r)
		(void)symtab_load_elf_bytes(out.data, out.len, &tab, NULL);
	symtab_free(tab);
	buf_done(&out);
	return 0;
}
