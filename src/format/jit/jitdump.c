/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/jit/jitdump.h"

#include <errno.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/err.h"

enum {
	MAGIC = 0x4A695444, /* "JiTD" */
	MAGIC_SWAPPED = 0x4454694A,
	MAGIC_OPROFILE = 0x4F74496A,
	MAGIC_OPROFILE_SWAPPED = 0x6A49744F,
	VERSION = 1,
	RECORD_BYTES = 16, /* id, size, time */
	FLAG_ARCH_CLOCK = 1,
	BY_INDEX = 0,
	BY_ADDRESS = 1
};

/* A file name with this value means: the same file as in the previous line. */
static const char same_file[] = "\xff";

struct jitdump_reading {
	struct jitdump *dump;
	const uint8_t *bytes;
	uint32_t at; /* offset of the current record */
	uint32_t size;
	uint64_t time_ns;
	/* offset of the line record for the next code, and then that of its unwinding record */
	uint32_t lines;
	uint32_t unwind;
};

typedef int (*record_fn)(struct jitdump_reading *r, struct cursor *c);

/* ---- code ---- */

static int jitdump_add_event(struct jitdump_reading *r, uint64_t start, uint64_t size,
			     uint32_t code)
{
	struct jitdump_event event = { r->time_ns, start, start + size, code };

	return vec_push(&r->dump->events, event) ? 0 : -ENOMEM;
}

/* Reads a name, which must end with a NUL inside the record. Returns false if the NUL is missing.
 */
static bool jitdump_take_name(const struct jitdump_reading *r, struct cursor *c,
			      struct jitdump_code *code)
{
	const uint8_t *name = c->data + c->pos;
	const uint8_t *end = c->failed ? NULL : memchr(name, 0, cursor_left(c));

	if (!end)
		return false;
	code->name = (uint32_t)(name - r->bytes);
	code->name_len = end - name < JITDUMP_NAME_MAX ? (uint32_t)(end - name)
						       : JITDUMP_NAME_MAX;
	return cursor_take(c, (size_t)(end - name) + 1);
}

static int jitdump_add_code(struct jitdump_reading *r, struct jitdump_code *code,
			    uint64_t index, const struct cursor *after_name)
{
	struct jitdump *d = r->dump;
	uint32_t number = (uint32_t)d->codes.nr;

	/* The code is at the end of the record. But OProfile's records have further bytes after
	 * the code. */
	if (code->size <= cursor_left(after_name)) {
		code->offset =
			d->oprofile ? after_name->pos : r->at + r->size - code->size;
	} else {
		code->offset = JITDUMP_NO_BYTES + d->no_bytes;
		d->no_bytes += code->size;
	}
	code->lines = r->lines;
	code->unwind = r->unwind;
	r->lines = 0;
	r->unwind = 0;
	if (number + 1 == JITDUMP_NO_CODE || !vec_push(&d->codes, *code) ||
	    map_set(&d->by_index, index, BY_INDEX, number) ||
	    map_set(&d->by_index, code->address, BY_ADDRESS, number))
		return -ENOMEM;
	return jitdump_add_event(r, code->address, code->size, number);
}

static bool is_range(uint64_t start, uint64_t size)
{
	return size < JITDUMP_NO_BYTES && start <= UINT64_MAX - size;
}

static int read_load(struct jitdump_reading *r, struct cursor *c)
{
	struct jitdump_code code = { 0 };
	uint64_t index;

	cursor_take(c, 16); /* pid, tid, vma */
	code.address = cursor_u64(c);
	code.size = cursor_u64(c);
	index = cursor_u64(c);
	if (!jitdump_take_name(r, c, &code) || !is_range(code.address, code.size) ||
	    r->dump->no_bytes + code.size >= JITDUMP_NO_BYTES)
		return -EBADMSG;
	return code.size ? jitdump_add_code(r, &code, index, c) : 0;
}

static int read_move(struct jitdump_reading *r, struct cursor *c)
{
	struct jitdump *d = r->dump;
	uint64_t from, to, size;
	uint32_t code;

	cursor_take(c, 16); /* pid, tid, vma */
	from = cursor_u64(c);
	to = cursor_u64(c);
	size = cursor_u64(c);
	code = map_get(&d->by_index, cursor_u64(c), BY_INDEX);
	if (code == MAP_NONE)
		code = map_get(&d->by_index, from, BY_ADDRESS);
	if (c->failed || code == MAP_NONE || size != d->codes.at[code].size ||
	    !is_range(to, size))
		return -EBADMSG;
	if (map_set(&d->by_index, to, BY_ADDRESS, code))
		return -ENOMEM;
	/* Keep the old address until other code is loaded there, because the code can still run at
	 * it. */
	return jitdump_add_event(r, to, size, code);
}

