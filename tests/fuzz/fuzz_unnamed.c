/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_unnamed.c - any bytes as an ELF file whose code has no symbols: its sections, linkage
 * tables and .eh_frame_hdr. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/elf/file.h"
#include "resolve/symbolize/unnamed.h"
#include "resolve/symbols/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	LOOKED_AT_MAX = 64 * 1024
};

static void look(struct unnamed *u, uint64_t offset)
{
	enum unnamed_kind kind;
	const struct symbol *s = unnamed_find(u, offset, &kind);

	if (!s)
		return;
	if (!strlen(s->name) || s != unnamed_find(u, offset, &kind))
		abort();
	if (kind != UNNAMED_NAMED &&
	    (s->offset > offset || offset - s->offset >= s->size))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unnamed *u = NULL;
	struct symtab *tab = NULL;
	struct elf_file f;

	(void)symtab_load_elf_bytes(data, size, &tab, NULL);
	if (!tab || elf_file_init_bytes(&f, data, size, NULL)) {
		symtab_free(tab);
		return 0;
	}
	if (!unnamed_new(&f, tab, &u)) {
		(void)unnamed_read(u, &f, UNNAMED_READ_PLT);
		(void)unnamed_read(u, &f, UNNAMED_READ_UNWIND);
		for (uint64_t at = 0; at < size && at < LOOKED_AT_MAX; at += 5)
			look(u, at);
		look(u, UINT64_MAX);
	}
	unnamed_free(u);
	elf_file_done(&f);
	symtab_free(tab);
	return 0;
}
