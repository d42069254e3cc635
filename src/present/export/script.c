/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/export/script.h"

#include <endian.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/digits.h"
#include "base/safe_text.h"

enum {
	NUMBER_MAX = 24, /* bytes of any number, including separators */
	HEX_WIDTH = 16,
};

/* ---- writing into reserved room; each function returns the end ---- */

/* Copies a text.  Nearly all texts are short, so calling memcpy() would cost more than this
 * loop. */
static inline char *write_script_copy(char *at, const char *text, size_t len)
{
	if (len > 16) {
		memcpy(at, text, len);
	} else if (len >= 8) {
		memcpy(at, text, 8);
		memcpy(at + len - 8, text + len - 8, 8);
	} else if (len >= 4) {
		memcpy(at, text, 4);
		memcpy(at + len - 4, text + len - 4, 4);
	} else {
		for (size_t i = 0; i < len; i++)
			at[i] = text[i];
	}
	return at + len;
}

/* Copies a text in whole blocks, which is faster than calling memcpy() for short texts. */
static char *copy_padded(char *at, const struct script_text *text)
{
	for (size_t i = 0; i < text->len; i += SCRIPT_PADDING)
		memcpy(at + i, text->at + i, SCRIPT_PADDING);
	return at + text->len;
}

static char *write_script_pad(char *at, size_t width, size_t len)
{
	if (len >= width)
		return at;
	memset(at, ' ', width - len);
	return at + (width - len);
}

/* Writes "%*lu". */
static char *decimal(char *at, uint64_t v, size_t width)
{
	char digits[DIGITS_MAX];
	size_t nr = digits_of(digits, v);

	return write_script_copy(write_script_pad(at, width, nr),
				 digits + DIGITS_MAX - nr, nr);
}

/* Writes `v` in a field of `width` columns, like "%*d", or with `left` like "%-*d".  Returns the
 * end. */
static char *integer(char *at, int32_t v, size_t width, bool left)
{
	uint64_t magnitude = v < 0 ? (uint64_t) - (int64_t)v : (uint64_t)v;
	char digits[DIGITS_MAX];
	size_t nr = digits_of(digits, magnitude);
	size_t len = nr + (v < 0);

	if (!left)
		at = write_script_pad(at, width, len);
	if (v < 0)
		*at++ = '-';
	at = write_script_copy(at, digits + DIGITS_MAX - nr, nr);
	return left ? write_script_pad(at, width, len) : at;
}

/* Writes "%0*lu". */
static char *zero_filled(char *at, uint64_t v, size_t width)
{
	char digits[DIGITS_MAX];
	size_t nr = digits_of(digits, v);

	for (size_t i = nr; i < width; i++)
		*at++ = '0';
	return write_script_copy(at, digits + DIGITS_MAX - nr, nr);
}

static unsigned int hex_digits(uint64_t v)
{
	return v ? (unsigned int)(64 - __builtin_clzll(v) + 3) / 4 : 1;
}

/* Returns the eight digits of `v`, the first one in the lowest byte. */
static uint64_t hex8(uint32_t v)
{
	uint64_t x = __builtin_bswap32(v);

	/* Spread the digits to one per byte: first the bytes, then their nibbles. */
	x = (x | x << 16) & 0x0000ffff0000ffff;
	x = (x | x << 8) & 0x00ff00ff00ff00ff;
	x = (x >> 4 | x << 8) & 0x0f0f0f0f0f0f0f0f;
	/* Digits above 9 need 'a' - '9' - 1 more. */
	return x + 0x3030303030303030 +
	       ((x + 0x0606060606060606) >> 4 & 0x0101010101010101) * ('a' - '9' - 1);
}

/* Stores bytes as characters, lowest byte first. */
static void write_script_store(char *at, uint64_t bytes)
{
	bytes = htole64(bytes);
	memcpy(at, &bytes, sizeof(bytes));
}

/* Replaces the first `nr` bytes with spaces. */
static uint64_t write_script_blank(uint64_t bytes, unsigned int nr)
{
	uint64_t mask = nr >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * nr) - 1;

	return (bytes & ~mask) | (0x2020202020202020 & mask);
}

