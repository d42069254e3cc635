/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/text/html_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

enum {
	PICTURES = 0x2400, /* symbols for the control characters */
	DELETED = 0x7f,
	DELETED_PICTURE = 0x2421,
	SPACE = 0x20
};

static const char *escape_of(unsigned char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* Returns the number of leading bytes that need no escape. Most texts need none at all. */
static size_t html_text_plain(const unsigned char *s, size_t len)
{
	size_t n = 0;

	while (n < len && ((s[n] >= SPACE && s[n] < DELETED) || s[n] == '\t') &&
	       !escape_of(s[n]))
		n++;
	return n;
}

/* Writes a character at which html_text_plain() stops, escaped if necessary.  Returns its length in
 * the input, in bytes. */
static size_t put_character(FILE *out, const unsigned char *s, size_t len)
{
	const char *escape = escape_of(*s);
	uint32_t code;
	size_t bytes;

	if (escape) {
		fputs(escape, out);
		return 1;
	}
	bytes = utf8_next(s, len, &code);
	/* XML does not allow U+FFFE and U+FFFF. */
	if (!bytes || code == 0xfffe || code == 0xffff)
		fputs("\xef\xbf\xbd", out);
	else if (code < SPACE)
		fprintf(out, "&#%d;", (int)(PICTURES + code));
	else if (code == DELETED)
		fprintf(out, "&#%d;", (int)DELETED_PICTURE);
	else if (utf8_is_control(code))
		fprintf(out, "[U+%04" PRIX32 "]", code);
	else
		fwrite(s, 1, bytes, out);
	return bytes ? bytes : 1;
}

void html_put_len(FILE *out, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	while (len) {
		size_t n = html_text_plain(s, len);

		if (n)
			fwrite(s, 1, n, out);
		else
			n = put_character(out, s, len);
		s += n;
		len -= n;
	}
}

void html_put(FILE *out, const char *text)
{
	html_put_len(out, text, strlen(text));
}
