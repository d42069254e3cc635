#include "resolve/code.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "resolve/elf_file.h"
#include "resolve/insn.h"
#include "resolve/insn_marks.h"
#include "resolve/plt.h"

enum {
	WINDOW = 4096 /* bytes that are read at once */
};

struct code {
	int fd;
	bool has_elf;
	struct elf_file elf;
	struct symtab *tab;
	struct symtab *plt;
	struct insn_decoder *decoder;
	struct insn_marks *marks; /* NULL: all is code */
	uint64_t shift;
	uint8_t window[WINDOW];
	uint64_t window_at; /* link-time address of its first byte */
	size_t window_len;
};

static bool is_big(const struct elf_file *f)
{
	return f->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

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
	if (symtab_load_elf_debug(c->fd, fd, &tab, NULL)) {
		symtab_free(tab);
		tab = NULL;
	}
	close(fd);
	return tab;
}

/* Stripped binaries leave their marks to the file that has their symbols. */
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

static int open_file(struct code *c, const char *path, struct err *err)
{
	struct insn_machine machine;
	int r;

	c->fd = elf_open_regular(path);
	if (c->fd < 0)
		return err_sys(err, c->fd, "%s", path);
	r = elf_file_init_fd(&c->elf, c->fd, err);
	if (r)
		return r;
	c->has_elf = true;
	r = elf_file_sections(&c->elf, err);
	if (r)
		return r;
	machine = (struct insn_machine){ c->elf.machine, c->elf.is64, is_big(&c->elf) };
	r = insn_open(&machine, &c->decoder);
	return r ? err_set(err, r, "%s: code of machine %u cannot be disassembled here",
			   path, c->elf.machine)
		 : 0;
}

int code_open(const char *path, const char *symbols_path, uint64_t shift,
	      struct code **ret_code, struct err *err)
{
	struct code *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(err, -ENOMEM, "out of memory");
	c->fd = -1;
	c->shift = shift;
	r = open_file(c, path, err);
	if (r) {
		code_close(c);
		return r;
	}
	c->tab = load_symbols(c, symbols_path);
	load_marks(c, symbols_path);
	if (plt_load(&c->elf, &c->plt))
		c->plt = NULL;
	*ret_code = c;
	return 0;
}

void code_close(struct code *c)
{
	if (!c)
		return;
	insn_close(c->decoder);
	insn_marks_free(c->marks);
	symtab_free(c->tab);
	symtab_free(c->plt);
	if (c->has_elf)
		elf_file_done(&c->elf);
	if (c->fd >= 0)
		close(c->fd);
	free(c);
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

static int read_window(struct code *c, uint64_t vaddr)
{
	const struct elf_segment *s = segment_at(c, vaddr);
	uint64_t left = s ? s->file_bytes - (vaddr - s->vaddr) : 0;
	size_t len = left < WINDOW ? (size_t)left : WINDOW;

	c->window_len = 0;
	if (!len ||
	    elf_file_read(&c->elf, s->offset + (vaddr - s->vaddr), c->window, len))
		return -ENODATA;
	c->window_at = vaddr;
	c->window_len = len;
	return 0;
}

int code_insn(struct code *c, uint64_t address, struct insn *ret_insn)
{
	uint64_t vaddr = address - c->shift;
	uint64_t at = vaddr - c->window_at;
	enum insn_mode mode;
	uint64_t end;
	size_t len;

	/* Read on while a whole instruction may not be there. */
	if (at >= c->window_len || c->window_len - at < INSN_BYTES_MAX) {
		if (read_window(c, vaddr))
			return -ENODATA;
		at = 0;
	}
	mode = insn_marks_at(c->marks, vaddr, &end);
	len = c->window_len - at;
	if (end - vaddr < len)
		len = (size_t)(end - vaddr);
	insn_decode(c->decoder, mode, c->window + at, len, address, ret_insn);
	return 0;
}

const struct symbol *code_symbol(const struct code *c, uint64_t address,
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

const char *code_section(struct code *c, uint64_t address)
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

const char *code_format(const struct code *c)
{
	static const struct {
		uint16_t machine;
		bool is64;
		bool big;
		const char *name;
	} rows[] = {
		{ EM_X86_64, true, false, "elf64-x86-64" },
		{ EM_X86_64, false, false, "elf32-x86-64" },
		{ EM_386, false, false, "elf32-i386" },
		{ EM_AARCH64, true, false, "elf64-littleaarch64" },
		{ EM_ARM, false, false, "elf32-littlearm" },
		{ EM_S390, true, true, "elf64-s390" },
		{ EM_PPC64, true, false, "elf64-powerpcle" },
		{ EM_PPC64, true, true, "elf64-powerpc" },
		{ EM_RISCV, true, false, "elf64-littleriscv" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].machine == c->elf.machine && rows[i].is64 == c->elf.is64 &&
		    rows[i].big == is_big(&c->elf))
			return rows[i].name;
	return "elf";
}

const char *code_engine(const struct code *c)
{
	return insn_engine_name(c->decoder);
}