/* Writes "%16lx". */
static char *hex_wide(char *at, uint64_t v)
{
	unsigned int spaces = HEX_WIDTH - hex_digits(v);

	write_script_store(at, write_script_blank(hex8((uint32_t)(v >> 32)),
						  spaces < 8 ? spaces : 8));
	write_script_store(at + 8, write_script_blank(hex8((uint32_t)v),
						      spaces > 8 ? spaces - 8 : 0));
	return at + HEX_WIDTH;
}

/* Writes `v` in hexadecimal, like "%lx"; always stores 16 bytes.  Returns the end of the text. */
static char *hex(char *at, uint64_t v)
{
	unsigned int nr = hex_digits(v);

	/* Offsets within a symbol are nearly always this short. */
	if (nr <= 8) {
		write_script_store(at, hex8((uint32_t)v << (32 - 4 * nr)));
		return at + nr;
	}
	v <<= 64 - 4 * nr;
	write_script_store(at, hex8((uint32_t)(v >> 32)));
	write_script_store(at + 8, hex8((uint32_t)v));
	return at + nr;
}

/* ---- the buffer ---- */

/* Returns room for `len` bytes at the end of `out`, or NULL if memory is short. */
static char *room(struct buf *out, size_t len)
{
	return buf_reserve(out, len) ? (char *)out->data + out->len : NULL;
}

static void used(struct buf *out, const char *end)
{
	out->len = (size_t)(end - (const char *)out->data);
}

