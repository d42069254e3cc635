/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/export/bolt_names.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/vec.h"
#include "base/err.h"
#include "resolve/elf/file.h"

enum {
	SYMBOLS_MAX = 1 << 30 /* bytes of a table */
};

struct bolt_names_local {
	uint64_t vaddr;
	uint32_t name;
};

struct bolt_names_reading {
	struct bolt_names *n;
	VEC(struct bolt_names_local) locals;
	struct map nr_by; /* name -> number of local functions with this name so far */
};

static int bolt_names_compare_locals(const void *va, const void *vb)
{
	const struct bolt_names_local *a = va;
	const struct bolt_names_local *b = vb;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static int take_symbols(struct bolt_names_reading *g, const uint8_t *symbols,
			uint64_t bytes, const char *strings, uint64_t string_bytes)
{
	for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= bytes;
	     at += sizeof(Elf64_Sym)) {
		struct bolt_names_local local;
		Elf64_Sym s;

		memcpy(&s, symbols + at, sizeof(s));
		if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || !s.st_shndx ||
		    ELF64_ST_BIND(s.st_info) != STB_LOCAL || s.st_name >= string_bytes)
			continue;
		local.vaddr = s.st_value;
		local.name = strtab_add(&g->n->names, strings + s.st_name);
		if (local.name == STRTAB_FAILED || !vec_push(&g->locals, local))
			return -ENOMEM;
	}
	return 0;
}

static int number_them(struct bolt_names_reading *g)
{
	if (g->locals.nr)
		qsort(g->locals.at, g->locals.nr, sizeof(*g->locals.at),
		      bolt_names_compare_locals);
	for (size_t i = 0; i < g->locals.nr; i++) {
		const struct bolt_names_local *l = &g->locals.at[i];
		uint32_t nr = map_get(&g->nr_by, l->name, 0);
		char *text;
		uint32_t name;

		nr = nr == MAP_NONE ? 1 : nr + 1;
		if (asprintf(&text, "%s/%u", strtab_get(&g->n->names, l->name), nr) < 0)
			return -ENOMEM;
		name = strtab_add(&g->n->names, text);
		free(text);
		if (name == STRTAB_FAILED || map_set(&g->nr_by, l->name, 0, nr) ||
		    map_set(&g->n->local_by, l->vaddr, 0, name))
			return -ENOMEM;
	}
	return 0;
}

static int bolt_names_read_tables(struct bolt_names_reading *g, struct elf_file *f)
{
	const struct elf_section *symbols = elf_file_find_section(f, ".symtab");
	const struct elf_section *strings;
	uint8_t *table = NULL, *text = NULL;
	int r;

	if (!symbols || symbols->link >= f->sections.nr)
		return 0;
	strings = &f->sections.at[symbols->link];
	r = elf_file_section_bytes(f, symbols, SYMBOLS_MAX, &table);
	if (!r)
		r = elf_file_section_bytes(f, strings, SYMBOLS_MAX, &text);
	if (!r)
		r = take_symbols(g, table, symbols->bytes, (const char *)text,
				 strings->bytes);
	free(table);
	free(text);
	return r;
}

static int read_file(struct bolt_names_reading *g, struct elf_file *f, const char *path,
		     struct err *err)
{
	int r;

	if (!f->is64 || f->swap ||
	    (f->machine != EM_X86_64 && f->machine != EM_AARCH64))
		return err_set(err, -ENOTSUP,
			       "'%s': BOLT supports only x86-64 and AArch64", path);
	r = elf_file_sections(f, err);
	if (!r)
		r = bolt_names_read_tables(g, f);
	if (!r)
		r = number_them(g);
	return r ? err_sys(err, r, "cannot read the symbols of '%s'", path) : 0;
}

int bolt_names_read(struct bolt_names *n, const char *path, struct err *err)
{
	struct bolt_names_reading g = { .n = n };
	struct elf_file f;
	int fd = elf_open_regular(path);
	int r = fd < 0 ? err_sys(err, fd, "cannot open '%s'", path) : 0;

	*n = (struct bolt_names){ 0 };
	if (r)
		return r;
	r = strtab_init(&n->names);
	if (!r)
		r = elf_file_init_fd(&f, fd, err);
	if (!r) {
		r = read_file(&g, &f, path, err);
		elf_file_done(&f);
	}
	vec_done(&g.locals);
	map_done(&g.nr_by);
	close(fd);
	return r;
}

void bolt_names_done(struct bolt_names *n)
{
	strtab_done(&n->names);
	map_done(&n->local_by);
}

const char *bolt_names_find(const struct bolt_names *n, uint64_t vaddr,
			    const char *name)
{
	uint32_t local = map_get(&n->local_by, vaddr, 0);

	return local == MAP_NONE ? name : strtab_get(&n->names, local);
}
