/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/safe_text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

enum {
	ESCAPE_BYTES = 4,    /* "\xNN" */
	CHARACTER_BYTES = 4, /* the longest in UTF-8 */
	ESCAPED_BYTES = CHARACTER_BYTES * ESCAPE_BYTES + 1
};

/* Escapes the character at `bytes`, or a single byte if it is not valid UTF-8. Returns the
 * number of bytes read. */
static size_t escape_next(char out[ESCAPED_BYTES], const char *bytes, size_t left)
{
	size_t step = utf8_next(bytes, left, NULL);

	step = step ? step : 1;
	if (*bytes == '\n' || *bytes == '\t') {
		snprintf(out, ESCAPED_BYTES, "\\%c", *bytes == '\n' ? 'n' : 't');
		return step;
	}
	for (size_t i = 0; i < step; i++)
		snprintf(out + i * ESCAPE_BYTES, ESCAPED_BYTES - i * ESCAPE_BYTES,
			 "\\x%02x", (uint8_t)bytes[i]);
	return step;
}

/* Returns how many leading bytes are printable ASCII characters.  Reads eight at a time, because
 * every name of a report is checked. */
static size_t safe_text_ascii_len(const uint8_t *s, size_t len)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t word;
	size_t i = 0;

	for (; len - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&word, s + i, sizeof(word));
		/* The result has the highest bit of a byte set if that byte is below a blank or at
		 * least 0x7f. Bytes after such a byte can also have it set. */
		if ((word | (word + ones) | (word - ones * ' ')) & ones << 7)
			break;
	}
	while (i < len && s[i] >= ' ' && s[i] < 0x7f)
		i++;
	return i;
}

size_t safe_text_len(const void *text, size_t len, bool utf8)
{
	const uint8_t *s = text;
	size_t i = 0;

	for (;;) {
		uint32_t code = 0;
		size_t step;

		i += safe_text_ascii_len(s + i, len - i);
		if (i == len)
			break;
		step = utf8_next(s + i, len - i, &code);
		if (!step || utf8_is_control(code) || (!utf8 && step > 1))
			break;
		i += step;
	}
	return i;
}

void safe_text_put(struct buf *out, const char *text, size_t len, bool utf8)
{
	while (len) {
		char escaped[ESCAPED_BYTES];
		size_t plain = safe_text_len(text, len, utf8);

		buf_put(out, text, plain);
		text += plain;
		len -= plain;
		if (len) {
			size_t step = escape_next(escaped, text, len);

			buf_put(out, escaped, strlen(escaped));
			text += step;
			len -= step;
		}
	}
}

/* Returns where to truncate a text so that its last character stays whole. */
static size_t whole_len(const char *text, size_t len, size_t room)
{
	size_t cut = len < room ? len : room;

	while (cut && cut < len && ((uint8_t)text[cut] & 0xc0) == 0x80)
		cut--;
	return cut;
}

size_t safe_text_copy(char *out, size_t room, const char *text, bool lines)
{
	size_t left = strlen(text);
	size_t used = 0;

	while (left) {
		char escaped[ESCAPED_BYTES] = "\n";
		size_t plain = safe_text_len(text, left, true);
		size_t fits = whole_len(text, plain, room - 1 - used);
		size_t step = 1;

		memcpy(out + used, text, fits);
		used += fits;
		text += plain;
		left -= plain;
		if (fits < plain || !left)
			break;
		if (!lines || *text != '\n')
			step = escape_next(escaped, text, left);
		if (strlen(escaped) >= room - used)
			break;
		memcpy(out + used, escaped, strlen(escaped));
		used += strlen(escaped);
		text += step;
		left -= step;
	}
	out[used] = '\0';
	return used;
}

bool safe_text_mask(char *text, size_t len, char mask)
{
	size_t at = safe_text_len(text, len, true);
	bool changed = at < len;

	while (at < len) {
		size_t step = utf8_next(text + at, len - at, NULL);

		step = step ? step : 1;
		memset(text + at, mask, step);
		at += step;
		at += safe_text_len(text + at, len - at, true);
	}
	return changed;
}

bool safe_text_has_lines(const char *format)
{
	return strchr(format, '\n') || !strcmp(format, "%s");
}
