/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module.c - code of kernel modules: files that are not linked, and whose sections the kernel
 * placed. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "resolve/code/priv.h"
#include "resolve/elf/unpacked.h"

static int copy_places(struct code *c, const struct code_where *where)
{
	for (size_t i = 0; i < where->nr_sections; i++) {
		const struct elf_section *s =
			elf_file_find_section(&c->elf, where->sections[i].section);
		struct section_address loaded = where->sections[i];

		if (!s || !(s->flags & SHF_ALLOC))
			continue;
		/* Take the section's name from c->elf, which lives as long as c->sections; the
		 * name in `where` might not. */
		loaded.section = elf_file_section_name(&c->elf, s);
		if (!vec_push(&c->sections, loaded))
			return -ENOMEM;
	}
	return 0;
}

static int code_module_open_module(struct code *c, const struct code_where *where,
				   struct err *err)
{
	int r;

	c->fd = unpacked_open(where->path);
	if (c->fd < 0)
		return err_sys(err, c->fd, "cannot open '%s'", where->path);
	r = code_open_elf(c, where->path, err);
	if (r)
		return r;
	if (copy_places(c, where))
		return err_set(err, -ENOMEM, "out of memory");
	if (symtab_load_module_fd(c->fd, c->sections.at, c->sections.nr, 0, &c->tab,
				  NULL))
		c->tab = NULL;
	r = code_relocs_read(c);
	return r ? err_set(err, r, "out of memory") : 0;
}

/* Returns the section that contains `address`, and the offset in it; NULL if none does. */
static const struct elf_section *
code_module_section_at(struct code *c, uint64_t address, uint64_t *ret_offset)
{
	for (size_t i = 0; i < c->sections.nr; i++) {
		const struct section_address *loaded = &c->sections.at[i];
		const struct elf_section *s =
			elf_file_find_section(&c->elf, loaded->section);

		if (!s || address < loaded->address ||
		    address - loaded->address >= s->bytes)
			continue;
		*ret_offset = address - loaded->address;
		return s;
	}
	return NULL;
}

static size_t read_module(struct code *c, uint64_t address, uint8_t *ret_bytes,
			  size_t len)
{
	uint64_t offset;
	const struct elf_section *s = code_module_section_at(c, address, &offset);
	size_t most;

	if (!s || s->type == SHT_NOBITS)
		return 0;
	most = s->bytes - offset < len ? (size_t)(s->bytes - offset) : len;
	if (elf_file_read(&c->elf, s->offset + offset, ret_bytes, most))
		return 0;
	code_relocs_apply(c, address, ret_bytes, most);
	return most;
}

static const struct symbol *symbol_module(const struct code *c, uint64_t address,
					  uint64_t *ret_start)
{
	const struct symbol *found = c->tab ? symtab_find(c->tab, address) : NULL;

	if (found)
		*ret_start = found->offset;
	return found;
}

static const char *section_module(struct code *c, uint64_t address)
{
	uint64_t offset;
	const struct elf_section *s = code_module_section_at(c, address, &offset);

	return s ? elf_file_section_name(&c->elf, s) : "";
}

static bool code_module_line_address(struct code *c, uint64_t address,
				     uint64_t *ret_address)
{
	struct lines *lines = code_lines(c);
	uint64_t offset;
	const struct elf_section *s = code_module_section_at(c, address, &offset);

	return lines && s &&
	       !lines_position(lines, elf_file_section_name(&c->elf, s), offset,
			       ret_address);
}

const struct code_kind code_module = {
	.begin = code_module_open_module,
	.read = read_module,
	.symbol = symbol_module,
	.section = section_module,
	.line_address = code_module_line_address,
};