static int read_unload(struct jitdump_reading *r, struct cursor *c)
{
	uint64_t address = cursor_u64(c);
	uint32_t code = map_get(&r->dump->by_index, address, BY_ADDRESS);

	if (c->failed || code == MAP_NONE)
		return -EBADMSG;
	return jitdump_add_event(r, address, r->dump->codes.at[code].size,
				 JITDUMP_NO_CODE);
}

static int read_lines_of_loaded(struct jitdump_reading *r, struct cursor *c)
{
	uint32_t code = map_get(&r->dump->by_index, cursor_u64(c), BY_ADDRESS);

	if (c->failed || code == MAP_NONE)
		return -EBADMSG;
	r->dump->codes.at[code].lines = r->at;
	return 0;
}

/* ---- records that precede the code they describe ---- */

static int jitdump_read_lines(struct jitdump_reading *r, struct cursor *c)
{
	(void)c;
	r->lines = r->at;
	return 0;
}

static int read_unwind(struct jitdump_reading *r, struct cursor *c)
{
	(void)c;
	r->unwind = r->at;
	return 0;
}

static int read_close(struct jitdump_reading *r, struct cursor *c)
{
	(void)c;
	r->dump->closed = true;
	return 0;
}

/* ---- OProfile's records ---- */

static int read_op_load(struct jitdump_reading *r, struct cursor *c)
{
	struct jitdump_code code = { .address = cursor_u64(c) };

	cursor_u64(c); /* address of the bytes when they were written */
	code.size = cursor_u32(c);
	cursor_u32(c); /* alignment */
	if (!jitdump_take_name(r, c, &code) || !is_range(code.address, code.size))
		return -EBADMSG;
	return code.size ? jitdump_add_code(r, &code, r->dump->codes.nr, c) : 0;
}

/* ---- file ---- */

static record_fn reader_of(const struct jitdump *d, uint32_t id)
{
	static const record_fn readers[] = { read_load, read_move, jitdump_read_lines,
					     read_close, read_unwind };
	static const record_fn oprofiles[] = { read_op_load, read_unload, read_close,
					       read_lines_of_loaded };

	if (d->oprofile)
		return id < COUNT_OF(oprofiles) ? oprofiles[id] : NULL;
	if (id == JITDUMP_UNLOAD)
		return read_unload;
	if (id == JITDUMP_LINES_OF_LOADED)
		return read_lines_of_loaded;
	return id < COUNT_OF(readers) ? readers[id] : NULL;
}

static uint64_t from_seconds(uint64_t s)
{
	return s < UINT64_MAX / NS_PER_S ? s * NS_PER_S : UINT64_MAX;
}

/* Reads the next record. Returns 0, 1 at the end, or -ENOMEM. */
static int read_record(struct jitdump_reading *r, struct cursor *c)
{
	size_t left = cursor_left(c);
	uint32_t id = cursor_u32(c);
	record_fn read;
	struct cursor in;
	int result = 0;

	r->at = (uint32_t)(c->len - left);
	r->size = cursor_u32(c);
	r->time_ns = cursor_u64(c);
	if (c->failed || r->size < RECORD_BYTES || r->size > left) {
		r->dump->cut_bytes = left;
		return 1;
	}
	in = *c;
	in.len = r->at + r->size;
	if (r->dump->oprofile)
		r->time_ns = from_seconds(r->time_ns);
	read = reader_of(r->dump, id);
	if (read)
		result = read(r, &in);
	else
		r->dump->nr_unknown++;
	if (result == -EBADMSG)
		r->dump->nr_bad++;
	c->pos = r->at + r->size;
	return result == -ENOMEM ? result : 0;
}

