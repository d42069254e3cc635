/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_line.h - the lines that oprofiled and those who ask it send each other.
 * Layer: daemon.  A line is words with one space between them and ends with a newline; in a
 * word %XX stands for a byte that would end it.  Nothing that comes in is trusted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum {
	CONTROL_LINE_MAX = 4096 /* bytes, with the newline */
};

/* What was received and not yet taken; starts as zeros. */
struct control_lines {
	struct buf bytes;
	size_t taken; /* of them */
};

/* Appends `text` as one word: space, '%', control bytes and DEL become %XX.  An empty word
 * cannot be sent: it becomes a lone '%', which control_unescape() makes empty again. */
void control_put_word(struct buf *out, const char *text);
/* Appends `text` as the rest of a line: as a word, but spaces stay. */
void control_put_value(struct buf *out, const char *text);
/* Undoes both, in place.  0, or -EBADMSG: a '%' without two hex digits, or %00. */
int control_unescape(char *text);
/* Cuts a line into at most `max` words, in place and unescaped; returns how many.  -EBADMSG: as
 * control_unescape(), or a word is empty (two spaces); -E2BIG: there are more. */
int control_split(char *line, char **ret_words, size_t max);

/* Takes over what was read from the peer.  0 or -ENOMEM. */
int control_lines_add(struct control_lines *l, const void *bytes, size_t len);
/* The next whole line, without its newline, borrowed until the next call of either.  1, 0 if
 * none is whole yet, -E2BIG (longer than CONTROL_LINE_MAX) or -EBADMSG (a byte of it is 0): the
 * peer is not worth another read. */
int control_lines_next(struct control_lines *l, char **ret_line);
void control_lines_done(struct control_lines *l);
