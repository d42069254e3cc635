/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_pe.c - any bytes as a PE file: sections, symbols and functions. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/elf/file.h"
#include "resolve/symbols/symtab.h"
#include "resolve/unwind/eh_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads all section names, and aborts if the functions are not sorted by start or one is empty. */
static void check(struct elf_file *f)
{
	struct eh_frame functions;

	for (size_t i = 0; i < f->sections.nr; i++)
		(void)strlen(elf_file_section_name(f, &f->sections.at[i]));
	if (eh_frame_load(f, &functions))
		return;
	for (size_t i = 0; i < functions.functions.nr; i++) {
		const struct eh_function *fn = &functions.functions.at[i];

		if (!fn->bytes || (i && fn->start < fn[-1].start))
			abort();
	}
	eh_frame_done(&functions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symtab *tab = NULL;
	struct elf_file f;

	if (elf_file_init_bytes(&f, data, size, NULL))
		return 0;
	if (f.is_pe)
		check(&f);
	elf_file_done(&f);
	(void)symtab_load_elf_bytes(data, size, &tab, NULL);
	for (size_t i = 0; tab && i < symtab_count(tab); i++)
		if (!strlen(symtab_at(tab, i)->name))
			abort();
	symtab_free(tab);
	return 0;
}