static int jitdump_read_header(struct jitdump *d, struct cursor *c, struct err *err)
{
	uint32_t magic = cursor_u32(c);
	uint32_t version, bytes;

	d->swap = c->swap = magic == MAGIC_SWAPPED || magic == MAGIC_OPROFILE_SWAPPED;
	d->oprofile = magic == MAGIC_OPROFILE || magic == MAGIC_OPROFILE_SWAPPED;
	version = cursor_u32(c);
	bytes = cursor_u32(c);
	if (!d->oprofile) {
		d->machine = cursor_u32(c);
		cursor_u32(c); /* reserved */
		d->pid = (int32_t)cursor_u32(c);
		d->begin_ns = cursor_u64(c);
		d->arch_clock = cursor_u64(c) & FLAG_ARCH_CLOCK;
	}
	if (c->failed || (magic != MAGIC && magic != MAGIC_SWAPPED && !d->oprofile))
		return err_set(err, -EBADMSG, "not a jitdump");
	if (version != VERSION || bytes < c->pos || bytes > c->len)
		return err_set(err, -EBADMSG, "unsupported jitdump version %u",
			       version);
	c->pos = bytes;
	return 0;
}

int jitdump_read(struct jitdump *dump, const void *bytes, size_t len, struct err *err)
{
	struct jitdump_reading r = { .dump = dump, .bytes = bytes };
	struct cursor c = cursor_of(bytes, len < UINT32_MAX ? len : UINT32_MAX, false);
	int result;

	*dump = (struct jitdump){ 0 };
	result = jitdump_read_header(dump, &c, err);
	if (result)
		return result;
	while (!result && cursor_left(&c))
		result = read_record(&r, &c);
	map_done(&dump->by_index);
	return result < 0 ? err_set(err, result, "out of memory") : 0;
}

void jitdump_done(struct jitdump *dump)
{
	vec_done(&dump->codes);
	vec_done(&dump->events);
	map_done(&dump->by_index);
}

int jitdump_lines(const struct jitdump *dump, const void *bytes, size_t len,
		  const struct jitdump_code *code,
		  int (*fn)(void *ctx, const struct jitdump_line *line), void *ctx)
{
	struct cursor c = cursor_of(bytes, len, dump->swap);
	const char *file = "";
	uint32_t size;
	uint64_t nr;

	if (!code->lines)
		return 0;
	c.pos = code->lines + sizeof(uint32_t);
	size = cursor_u32(&c);
	if (c.failed || size > len - code->lines)
		return -EBADMSG;
	c.len = code->lines + size;
	cursor_take(&c, 16); /* time, address of the code */
	nr = dump->oprofile ? cursor_u32(&c) : cursor_u64(&c);
	if (dump->oprofile)
		cursor_u32(&c); /* alignment */
	for (; nr && !c.failed; nr--) {
		struct jitdump_line line = { .address = cursor_u64(&c) };
		const char *here, *end;
		int r;

		line.line = cursor_u32(&c);
		line.discriminator = dump->oprofile ? 0 : cursor_u32(&c);
		here = (const char *)c.data + c.pos;
		end = c.failed ? NULL : memchr(here, 0, cursor_left(&c));
		if (!end || !cursor_take(&c, (size_t)(end - here) + 1))
			return -EBADMSG;
		file = strcmp(here, same_file) != 0 ? here : file;
		line.file = file;
		r = fn(ctx, &line);
		if (r)
			return r;
	}
	return c.failed ? -EBADMSG : 0;
}

/* Finds the .eh_frame of a code block. Its record has three sizes (of all bytes, of the
 * .eh_frame_hdr at the end of these bytes, of the mapped part), and then the bytes. Returns
 * false if the record is missing or malformed. */
bool jitdump_eh_frame(const struct jitdump *dump, const void *bytes, size_t len,
		      const struct jitdump_code *code, const uint8_t **ret_bytes,
		      size_t *ret_len)
{
	struct cursor c = cursor_of(bytes, len, dump->swap);
	uint64_t all, header;
	uint32_t size;

	if (!code->unwind)
		return false;
	c.pos = code->unwind + sizeof(uint32_t);
	size = cursor_u32(&c);
	if (c.failed || size > len - code->unwind || size < RECORD_BYTES)
		return false;
	c.len = code->unwind + size;
	cursor_take(&c, sizeof(uint64_t)); /* time */
	all = cursor_u64(&c);
	header = cursor_u64(&c);
	cursor_u64(&c);
	if (c.failed || all > cursor_left(&c) || header >= all)
		return false;
	*ret_bytes = c.data + c.pos;
	*ret_len = (size_t)(all - header);
	return true;
}
