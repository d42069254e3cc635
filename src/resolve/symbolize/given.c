/* SPDX-License-Identifier: GPL-2.0-or-later */
/* given.c - symbolizes with symbol tables in the recording itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/symbolize/priv.h"
#include "resolve/symbols/symtab.h"

/* Returns whether a symbol table is for an image. simpleperf identifies a module by its path, an
 * image by its name. */
static bool naming_given_is_file_of(const struct naming *n,
				    const struct perf_input_symbol_file *f,
				    const struct image *image)
{
	const char *name = dict_str(n->dict, image->name);
	const char *slash = strrchr(f->path, '/');
	size_t len = strlen(name);

	if (!strcmp(f->path, name))
		return true;
	return image->kind == IMAGE_MODULE && slash && !strncmp(slash + 1, name, len) &&
	       !strncmp(slash + 1 + len, ".ko", 3);
}

/* Converts an address of the table to an offset. It is a kernel address, or a link-time address
 * of the ELF file. */
static uint64_t naming_given_offset_of(const struct perf_input_symbol_file *f,
				       const struct image *image, uint64_t vaddr)
{
	if (image->kind == IMAGE_KERNEL)
		return vaddr - image->start;
	return vaddr - f->min_vaddr + f->min_vaddr_offset;
}

static int naming_given_make_table(const struct perf_input_symbol_file *f,
				   const struct image *image, struct symtab **ret_tab)
{
	struct symtab_given *given = calloc(f->symbols.nr + 1, sizeof(*given));
	int r;

	if (!given)
		return -ENOMEM;
	for (size_t i = 0; i < f->symbols.nr; i++) {
		const struct perf_input_symbol *s = &f->symbols.at[i];

		given[i] = (struct symtab_given){
			.offset = naming_given_offset_of(f, image, s->vaddr),
			.size = s->len,
			.vaddr = s->vaddr,
			.name = s->name,
		};
	}
	r = symtab_of_given(given, f->symbols.nr, 0, ret_tab);
	free(given);
	return r;
}

int naming_given(struct naming *n, const struct image *image, struct naming_entry *e)
{
	for (size_t i = 0; i < n->nr_symbol_files; i++) {
		const struct perf_input_symbol_file *f = &n->symbol_files[i];
		int r;

		if (!f->symbols.nr || !naming_given_is_file_of(n, f, image))
			continue;
		r = naming_given_make_table(f, image, &e->tab);
		if (r == -ENOMEM)
			return r;
		if (!r) {
			e->status = NAMING_OK;
			naming_set_from(e, "the recording");
			return 0;
		}
	}
	return 0;
}
