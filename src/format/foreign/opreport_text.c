/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/opreport_text.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"

static const char no_location[] = "(no location information)";
static const char escaped_blank[] = "\\x20";
static const char escaped_backslash[] = "\\x5c";

enum {
	ESCAPE_BYTES = 4
};

static bool opreport_text_is_escape(const char *at, size_t len)
{
	return len >= ESCAPE_BYTES && (!memcmp(at, escaped_blank, ESCAPE_BYTES) ||
				       !memcmp(at, escaped_backslash, ESCAPE_BYTES));
}

void opreport_put_word(struct buf *out, const char *text, size_t len)
{
	if (len == strlen(no_location) && !memcmp(text, no_location, len)) {
		buf_put(out, text, len);
		return;
	}
	for (size_t i = 0; i < len; i++) {
		if (text[i] == ' ')
			buf_put(out, escaped_blank, ESCAPE_BYTES);
		else if (opreport_text_is_escape(text + i, len - i))
			buf_put(out, escaped_backslash, ESCAPE_BYTES);
		else
			buf_put_u8(out, (uint8_t)text[i]);
	}
}

void opreport_put_plain(struct buf *out, struct opreport_word word)
{
	for (size_t i = 0; i < word.len; i++) {
		bool is_escape = opreport_text_is_escape(word.at + i, word.len - i);

		if (!is_escape) {
			buf_put_u8(out, (uint8_t)word.at[i]);
			continue;
		}
		buf_put_u8(out, word.at[i + 2] == '2' ? ' ' : '\\');
		i += ESCAPE_BYTES - 1;
	}
}

/* The unparsed rest of a line. */
struct rest {
	const char *at;
	const char *end;
};

static bool opreport_text_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void opreport_text_skip_blanks(struct rest *r)
{
	while (r->at < r->end && opreport_text_is_blank(*r->at))
		r->at++;
}

static struct opreport_word opreport_text_next_word(struct rest *r)
{
	struct opreport_word w;

	opreport_text_skip_blanks(r);
	w.at = r->at;
	while (r->at < r->end && !opreport_text_is_blank(*r->at))
		r->at++;
	w.len = (size_t)(r->at - w.at);
	return w;
}

static bool opreport_text_skip_text(struct rest *r, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0)
		return false;
	r->at += len;
	return true;
}

static bool has_text(struct rest r, const char *text)
{
	for (; r.at < r.end; r.at++) {
		struct rest here = r;

		if (opreport_text_skip_text(&here, text))
			return true;
	}
	return false;
}

static int opreport_text_digit_of(char c, int base)
{
	int d = c >= '0' && c <= '9'   ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : base;

	return d < base ? d : -1;
}

/* Returns false if the word is not a number or the number is too large. */
static bool opreport_text_number_of(struct opreport_word w, int base,
				    uint64_t *ret_value)
{
	uint64_t value = 0;

	for (size_t i = 0; i < w.len; i++) {
		int d = opreport_text_digit_of(w.at[i], base);

		if (d < 0 || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)d, &value))
			return false;
	}
	*ret_value = value;
	return w.len > 0;
}

/* Parses "FILE:LINE", followed by a blank or the end of the line, or the text that opreport
 * prints if the location is unknown. Returns false if the text has neither form. */
static bool take_place(struct rest *r, struct opreport_line *l)
{
	opreport_text_skip_blanks(r);
	if (opreport_text_skip_text(r, no_location))
		return true;
	for (const char *colon = r->at; colon < r->end; colon++) {
		struct opreport_word digits = { .at = colon + 1 };
		const char *p = colon + 1;

		if (*colon != ':')
			continue;
		while (p < r->end && !opreport_text_is_blank(*p))
			p++;
		digits.len = (size_t)(p - digits.at);
		if (!opreport_text_number_of(digits, 10, &l->line))
			continue;
		l->file = (struct opreport_word){ r->at, (size_t)(colon - r->at) };
		r->at = p;
		return true;
	}
	return false;
}

static int bad(struct err *err, const char *what)
{
	return err_set(err, -EBADMSG, "%s", what);
}

/* Parses the columns that function lines and address lines share. */
static int opreport_text_take_counts(const struct opreport_reader *r, struct rest *rest,
				     struct opreport_line *l, struct err *err)
{
	if (!opreport_text_number_of(opreport_text_next_word(rest), 16, &l->vma))
		return bad(err, "the line does not begin with an address");
	for (size_t i = 0; i < r->nr_events; i++) {
		if (!opreport_text_number_of(opreport_text_next_word(rest), 10,
					     &l->counts[i]))
			return bad(err, "no number of samples");
		if (!opreport_text_next_word(rest).len)
			return bad(err, "no percentage");
	}
	if (!take_place(rest, l))
		return bad(err, "no source line: run opreport with --debug-info");
	return 0;
}

static int parse_symbol(const struct opreport_reader *r, struct rest *rest,
			struct opreport_line *l, struct err *err)
{
	int status = opreport_text_take_counts(r, rest, l, err);

	if (status)
		return status;
	l->kind = OPREPORT_SYMBOL;
	if (r->has_image)
		l->image = opreport_text_next_word(rest);
	if (r->has_app)
		l->app = opreport_text_next_word(rest);
	opreport_text_skip_blanks(rest);
	while (rest->end > rest->at && opreport_text_is_blank(rest->end[-1]))
		rest->end--;
	l->name = (struct opreport_word){ rest->at, (size_t)(rest->end - rest->at) };
	return l->name.len ? 0 : bad(err, "no name of a function");
}

static int parse_title(struct opreport_reader *r, struct rest rest, struct err *err)
{
	if (!r->nr_events)
		return bad(err, "column titles without a preceding event");
	if (!has_text(rest, "linenr"))
		return bad(err, "no source lines: run opreport with --debug-info");
	r->has_image = has_text(rest, "image name");
	r->has_app = has_text(rest, "app name");
	r->titled = true;
	return 0;
}

static int parse_header(struct opreport_reader *r, struct rest rest,
			struct opreport_line *l, struct err *err)
{
	if (opreport_text_skip_text(&rest, "vma")) {
		l->kind = OPREPORT_TITLE;
		return parse_title(r, rest, err);
	}
	if (opreport_text_skip_text(&rest, "Counted "))
		l->name = opreport_text_next_word(&rest);
	else if (opreport_text_skip_text(&rest, "Profiling through timer"))
		l->name = (struct opreport_word){ "Timer", strlen("Timer") };
	if (!l->name.len)
		return 0;
	if (r->nr_events == OPREPORT_EVENTS_MAX)
		return bad(err, "too many events");
	r->nr_events++;
	l->kind = OPREPORT_EVENT;
	return 0;
}

int opreport_parse(struct opreport_reader *r, const char *text, size_t len,
		   struct opreport_line *ret_line, struct err *err)
{
	struct rest rest = { text, text + len };
	struct opreport_line l = { .kind = OPREPORT_OTHER };
	int status = 0;

	if (!r->titled)
		status = parse_header(r, rest, &l, err);
	else if (len && opreport_text_is_blank(*text)) {
		status = opreport_text_take_counts(r, &rest, &l, err);
		l.kind = OPREPORT_SAMPLE;
	} else if (len) {
		status = parse_symbol(r, &rest, &l, err);
	}
	if (!status)
		*ret_line = l;
	return status;
}
