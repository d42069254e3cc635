/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/control_line.h"

#include <errno.h>
#include <string.h>

static void control_line_put_escaped(struct buf *out, const char *text,
				     unsigned char first_plain)
{
	static const char digits[] = "0123456789ABCDEF";

	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at >= first_plain && *at != '%' && *at != 0x7f) {
			buf_put_u8(out, *at);
			continue;
		}
		buf_put_u8(out, '%');
		buf_put_u8(out, (uint8_t)digits[*at >> 4]);
		buf_put_u8(out, (uint8_t)digits[*at & 15]);
	}
}

void control_put_word(struct buf *out, const char *text)
{
	if (*text)
		control_line_put_escaped(out, text, ' ' + 1);
	else
		buf_put_u8(out, '%');
}

void control_put_value(struct buf *out, const char *text)
{
	control_line_put_escaped(out, text, ' ');
}

static int control_line_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int control_unescape(char *text)
{
	char *to = text;

	if (!strcmp(text, "%")) {
		*text = 0;
		return 0;
	}
	for (const char *at = text; *at; at++) {
		int high, low;

		if (*at != '%') {
			*to++ = *at;
			continue;
		}
		high = control_line_hex_digit(at[1]);
		low = high < 0 ? -1 : control_line_hex_digit(at[2]);
		if (low < 0 || !(high | low))
			return -EBADMSG;
		*to++ = (char)(high << 4 | low);
		at += 2;
	}
	*to = 0;
	return 0;
}

int control_split(char *line, char **ret_words, size_t max)
{
	size_t nr = 0;

	while (*line) {
		size_t len = strcspn(line, " ");
		bool last = !line[len];

		if (nr == max)
			return -E2BIG;
		if (!len || (!last && !line[len + 1]))
			return -EBADMSG;
		line[len] = 0;
		ret_words[nr++] = line;
		if (control_unescape(line))
			return -EBADMSG;
		line += len + !last;
	}
	return (int)nr;
}

int control_lines_add(struct control_lines *l, const void *bytes, size_t len)
{
	struct buf *b = &l->bytes;

	if (l->taken) {
		memmove(b->data, b->data + l->taken, b->len - l->taken);
		b->len -= l->taken;
		l->taken = 0;
	}
	buf_put(b, bytes, len);
	return b->failed ? -ENOMEM : 0;
}

int control_lines_next(struct control_lines *l, char **ret_line)
{
	size_t left = l->bytes.len - l->taken;
	char *line, *end;

	if (!left)
		return 0;
	line = (char *)l->bytes.data + l->taken;
	end = memchr(line, '\n', left < CONTROL_LINE_MAX ? left : CONTROL_LINE_MAX);
	if (!end)
		return left < CONTROL_LINE_MAX ? 0 : -E2BIG;
	if (memchr(line, 0, (size_t)(end - line)))
		return -EBADMSG;
	*end = 0;
	l->taken += (size_t)(end - line) + 1;
	*ret_line = line;
	return 1;
}

void control_lines_done(struct control_lines *l)
{
	buf_done(&l->bytes);
	*l = (struct control_lines){ 0 };
}
