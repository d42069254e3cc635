/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/line.h"

#include <dwarf.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/dwarf/leb.h"

enum {
	FORMATS_MAX = 255,
	PATHS_MAX = 1 << 20,
	TIMES_READ_MAX = 8,
	FREE_BYTES = 1 << 20,
	PATH_MAX_BYTES = 1 << 16,
	LNCT_LLVM_SOURCE = 0x2001 /* llvm/BinaryFormat/Dwarf.def */
};

struct format {
	uint64_t content; /* DW_LNCT_... */
	uint16_t form;
};

static unsigned int read_formats(struct cursor *c, struct format *formats)
{
	unsigned int nr = cursor_u8(c);

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t form;

		formats[i].content = leb_u(c);
		form = leb_u(c);
		formats[i].form = form < 0x10000 ? (uint16_t)form : 0xffff;
	}
	return nr;
}

static void dwarf_line_set_text(struct dwarf_path *path, const struct dwarf_value *v,
				const uint8_t *at)
{
	path->value = *v;
	if (v->kind == DWARF_VALUE_TEXT)
		path->text = (const char *)at;
}

/* Reads one directory or file, and the embedded source of a file. */
static void read_path5(const struct dwarf_unit *widths, struct cursor *c,
		       const struct format *formats, unsigned int nr_formats,
		       struct dwarf_path *path, struct dwarf_path *source)
{
	for (unsigned int k = 0; k < nr_formats; k++) {
		struct dwarf_attr attr = { .form = formats[k].form };
		const uint8_t *at = c->data + c->pos;
		struct dwarf_value v = dwarf_value_read(widths, c, 0, &attr);

		if (formats[k].content == DW_LNCT_path)
			dwarf_line_set_text(path, &v, at);
		else if (formats[k].content == DW_LNCT_directory_index)
			path->dir = v.v;
		else if (formats[k].content == LNCT_LLVM_SOURCE)
			dwarf_line_set_text(source, &v, at);
	}
}

/* Reads the directories or files of version 5, whose entries are described by a list of
 * formats. */
static int read_paths5(struct dwarf_program *p, struct cursor *c, bool files)
{
	struct format formats[FORMATS_MAX];
	struct dwarf_unit widths = *p->unit;
	unsigned int nr_formats = read_formats(c, formats);
	uint64_t nr = leb_u(c);

	widths.widths.off_bytes = p->off_bytes;
	widths.widths.addr_bytes = p->addr_bytes;
	if (c->failed || nr > PATHS_MAX || (nr && !nr_formats))
		return -EBADMSG;
	for (uint64_t i = 0; i < nr && !c->failed; i++) {
		struct dwarf_path path = { 0 };
		struct dwarf_path source = { 0 };

		read_path5(&widths, c, formats, nr_formats, &path, &source);
		if (c->failed)
			return -EBADMSG;
		if (files && source.value.kind != DWARF_VALUE_NONE &&
		    !vec_push(&p->embedded,
			      ((struct dwarf_embedded){ (uint32_t)i, source })))
			return -ENOMEM;
		if (files ? !vec_push(&p->files, path) : !vec_push(&p->dirs, path))
			return -ENOMEM;
	}
	return 0;
}

static const char *dwarf_line_take_text(struct cursor *c)
{
	const uint8_t *at = c->data + c->pos;
	const uint8_t *end = memchr(at, '\0', c->len - c->pos);

	if (c->failed || !end) {
		c->failed = true;
		return NULL;
	}
	c->pos += (size_t)(end - at) + 1;
	return (const char *)at;
}

static bool dwarf_line_take_file(struct dwarf_program *p, struct cursor *c,
				 const char *name)
{
	struct dwarf_path path = { .text = name, .dir = leb_u(c) };

	leb_u(c); /* time */
	leb_u(c); /* size */
	return p->files.nr < PATHS_MAX && vec_push(&p->files, path);
}

/* Reads the directories and files of versions 2 to 4. Adds entry 0 (the compilation directory,
 * or no file), so that numbers are indices in all versions. */
static int read_paths4(struct dwarf_program *p, struct cursor *c)
{
	struct dwarf_path path = { 0 };

	if (!vec_push(&p->dirs, path) || !vec_push(&p->files, path))
		return -ENOMEM;
	for (;;) {
		path.text = dwarf_line_take_text(c);
		if (c->failed)
			return -EBADMSG;
		if (!*path.text)
			break;
		if (p->dirs.nr >= PATHS_MAX)
			return -EBADMSG;
		if (!vec_push(&p->dirs, path))
			return -ENOMEM;
	}
	for (;;) {
		const char *name = dwarf_line_take_text(c);

		if (c->failed)
			return -EBADMSG;
		if (!*name)
			return 0;
		if (!dwarf_line_take_file(p, c, name))
			return -ENOMEM;
	}
}