static void write_script_put(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

static void put_hex(struct buf *out, const char *before, uint64_t v)
{
	char text[NUMBER_MAX];

	write_script_put(out, before);
	buf_put(out, text, (size_t)(hex(text, v) - text));
}

/* ---- positions ---- */

static void write_script_put_name(struct buf *out, const char *name)
{
	size_t begin = out->len;

	write_script_put(out, name);
	if (!out->failed)
		safe_text_mask((char *)out->data + begin, out->len - begin,
			       SCRIPT_MASK);
}

static void write_script_put_symbol(bool offset, const struct script_position *position,
				    struct buf *out)
{
	write_script_put_name(out, position->symbol ? position->symbol : "[unknown]");
	if (offset && position->symbol)
		put_hex(out, "+0x", position->offset);
}

static void write_script_put_image(const struct script_position *position,
				   struct buf *out)
{
	write_script_put(out, "(");
	write_script_put_name(out, position->image ? position->image : "[unknown]");
	write_script_put(out, ")");
}

void script_position(uint32_t fields, const struct script_position *position,
		     struct buf *out)
{
	if (fields & SCRIPT_SYM) {
		write_script_put(out, " ");
		write_script_put_symbol(fields & SCRIPT_SYMOFF, position, out);
	}
	if (fields & SCRIPT_DSO) {
		write_script_put(out, " ");
		write_script_put_image(position, out);
	}
}

bool script_halves(uint32_t fields, const struct script_position *position,
		   struct buf *out, size_t *ret_first)
{
	size_t start = out->len;
	bool offset = fields & SCRIPT_SYM && fields & SCRIPT_SYMOFF && position->symbol;

	script_position(fields & ~(uint32_t)(SCRIPT_SYMOFF | SCRIPT_DSO), position,
			out);
	if (offset)
		write_script_put(out, "+0x");
	*ret_first = out->len - start;
	script_position(fields & SCRIPT_DSO, position, out);
	if (!offset)
		*ret_first = out->len - start;
	return offset;
}

void script_branch_position(uint32_t fields, const struct script_position *position,
			    struct buf *out)
{
	if (!(fields & SCRIPT_BRSTACK))
		write_script_put_symbol(true, position, out);
	if (fields & SCRIPT_DSO)
		write_script_put_image(position, out);
}

/* ---- the first line of a sample ---- */

static char *write_comm(char *at, const struct script_sample *s, bool before_chain)
{
	if (!before_chain)
		at = write_script_pad(at, 16, s->comm.len);
	at = write_script_copy(at, s->comm.at, s->comm.len);
	*at++ = ' ';
	return at;
}

static char *write_thread(char *at, uint32_t fields, const struct script_sample *s)
{
	if (fields & SCRIPT_PID) {
		at = integer(at, s->pid, 5, false);
		if (!(fields & SCRIPT_TID)) {
			*at++ = ' ';
			return at;
		}
		*at++ = '/';
	}
	at = integer(at, s->tid, 5, fields & SCRIPT_PID);
	*at++ = ' ';
	return at;
}

/* Appends the letters for `misc`. perf tests the cpu modes as if they were bits, so some modes get
 * several letters. */
static char *write_misc(char *at, uint16_t misc)
{
	static const struct {
		uint16_t mode;
		char letter;
	} modes[] = { { PERF_RECORD_MISC_KERNEL, 'K' },
		      { PERF_RECORD_MISC_USER, 'U' },
		      { PERF_RECORD_MISC_HYPERVISOR, 'H' },
		      { PERF_RECORD_MISC_GUEST_KERNEL, 'G' },
		      { PERF_RECORD_MISC_GUEST_USER, 'g' } };
	size_t nr = 0;

	for (size_t i = 0; i < COUNT_OF(modes); i++)
		if ((misc & modes[i].mode) == modes[i].mode)
			at[nr++] = modes[i].letter;
	return write_script_pad(at + nr, 6, nr);
}

static char *write_script_write_time(char *at, uint64_t ns, bool nanoseconds)
{
	uint64_t s = ns / NS_PER_S, rest = ns % NS_PER_S;

	at = decimal(at, s, 5);
	*at++ = '.';
	at = nanoseconds ? zero_filled(at, rest, 9)
			 : zero_filled(at, rest / NS_PER_US, 6);
	return write_script_copy(at, ": ", 2);
}

static void write_start(const struct script_writer *w, const struct script_sample *s,
			uint32_t fields, struct buf *out)
{
	const struct script_event *event = &w->events[s->event];
	bool chain = w->chains && event->sample_type & PERF_SAMPLE_CALLCHAIN;
	size_t name_len = strlen(event->name);
	char *at = room(out, s->comm.len + name_len + w->name_width + 8 * NUMBER_MAX);

	if (!at)
		return;
	if (fields & SCRIPT_COMM)
		at = write_comm(at, s, chain && fields & SCRIPT_IP);
	if (fields & (SCRIPT_PID | SCRIPT_TID))
		at = write_thread(at, fields, s);
	if (fields & SCRIPT_CPU) {
		*at++ = '[';
		/* An unknown CPU is -1, which perf prints as "-01". */
		if (s->cpu == UINT32_MAX)
			at = write_script_copy(at, "-01", 3);
		else
			at = zero_filled(at, s->cpu, 3);
		at = write_script_copy(at, "] ", 2);
	}
	if (fields & SCRIPT_MISC)
		at = write_misc(at, s->misc);
	if (fields & SCRIPT_TIME)
		at = write_script_write_time(at, s->time_ns, w->nanoseconds);
	if (fields & SCRIPT_PERIOD) {
		at = decimal(at, s->period, 10);
		*at++ = ' ';
	}
	if (fields & SCRIPT_EVENT) {
		at = write_script_pad(at, w->name_width, name_len);
		at = write_script_copy(write_script_copy(at, event->name, name_len),
				       ": ", 2);
	}
	used(out, at);
}

/* ---- memory, frames, branches ---- */

static void write_frame(const struct script_frame *f, const char *before,
			const char *after, struct buf *out)
{
	char *at = room(out, f->position.len + f->after.len + 2 * NUMBER_MAX +
				     2 * SCRIPT_PADDING);

	if (!at)
		return;
	if (*before)
		*at++ = *before;
	at = copy_padded(hex_wide(at, f->address), &f->position);
	if (f->after.at)
		at = copy_padded(hex(at, f->offset), &f->after);
	if (*after)
		*at++ = *after;
	used(out, at);
}

static void write_wide(uint64_t v, struct buf *out)
{
	char *at = room(out, NUMBER_MAX);

	if (at)
		used(out, decimal(at, v, 16));
}

static void write_memory(uint32_t fields, const struct script_sample *s,
			 struct buf *out)
{
	if (fields & SCRIPT_ADDR)
		write_frame(&s->addr, "", "", out);
	if (fields & SCRIPT_WEIGHT)
		write_wide(s->weight, out);
	if (fields & SCRIPT_INS_LAT)
		write_wide(s->ins_lat, out);
	if (fields & SCRIPT_CGROUP) {
		write_script_put(out, " ");
		buf_put(out, s->cgroup.at, s->cgroup.len);
	}
}

static void write_frames(const struct script_sample *s, struct buf *out)
{
	if (!s->chain) {
		if (s->nr_frames)
			write_frame(&s->frames[0], " ", "", out);
		else
			buf_put_u8(out, ' ');
		return;
	}
	buf_put_u8(out, '\n');
	for (size_t i = 0; i < s->nr_frames; i++)
		write_frame(&s->frames[i], "\t", "\n", out);
}

static char *write_flags(char *at, const struct script_branch *b)
{
	*at++ = '/';
	*at++ = (char)(b->predicted ? 'P' : b->mispredicted ? 'M' : '-');
	*at++ = '/';
	*at++ = b->in_tx ? 'X' : '-';
	*at++ = '/';
	*at++ = b->aborted ? 'A' : '-';
	*at++ = '/';
	at = decimal(at, b->cycles, 0);
	*at++ = '/';
	at = write_script_copy(at, b->type, strlen(b->type));
	*at++ = ' ';
	return at;
}

static void write_branch(const struct script_branch *b, bool addresses, struct buf *out)
{
	char *at = room(out, b->from_position.len + b->to_position.len +
				     strlen(b->type) + 4 * NUMBER_MAX);

	if (!at)
		return;
	if (addresses)
		at = hex(write_script_copy(at, " 0x", 3), b->from);
	at = write_script_copy(at, b->from_position.at, b->from_position.len);
	*at++ = '/';
	if (addresses)
		at = hex(write_script_copy(at, "0x", 2), b->to);
	at = write_script_copy(at, b->to_position.at, b->to_position.len);
	used(out, write_flags(at, b));
}

/* Writes page sizes like perf: "4K", "2M", and "N/A" for 0. */
static void write_page_size(uint64_t bytes, struct buf *out)
{
	static const char units[] = "BKMG";
	size_t unit = 0;
	char *at = room(out, NUMBER_MAX);

	if (!at)
		return;
	*at++ = ' ';
	if (!bytes) {
		used(out, write_script_copy(at, "N/A", 3));
		return;
	}
	while (bytes / 1024 > 1 && unit < sizeof(units) - 2) {
		bytes /= 1024;
		unit++;
	}
	at = decimal(at, bytes, 0);
	*at++ = units[unit];
	used(out, at);
}

void script_writer_init(struct script_writer *w)
{
	w->name_width = 0;
	for (size_t i = 0; i < w->nr_events; i++) {
		size_t len = strlen(w->events[i].name);

		w->name_width = len > w->name_width ? len : w->name_width;
	}
}

void script_write(const struct script_writer *w, const struct script_sample *s,
		  struct buf *out)
{
	uint32_t fields = w->fields[s->event];
	const struct script_frame phys = { .address = s->phys_addr };

	write_start(w, s, fields, out);
	if (fields & (SCRIPT_ADDR | SCRIPT_WEIGHT | SCRIPT_INS_LAT | SCRIPT_CGROUP))
		write_memory(fields, s, out);
	if (fields & SCRIPT_IP)
		write_frames(s, out);
	if (fields & (SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM))
		for (size_t i = 0; i < s->nr_branches; i++)
			write_branch(&s->branches[i], fields & SCRIPT_BRSTACK, out);
	if (fields & SCRIPT_PHYS_ADDR)
		write_frame(&phys, "", "", out);
	if (fields & SCRIPT_DATA_PAGE_SIZE)
		write_page_size(s->data_page_size, out);
	if (fields & SCRIPT_CODE_PAGE_SIZE)
		write_page_size(s->code_page_size, out);
	buf_put_u8(out, '\n');
}

void script_write_start(const struct script_writer *w, const struct script_sample *s,
			struct buf *out)
{
	write_start(w, s,
		    w->fields[s->event] & ~(uint32_t)(SCRIPT_PERIOD | SCRIPT_EVENT),
		    out);
}
