/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_kallsyms.c - any bytes as the text of /proc/kallsyms: sections and symbols. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/symbols/kallsyms.h"
#include "resolve/symbols/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(const char *text, size_t len, const char *module, uint64_t start)
{
	static const struct section_address sections[] = {
		{ ".text", 0xffffffffc0000000 }, { ".data", 0xffffffffc0001000 }
	};
	const struct symtab_kallsyms from = { text,  len,      module,
					      start, sections, module ? 2 : 0 };
	struct symtab *tab = NULL;

	(void)symtab_load_kallsyms(&from, &tab, NULL);
	for (size_t i = 0; tab && i < symtab_count(tab); i++) {
		const struct symbol *s = symtab_at(tab, i);

		if (!*s->name || (s->size && symtab_find(tab, s->offset) != s))
			abort();
		if (s->vaddr.v != symtab_vaddr(tab, s->offset).v)
			abort();
	}
	symtab_free(tab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct kallsyms_index index;
	size_t covered = 0;

	load(text, size, NULL, 0);
	load(text, size, NULL, 0xffffffff81000000);
	load(text, size, "ext4", 0xffffffffc0000000);
	if (kallsyms_index(&index, text, size))
		abort();
	for (size_t i = 0; i < index.parts.nr; i++) {
		const struct kallsyms_part *p = &index.parts.at[i];

		if (p->begin != covered || p->end <= p->begin)
			abort();
		covered = p->end;
		load(text + p->begin, p->end - p->begin, NULL, 1);
	}
	if (covered != size)
		abort();
	(void)kallsyms_part(&index, "ext4");
	kallsyms_index_done(&index);
	return 0;
}
