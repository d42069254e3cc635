/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/json.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/digits.h"
#include "base/utf8.h"

enum {
	LINES_DEPTH = 2
};

/* Writes the separator that a value or a name needs before it. */
static void separate(struct json *j)
{
	if (j->after_name) {
		j->after_name = false;
		return;
	}
	/* Start members and rows on their own lines, for readers and for diff(1). */
	if (j->filled[j->depth])
		fputs_unlocked(j->depth <= LINES_DEPTH ? ",\n" : ",", j->out);
	j->filled[j->depth] = true;
}

static void json_begin(struct json *j, char bracket)
{
	separate(j);
	putc_unlocked(bracket, j->out);
	assert(j->depth + 1 < JSON_MAX_DEPTH);
	j->filled[++j->depth] = false;
}

static void json_end(struct json *j, char bracket)
{
	assert(j->depth);
	j->depth--;
	putc_unlocked(bracket, j->out);
}

void json_begin_object(struct json *j)
{
	json_begin(j, '{');
}

void json_end_object(struct json *j)
{
	json_end(j, '}');
}

void json_begin_array(struct json *j)
{
	json_begin(j, '[');
}

void json_end_array(struct json *j)
{
	json_end(j, ']');
}

/* Returns the number of leading bytes that need no escape. Most texts need none at all. */
static size_t json_plain(const unsigned char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

/* The output bytes for the first characters of a text. */
struct json_piece {
	const void *bytes;
	size_t len;
	size_t of; /* length in the text */
	char room[8];
};

/* Writes the escape of a control character, a quote or a backslash. Control characters are at most
 * U+FFFF. */
static void escape(struct json_piece *p, uint32_t c)
{
	int len;

	if (c == '"' || c == '\\')
		len = snprintf(p->room, sizeof(p->room), "\\%c", (int)c);
	else if (c == '\n')
		len = snprintf(p->room, sizeof(p->room), "\\n");
	else if (c == '\t')
		len = snprintf(p->room, sizeof(p->room), "\\t");
	else
		len = snprintf(p->room, sizeof(p->room), "\\u%04" PRIx32, c);
	p->bytes = p->room;
	p->len = (size_t)len;
}

/* Finds the next piece of a text that can be written at once; `len` must not be 0. */
static void next_piece(struct json_piece *p, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t code = 0;

	p->bytes = s;
	p->len = p->of = json_plain(s, len);
	if (p->len)
		return;
	p->len = p->of = utf8_next(s, len, &code);
	if (p->len > 1 && !utf8_is_control(code))
		return;
	if (p->len) {
		escape(p, code);
	} else {
		p->of = 1;
		p->bytes = "\xef\xbf\xbd";
		p->len = 3;
	}
}

static void json_put_escaped(FILE *out, const char *text, size_t len)
{
	struct json_piece piece;

	putc_unlocked('"', out);
	for (size_t i = 0; i < len; i += piece.of) {
		next_piece(&piece, text + i, len - i);
		fwrite_unlocked(piece.bytes, 1, piece.len, out);
	}
	putc_unlocked('"', out);
}

void json_put_string(struct buf *out, const char *text, size_t len)
{
	struct json_piece piece;

	buf_put_u8(out, '"');
	for (size_t i = 0; i < len; i += piece.of) {
		next_piece(&piece, text + i, len - i);
		buf_put(out, piece.bytes, piece.len);
	}
	buf_put_u8(out, '"');
}

void json_name(struct json *j, const char *name)
{
	json_name_len(j, name, strlen(name));
}

void json_name_len(struct json *j, const char *name, size_t len)
{
	separate(j);
	json_put_escaped(j->out, name, len);
	putc_unlocked(':', j->out);
	j->after_name = true;
}

void json_text_len(struct json *j, const char *text, size_t len)
{
	separate(j);
	json_put_escaped(j->out, text, len);
}

void json_text(struct json *j, const char *text)
{
	json_text_len(j, text, strlen(text));
}

void json_u64(struct json *j, uint64_t value)
{
	char digits[DIGITS_MAX];
	size_t nr = digits_of(digits, value);

	separate(j);
	fwrite_unlocked(digits + DIGITS_MAX - nr, 1, nr, j->out);
}

void json_member_text(struct json *j, const char *name, const char *text)
{
	json_name(j, name);
	json_text(j, text);
}

void json_member_u64(struct json *j, const char *name, uint64_t value)
{
	json_name(j, name);
	json_u64(j, value);
}

void json_number(struct json *j, const char *digits)
{
	separate(j);
	fputs_unlocked(digits, j->out);
}

void json_raw(struct json *j, const void *bytes, size_t len)
{
	separate(j);
	fwrite_unlocked(bytes, 1, len, j->out);
}

void json_bool(struct json *j, bool value)
{
	separate(j);
	fputs(value ? "true" : "false", j->out);
}

/* ---- rows ---- */

/* Each value is followed by a comma so that values can be appended without a check;
 * json_end_row() removes the last comma. */
void json_begin_row(struct json_row *r, struct json *j)
{
	json_begin_array(j);
	r->j = j;
	r->len = 0;
}

static void json_flush(struct json_row *r)
{
	fwrite_unlocked(r->bytes, 1, r->len, r->j->out);
	r->len = 0;
}

static inline void json_make_room(struct json_row *r, size_t bytes)
{
	if (__builtin_expect(r->len + bytes > sizeof(r->bytes), 0))
		json_flush(r);
}

void json_put_in_row(struct json_row *r, const void *bytes, size_t len)
{
	if (len >= sizeof(r->bytes)) {
		json_flush(r);
		fwrite_unlocked(bytes, 1, len, r->j->out);
	} else {
		json_make_room(r, len + 1);
		memcpy(r->bytes + r->len, bytes, len);
		r->len += len;
	}
	r->bytes[r->len++] = ',';
}

static inline void put_number_in_row(struct json_row *r, uint64_t value)
{
	json_make_room(r, DIGITS_ROOM + 1);
	r->len += digits_put(r->bytes + r->len, value);
	r->bytes[r->len++] = ',';
}

/* Unless the row is empty, the buffer holds a comma: json_put_in_row() flushes before it appends
 * one. */
void json_end_row(struct json_row *r)
{
	if (r->len)
		r->len--;
	json_flush(r);
	json_end_array(r->j);
}

void json_u32s(struct json *j, const uint32_t *at, size_t nr, const char *none)
{
	size_t none_len = strlen(none);
	struct json_row row;

	json_begin_row(&row, j);
	for (size_t i = 0; i < nr; i++) {
		if (at[i] == JSON_NONE)
			json_put_in_row(&row, none, none_len);
		else
			put_number_in_row(&row, at[i]);
	}
	json_end_row(&row);
}

void json_u64s(struct json *j, const uint64_t *at, size_t nr)
{
	struct json_row row;

	json_begin_row(&row, j);
	for (size_t i = 0; i < nr; i++)
		put_number_in_row(&row, at[i]);
	json_end_row(&row);
}

/* Repeats the contents of the buffer up to `bytes`, doubling it each time. */
static void fill_row(struct json_row *r, size_t bytes)
{
	while (r->len < bytes) {
		size_t more = bytes - r->len < r->len ? bytes - r->len : r->len;

		memcpy(r->bytes + r->len, r->bytes, more);
		r->len += more;
	}
}

void json_repeated(struct json *j, const char *value, size_t nr)
{
	size_t each = strnlen(value, JSON_ROW_BYTES - 1) + 1; /* including the comma */
	size_t most = JSON_ROW_BYTES / each;
	struct json_row row;

	json_begin_row(&row, j);
	if (nr)
		json_put_in_row(&row, value, each - 1);
	fill_row(&row, each * (nr < most ? nr : most));
	for (; nr > most; nr -= most)
		fwrite_unlocked(row.bytes, 1, each * most, j->out);
	row.len = each * nr;
	json_end_row(&row);
}
