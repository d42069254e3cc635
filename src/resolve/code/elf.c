/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf.c - code of linked ELF files: programs, libraries, the kernel, the vdso. */
#include <elf.h>
#include <errno.h>
#include <unistd.h>

#include "base/err.h"
#include "resolve/code/insn_marks.h"
#include "resolve/code/priv.h"
#include "resolve/symbols/plt.h"

static struct symtab *load_symbols(struct code *c, const char *symbols_path)
{
	struct symtab *tab = NULL;
	int fd;

	if (!symtab_load_elf_fd(c->fd, SYMTAB_FILE_OFFSETS, &tab, NULL) ||
	    !symbols_path)
		return tab;
	fd = elf_open_regular(symbols_path);
	if (fd < 0)
		return tab;
	symtab_free(tab);
	tab = NULL;
	if (symtab_load_elf_debug(c->fd, fd, SYMTAB_FILE_OFFSETS, &tab, NULL)) {
		symtab_free(tab);
		tab = NULL;
	}
	close(fd);
	return tab;
}

/* Loads the mapping symbols. If the binary is stripped, they are in the file with its symbols. */
static void load_marks(struct code *c, const char *symbols_path)
{
	int fd = symbols_path ? elf_open_regular(symbols_path) : -1;
	struct elf_file debug;
	bool has_debug = fd >= 0 && !elf_file_init_fd(&debug, fd, NULL);

	if (insn_marks_load(&c->elf, has_debug ? &debug : NULL, &c->marks))
		c->marks = NULL;
	if (has_debug)
		elf_file_done(&debug);
	if (fd >= 0)
		close(fd);
}

static int code_elf_open_elf(struct code *c, const struct code_where *where,
			     struct err *err)
{
	int r;

	c->fd = elf_open_regular(where->path);
	if (c->fd < 0)
		return err_sys(err, c->fd, "cannot open '%s'", where->path);
	r = code_open_elf(c, where->path, err);
	if (r)
		return r;
	c->tab = load_symbols(c, where->symbols_path);
	load_marks(c, where->symbols_path);
	if (plt_load(&c->elf, &c->plt))
		c->plt = NULL;
	return 0;
}

static const struct elf_segment *segment_at(const struct code *c, uint64_t vaddr)
{
	for (size_t i = 0; i < c->elf.segments.nr; i++) {
		const struct elf_segment *s = &c->elf.segments.at[i];

		if (s->type == PT_LOAD && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->file_bytes)
			return s;
	}
	return NULL;
}

static size_t read_elf(struct code *c, uint64_t address, uint8_t *ret_bytes, size_t len)
{
	uint64_t vaddr = address - c->shift;
	const struct elf_segment *s = segment_at(c, vaddr);
	uint64_t left = s ? s->file_bytes - (vaddr - s->vaddr) : 0;
	size_t most = left < len ? (size_t)left : len;

	if (!most ||
	    elf_file_read(&c->elf, s->offset + (vaddr - s->vaddr), ret_bytes, most))
		return 0;
	return most;
}

static const struct symbol *symbol_elf(const struct code *c, uint64_t address,
				       uint64_t *ret_start)
{
	uint64_t vaddr = address - c->shift;
	const struct elf_segment *s = segment_at(c, vaddr);
	const struct symbol *found = NULL;
	uint64_t offset;

	if (!s)
		return NULL;
	offset = s->offset + (vaddr - s->vaddr);
	if (c->tab)
		found = symtab_find(c->tab, offset);
	if (!found && c->plt)
		found = symtab_find(c->plt, offset);
	if (found)
		*ret_start = address - (offset - found->offset);
	return found;
}

static struct symtab *code_elf_load_data(const struct code *c)
{
	int debug_fd = c->symbols_path ? elf_open_regular(c->symbols_path) : -1;
	struct symtab *tab = NULL;

	if (symtab_load_elf_data(c->fd, debug_fd, &tab, NULL)) {
		symtab_free(tab);
		tab = NULL;
	}
	if (debug_fd >= 0)
		close(debug_fd);
	return tab;
}

/* Finds a variable. The positions of .bss follow those of the file's content. */
static const struct symbol *data_symbol_elf(struct code *c, uint64_t address,
					    uint64_t *ret_start)
{
	uint64_t vaddr = address - c->shift;

	if (!c->data_tried)
		c->data = code_elf_load_data(c);
	c->data_tried = true;
	for (size_t i = 0; c->data && i < c->elf.segments.nr; i++) {
		const struct elf_segment *s = &c->elf.segments.at[i];
		const struct symbol *found;
		uint64_t offset;

		if (s->type != PT_LOAD || vaddr < s->vaddr ||
		    vaddr - s->vaddr >= s->mem_bytes)
			continue;
		offset = s->offset + (vaddr - s->vaddr);
		found = symtab_find(c->data, offset);
		if (found)
			*ret_start = address - (offset - found->offset);
		return found;
	}
	return NULL;
}

static const char *section_elf(struct code *c, uint64_t address)
{
	uint64_t vaddr = address - c->shift;

	for (size_t i = 0; i < c->elf.sections.nr; i++) {
		const struct elf_section *s = &c->elf.sections.at[i];

		if (s->flags & SHF_ALLOC && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->bytes)
			return elf_file_section_name(&c->elf, s);
	}
	return "";
}

static bool code_elf_line_address(struct code *c, uint64_t address,
				  uint64_t *ret_address)
{
	*ret_address = address - c->shift;
	return true;
}

const struct code_kind code_elf = {
	.begin = code_elf_open_elf,
	.read = read_elf,
	.symbol = symbol_elf,
	.data_symbol = data_symbol_elf,
	.section = section_elf,
	.line_address = code_elf_line_address,
};