/* Reads the header up to the directories. */
static int read_fixed(struct dwarf_program *p, struct cursor *c, uint64_t *ret_program)
{
	uint64_t length;

	p->version = (uint8_t)cursor_u16(c);
	if (p->version < 2 || p->version > 5)
		return -EOPNOTSUPP;
	p->addr_bytes = p->unit->widths.addr_bytes;
	if (p->version >= 5) {
		p->addr_bytes = cursor_u8(c);
		cursor_u8(c); /* segment selector size */
	}
	length = leb_word(c, p->off_bytes);
	if (c->failed || length > c->len - c->pos)
		return -EBADMSG;
	*ret_program = c->pos + length;
	p->min_inst = cursor_u8(c);
	p->max_ops = p->version >= 4 ? cursor_u8(c) : 1;
	cursor_u8(c); /* default_is_stmt */
	p->line_base = (int8_t)cursor_u8(c);
	p->line_range = cursor_u8(c);
	p->opcode_base = cursor_u8(c);
	for (unsigned int i = 1; i < p->opcode_base; i++)
		p->opcode_args[i] = cursor_u8(c);
	if (!p->max_ops)
		p->max_ops = 1;
	return c->failed ? -EBADMSG : 0;
}

/* Counts the bytes that are read, and returns whether they exceed a limit. A file in which very
 * many units share one program, or have overlapping programs, is hostile; its remaining units get
 * no lines. */
static bool is_too_much(struct dwarf_file *f, uint64_t length)
{
	uint64_t most = f->sections[DWARF_LINE].bytes * TIMES_READ_MAX + FREE_BYTES;

	return atomic_fetch_add(&f->line_bytes_read, length) + length > most;
}

/* Reads the bytes of the program, starting at its length field. */
static int dwarf_line_read_bytes(struct dwarf_program *p)
{
	const struct dwarf_unit *u = p->unit;
	struct dwarf_section *s = &u->info->file->sections[DWARF_LINE];
	struct dwarf_reader *rd = p->rd;
	size_t len;
	const uint8_t *at = dwarf_section_at(s, &rd->spare, u->line_off, &len);
	struct cursor c = cursor_of(at, at ? len : 0, u->info->file->elf.swap);
	uint64_t length;
	int r;

	if (!at)
		return -EBADMSG;
	length = cursor_u32(&c);
	p->off_bytes = 4;
	if (length == 0xffffffff) {
		length = cursor_u64(&c);
		p->off_bytes = 8;
	}
	if (c.failed || length > s->bytes)
		return -EBADMSG;
	length += c.pos;
	if (is_too_much(u->info->file, length))
		return -EBADMSG;
	r = dwarf_section_read(s, u->line_off, length, &rd->line_bytes, &rd->line_cap,
			       &at);
	if (r)
		return r;
	p->c = cursor_of(at, (size_t)length, u->info->file->elf.swap);
	p->c.pos = c.pos;
	return 0;
}

int dwarf_program_open(struct dwarf_program *p, const struct dwarf_unit *u,
		       struct dwarf_reader *rd)
{
	uint64_t program;
	int r;

	p->unit = u;
	p->rd = rd;
	p->dirs.nr = 0;
	p->files.nr = 0;
	p->embedded.nr = 0;
	if (!u->has_line)
		return -ENODATA;
	r = dwarf_line_read_bytes(p);
	if (!r)
		r = read_fixed(p, &p->c, &program);
	if (r)
		return r;
	if (p->version >= 5) {
		r = read_paths5(p, &p->c, false);
		if (!r)
			r = read_paths5(p, &p->c, true);
	} else {
		r = read_paths4(p, &p->c);
	}
	if (r)
		return r;
	p->c.pos = program;
	return 0;
}

void dwarf_program_done(struct dwarf_program *p)
{
	vec_done(&p->dirs);
	vec_done(&p->files);
	vec_done(&p->embedded);
}

static const char *path_text(const struct dwarf_program *p,
			     const struct dwarf_path *path)
{
	if (path->text)
		return path->text;
	return dwarf_value_text(p->unit, p->rd, path->value);
}

const char *dwarf_program_embedded(const struct dwarf_program *p, size_t i)
{
	return path_text(p, &p->embedded.at[i].text);
}

static void dwarf_line_put_part(struct buf *out, const char *text)
{
	size_t len = text ? strnlen(text, PATH_MAX_BYTES) : 0;

	if (!len)
		return;
	buf_put(out, text, len);
	buf_put_u8(out, '/');
}

int dwarf_program_path(struct dwarf_program *p, uint64_t file, struct buf *out)
{
	const struct dwarf_unit *u = p->unit;
	const struct dwarf_path *path;
	const char *name;
	const char *dir = NULL;

	if (file >= p->files.nr)
		return -ENOENT;
	path = &p->files.at[file];
	name = path_text(p, path);
	if (!name || !*name)
		return -ENOENT;
	if (*name != '/') {
		/* Only one text is valid at a time: append it before reading the next one. */
		struct buf rest = { 0 };

		if (path->dir && path->dir < p->dirs.nr)
			dir = path_text(p, &p->dirs.at[path->dir]);
		dwarf_line_put_part(&rest, dir);
		name = path_text(p, path);
		if (name)
			buf_put(&rest, name, strnlen(name, PATH_MAX_BYTES));
		if (rest.len && rest.data[0] != '/') {
			dir = dwarf_value_text(u, p->rd, u->comp_dir);
			if (!dir && p->version >= 5 && p->dirs.nr)
				dir = path_text(p, &p->dirs.at[0]);
			dwarf_line_put_part(out, dir);
		}
		buf_put(out, rest.data, rest.len);
		buf_done(&rest);
	} else {
		buf_put(out, name, strnlen(name, PATH_MAX_BYTES));
	}
	buf_put_u8(out, '\0');
	return 0;
}
