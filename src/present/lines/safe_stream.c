/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/safe_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/safe_text.h"
#include "present/lines/screen.h"

struct safe_stream {
	FILE *to;
	bool utf8;
	struct buf line; /* incomplete line */
	struct buf safe;
};

/* Returns the length of an allowed sequence at the start of `text`, or 0. */
static size_t passes(const char *text, size_t left)
{
	static const char *const sequences[] = { "\t",        "\n",         "\r\n",
						 SCREEN_BOLD, SCREEN_PLAIN, SCREEN_RED,
						 SCREEN_GREEN };

	for (size_t i = 0; i < COUNT_OF(sequences); i++) {
		size_t len = strlen(sequences[i]);

		if (left >= len && !memcmp(text, sequences[i], len))
			return len;
	}
	return 0;
}

/* Writes complete lines, so that UTF-8 characters and sequences are not split. */
static int safe_stream_put_lines(struct safe_stream *s, const char *text, size_t len)
{
	size_t from = 0; /* not written yet */

	buf_clear(&s->safe);
	for (size_t i = 0; i < len;) {
		/* Only control characters can start an allowed sequence; the others are escaped. */
		size_t pass =
			(unsigned char)text[i] < ' ' ? passes(text + i, len - i) : 0;

		if (pass) {
			safe_text_put(&s->safe, text + from, i - from, s->utf8);
			buf_put(&s->safe, text + i, pass);
			from = i + pass;
		}
		i += pass ? pass : 1;
	}
	safe_text_put(&s->safe, text + from, len - from, s->utf8);
	if (s->safe.failed ||
	    fwrite(s->safe.data, 1, s->safe.len, s->to) != s->safe.len)
		return -1;
	return 0;
}

static int put_begun(struct safe_stream *s)
{
	int r = s->line.len ? safe_stream_put_lines(s, (const char *)s->line.data,
						    s->line.len)
			    : 0;

	buf_clear(&s->line);
	return r;
}

/* Writes the complete lines of a text and keeps the rest until its line is complete, as a write
 * function of fopencookie(3). Returns `len`, or 0 on an error. */
static ssize_t write_some(void *cookie, const char *text, size_t len)
{
	struct safe_stream *s = cookie;
	const char *end = memrchr(text, '\n', len);
	size_t whole = end ? (size_t)(end + 1 - text) : 0;

	buf_put(&s->line, text, whole);
	if (whole && put_begun(s))
		return 0;
	buf_put(&s->line, text + whole, len - whole);
	return s->line.failed ? 0 : (ssize_t)len;
}

static int close_stream(void *cookie)
{
	struct safe_stream *s = cookie;
	int r = put_begun(s);

	if (fflush(s->to))
		r = -1;
	buf_done(&s->line);
	buf_done(&s->safe);
	free(s);
	return r;
}

FILE *safe_stream_open(FILE *to, bool utf8)
{
	const cookie_io_functions_t functions = { .write = write_some,
						  .close = close_stream };
	struct safe_stream *s = calloc(1, sizeof(*s));
	FILE *out;

	if (!s)
		return NULL;
	*s = (struct safe_stream){ .to = to, .utf8 = utf8 };
	out = fopencookie(s, "w", functions);
	if (!out)
		free(s);
	return out;
}
