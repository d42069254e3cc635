#include "present/json.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/digits.h"
#include "base/utf8.h"

enum {
	LINES_DEPTH = 2,
	AT_ONCE = 4096 /* bytes */
};

/* What has to stand before a value or a name. */
static void separate(struct json *j)
{
	if (j->after_name) {
		j->after_name = false;
		return;
	}
	/* Members and rows on lines of their own: for people, and for diff(1). */
	if (j->filled[j->depth])
		fputs_unlocked(j->depth <= LINES_DEPTH ? ",\n" : ",", j->out);
	j->filled[j->depth] = true;
}

static void begin(struct json *j, char bracket)
{
	separate(j);
	putc_unlocked(bracket, j->out);
	assert(j->depth + 1 < JSON_MAX_DEPTH);
	j->filled[++j->depth] = false;
}

static void end(struct json *j, char bracket)
{
	assert(j->depth);
	j->depth--;
	putc_unlocked(bracket, j->out);
}

void json_begin_object(struct json *j)
{
	begin(j, '{');
}

void json_end_object(struct json *j)
{
	end(j, '}');
}

void json_begin_array(struct json *j)
{
	begin(j, '[');
}

void json_end_array(struct json *j)
{
	end(j, ']');
}

/* How many bytes from here stand for themselves: nearly all of nearly every text. */
static size_t plain(const unsigned char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

/* Some bytes that stand for the first ones of a text. */
struct piece {
	const void *bytes;
	size_t len;
	size_t of; /* so many of the text */
	char room[8];
};

static void escape(struct piece *p, unsigned char c)
{
	int len;

	if (c == '"' || c == '\\')
		len = snprintf(p->room, sizeof(p->room), "\\%c", c);
	else if (c == '\n')
		len = snprintf(p->room, sizeof(p->room), "\\n");
	else if (c == '\t')
		len = snprintf(p->room, sizeof(p->room), "\\t");
	else
		len = snprintf(p->room, sizeof(p->room), "\\u%04x", c);
	p->bytes = p->room;
	p->len = (size_t)len;
}

/* `len` is not 0. */
static void next_piece(struct piece *p, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	p->bytes = s;
	p->len = p->of = plain(s, len);
	if (p->len)
		return;
	p->len = p->of = utf8_next(s, len, NULL);
	if (p->len > 1)
		return;
	p->of = 1;
	if (p->len) {
		escape(p, *s);
	} else {
		p->bytes = "\xef\xbf\xbd";
		p->len = 3;
	}
}

static void put_string(FILE *out, const char *text, size_t len)
{
	struct piece piece;

	putc_unlocked('"', out);
	for (size_t i = 0; i < len; i += piece.of) {
		next_piece(&piece, text + i, len - i);
		fwrite_unlocked(piece.bytes, 1, piece.len, out);
	}
	putc_unlocked('"', out);
}

void json_put_string(struct buf *out, const char *text, size_t len)
{
	struct piece piece;

	buf_put_u8(out, '"');
	for (size_t i = 0; i < len; i += piece.of) {
		next_piece(&piece, text + i, len - i);
		buf_put(out, piece.bytes, piece.len);
	}
	buf_put_u8(out, '"');
}

void json_name(struct json *j, const char *name)
{
	separate(j);
	put_string(j->out, name, strlen(name));
	putc_unlocked(':', j->out);
	j->after_name = true;
}

void json_text_len(struct json *j, const char *text, size_t len)
{
	separate(j);
	put_string(j->out, text, len);
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

/* Writes what was gathered unless there is room for `more` bytes; how many are in it now. */
static size_t flush_at_once(struct json *j, const char *bytes, size_t len, size_t more)
{
	if (len + more <= AT_ONCE)
		return len;
	fwrite_unlocked(bytes, 1, len, j->out);
	return 0;
}

/* Numbers in text, with the commas between them. */
struct row {
	struct json *j;
	char bytes[AT_ONCE];
	size_t len;
	bool begun;
};

static void put_in_row(struct row *r, const char *text, size_t len)
{
	r->len = flush_at_once(r->j, r->bytes, r->len, len + 1);
	if (r->begun)
		r->bytes[r->len++] = ',';
	memcpy(r->bytes + r->len, text, len);
	r->len += len;
	r->begun = true;
}

static void put_number_in_row(struct row *r, uint64_t value)
{
	char digits[DIGITS_MAX];
	size_t n = digits_of(digits, value);

	put_in_row(r, digits + DIGITS_MAX - n, n);
}

static void begin_row(struct row *r, struct json *j)
{
	json_begin_array(j);
	r->j = j;
	r->len = 0;
	r->begun = false;
}

static void end_row(struct row *r)
{
	fwrite_unlocked(r->bytes, 1, r->len, r->j->out);
	json_end_array(r->j);
}

void json_u32s(struct json *j, const uint32_t *at, size_t nr, const char *none)
{
	size_t none_len = strnlen(none, DIGITS_MAX);
	struct row row;

	begin_row(&row, j);
	for (size_t i = 0; i < nr; i++) {
		if (at[i] == JSON_NONE)
			put_in_row(&row, none, none_len);
		else
			put_number_in_row(&row, at[i]);
	}
	end_row(&row);
}

void json_u64s(struct json *j, const uint64_t *at, size_t nr)
{
	struct row row;

	begin_row(&row, j);
	for (size_t i = 0; i < nr; i++)
		put_number_in_row(&row, at[i]);
	end_row(&row);
}

void json_repeated(struct json *j, const char *value, size_t nr)
{
	size_t value_len = strnlen(value, AT_ONCE - 1);
	struct row row;

	begin_row(&row, j);
	for (size_t i = 0; i < nr; i++)
		put_in_row(&row, value, value_len);
	end_row(&row);
}
