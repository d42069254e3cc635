/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/shell_word.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

static bool shell_word_is_plain(const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	return *word && strspn(word, plain) == strlen(word);
}

/* Puts the argument in single quotes. A single quote in it is written outside of them as \'. */
void shell_word_put(struct buf *out, const char *word)
{
	if (shell_word_is_plain(word)) {
		buf_put(out, word, strlen(word));
		return;
	}
	buf_put_u8(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_put(out, "'\\''", 4);
		else
			buf_put_u8(out, (uint8_t)*word);
	}
	buf_put_u8(out, '\'');
}
