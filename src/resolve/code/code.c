/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/code/code.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "resolve/code/insn.h"
#include "resolve/code/insn_marks.h"
#include "resolve/code/priv.h"
#include "resolve/lines/jit_lines.h"

static bool code_is_big(const struct elf_file *f)
{
	return f->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

int code_open_elf(struct code *c, const char *path, struct err *err)
{
	struct insn_machine machine;
	int r = elf_file_init_fd(&c->elf, c->fd, err);

	if (r)
		return r;
	c->has_elf = true;
	r = elf_file_sections(&c->elf, err);
	if (r)
		return r;
	machine = (struct insn_machine){ c->elf.machine, c->elf.is64,
					 code_is_big(&c->elf) };
	r = insn_open(&machine, &c->decoder);
	return r ? err_set(err, r, "'%s': no disassembler is available for machine %u",
			   path, c->elf.machine)
		 : 0;
}

static char *code_copy(const char *path)
{
	return path && *path ? strdup(path) : NULL;
}

int code_open(const struct code_where *where, struct code **ret_code, struct err *err)
{
	struct code *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(err, -ENOMEM, "out of memory");
	c->fd = -1;
	c->debug_fd = -1;
	c->shift = where->shift;
	c->options = where->lines;
	c->path = code_copy(where->path);
	c->debug_path = code_copy(where->debug_path);
	c->symbols_path = code_copy(where->symbols_path);
	c->kind = where->bytes         ? &code_bytes_kind
		  : where->is_jitdump  ? &code_jit
		  : where->nr_sections ? &code_module
				       : &code_elf;
	r = c->kind->begin(c, where, err);
	if (r)
		code_close(c);
	else
		*ret_code = c;
	return r;
}

void code_close(struct code *c)
{
	if (!c)
		return;
	lines_free(c->lines);
	insn_close(c->decoder);
	insn_marks_free(c->marks);
	symtab_free(c->tab);
	symtab_free(c->plt);
	symtab_free(c->data);
	vec_done(&c->sections);
	vec_done(&c->relocs);
	jit_lines_free(c->jit_lines);
	if (c->has_dump) {
		jitdump_done(&c->dump);
		mapped_release(&c->dump_bytes);
	}
	if (c->has_elf)
		elf_file_done(&c->elf);
	if (c->fd >= 0)
		close(c->fd);
	if (c->debug_fd >= 0)
		close(c->debug_fd);
	free(c->symbols_path);
	free(c->strings);
	free(c->bytes);
	free(c->meant);
	free(c->path);
	free(c->debug_path);
	free(c);
}

void code_mean(struct code *c, const char *function)
{
	if (c->kind == &code_bytes_kind && !c->tab &&
	    symtab_of_one(function, c->nr_bytes, c->start, &c->tab))
		c->tab = NULL;
	if (c->kind != &code_jit || (c->meant && !strcmp(c->meant, function)))
		return;
	free(c->meant);
	c->meant = strdup(function);
	c->window_len = 0;
}

/* ---- bytes ---- */

/* Reads the code at an address into the window, at least one instruction if there is one.
 * Returns the offset of the address in the window. */
static size_t code_window_at(struct code *c, uint64_t address)
{
	uint64_t at = address - c->window_at;

	if (at < c->window_len && c->window_len - at >= INSN_BYTES_MAX)
		return (size_t)at;
	c->window_at = address;
	c->window_len = c->kind->read(c, address, c->window, sizeof(c->window));
	return 0;
}

size_t code_bytes(struct code *c, uint64_t address, uint8_t *ret_bytes, size_t len)
{
	size_t at = code_window_at(c, address);
	size_t most = c->window_len - at < len ? c->window_len - at : len;

	memcpy(ret_bytes, c->window + at, most);
	return most;
}

int code_insn(struct code *c, uint64_t address, struct insn *ret_insn)
{
	uint64_t vaddr = address - c->shift;
	size_t at = code_window_at(c, address);
	size_t len = c->window_len - at;
	enum insn_mode mode;
	uint64_t end;

	if (!c->window_len)
		return -ENODATA;
	mode = insn_marks_at(c->marks, vaddr, &end);
	if (end - vaddr < len)
		len = (size_t)(end - vaddr);
	insn_decode(c->decoder, mode, c->window + at, len, address, ret_insn);
	return 0;
}

/* ---- names ---- */

const struct symbol *code_symbol(const struct code *c, uint64_t address,
				 uint64_t *ret_start)
{
	return c->kind->symbol(c, address, ret_start);
}

const struct symbol *code_data_symbol(struct code *c, uint64_t address,
				      uint64_t *ret_start)
{
	const struct symbol *found = code_symbol(c, address, ret_start);

	return found || !c->kind->data_symbol
		       ? found
		       : c->kind->data_symbol(c, address, ret_start);
}

const char *code_reference(const struct code *c, uint64_t address, uint64_t end)
{
	size_t at = code_relocs_from(c, address);

	return at < c->relocs.nr && c->relocs.at[at].address < end
		       ? c->relocs.at[at].name
		       : NULL;
}

const char *code_section(struct code *c, uint64_t address)
{
	return c->kind->section(c, address);
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

	if (c->kind == &code_jit)
		return "jitdump";
	if (c->kind == &code_bytes_kind)
		return "binary";
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (rows[i].machine == c->elf.machine && rows[i].is64 == c->elf.is64 &&
		    rows[i].big == code_is_big(&c->elf))
			return rows[i].name;
	return "elf";
}

const char *code_engine(const struct code *c)
{
	return insn_engine_name(c->decoder);
}

/* ---- lines ---- */

struct lines *code_lines(struct code *c)
{
	struct lines_file file = { .fd = c->fd, .path = c->path, .debug_fd = -1 };

	if (c->lines_tried || !c->options || c->fd < 0)
		return c->lines;
	c->lines_tried = true;
	if (c->debug_path)
		c->debug_fd = elf_open_regular(c->debug_path);
	else if (lines_debug_file(c->fd, c->path, &c->debug_fd, &c->debug_path))
		c->debug_fd = -1;
	file.debug_fd = c->debug_fd;
	file.debug_path = c->debug_path;
	if (lines_open(c->options, &file, &c->lines, NULL))
		c->lines = NULL;
	return c->lines;
}

void code_prepare_lines(struct code *c, uint64_t *addresses, size_t nr)
{
	struct lines *lines = c->kind->line_address ? code_lines(c) : NULL;
	size_t kept = 0;

	if (!lines)
		return;
	for (size_t i = 0; i < nr; i++)
		kept += c->kind->line_address(c, addresses[i], &addresses[kept]);
	lines_prepare(lines, addresses, kept);
}

int code_embedded(struct code *c, const char *path, struct buf *out)
{
	struct lines *lines = c->kind->line_address ? code_lines(c) : NULL;

	return lines ? lines_embedded(lines, path, out) : -ENOENT;
}

size_t code_frames(struct code *c, uint64_t address, struct line_frame *ret_frames,
		   size_t max)
{
	struct lines *lines = c->kind->line_address ? code_lines(c) : NULL;
	uint64_t at;

	if (c->kind == &code_jit)
		return max ? code_jit_frames(c, address, ret_frames) : 0;
	if (!lines || !c->kind->line_address(c, address, &at))
		return 0;
	return lines_find(lines, at, ret_frames, max);
}
