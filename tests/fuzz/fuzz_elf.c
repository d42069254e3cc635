/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_elf.c - any bytes as an ELF file: its build-id, segments, symbols, and mapping symbols
 * of code. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/code/insn_marks.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"
#include "resolve/symbols/demangle.h"
#include "resolve/symbols/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	LOOKED_AT_MAX = 2000
};

/* Checks what every table guarantees for any input. */
static void check(const struct symtab *tab)
{
	size_t nr = symtab_count(tab);

	for (size_t i = 0; i < nr && i < LOOKED_AT_MAX; i++) {
		const struct symbol *s = symtab_at(tab, i);
		const struct symbol *found = symtab_find(tab, s->offset);

		if (s->size && found != s)
			abort();
		if (i && s->offset <= symtab_at(tab, i - 1)->offset)
			abort();
		if (!strlen(s->name))
			abort();
		free(demangle(s->name));
		(void)symtab_vaddr(tab, s->offset);
		found = symtab_find(tab, s->offset + s->size);
		if (found && found->offset > s->offset + s->size)
			abort();
	}
}

/* Checks that each range of code ends after the requested address. */
static void check_marks(const uint8_t *data, size_t size)
{
	struct insn_marks *marks = NULL;
	struct elf_file f;
	uint64_t at = 0, end;

	if (elf_file_init_bytes(&f, data, size, NULL))
		return;
	(void)insn_marks_load(&f, NULL, &marks);
	for (int i = 0; i < LOOKED_AT_MAX && at != UINT64_MAX; i++, at = end) {
		(void)insn_marks_at(marks, at, &end);
		if (end <= at)
			abort();
	}
	insn_marks_free(marks);
	elf_file_done(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char hex[2 * BUILD_ID_MAX + 1];
	struct symtab *tab = NULL;
	struct build_id id;

	if (elf_build_id_bytes(data, size, &id) == 0)
		build_id_to_hex(&id, hex);
	(void)notes_build_id(data, size, &id);
	(void)symtab_load_elf_bytes(data, size, &tab, NULL);
	if (tab)
		check(tab);
	symtab_free(tab);
	check_marks(data, size);
	return 0;
}
