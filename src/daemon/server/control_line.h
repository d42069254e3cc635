/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_line.h - the lines that oprofiled and its clients exchange.
 * Layer: daemon.  A line is words separated by single spaces and ends with a newline.  In a word,
 * %XX encodes a byte that would otherwise end it.  Input is not trusted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum {
	CONTROL_LINE_MAX = 4096 /* bytes, with the newline */
};

/* Received bytes that are not consumed yet; starts as zeros. */
struct control_lines {
	struct buf bytes;
	size_t taken; /* bytes already consumed */
};

/* Appends `text` as one word: space, '%', control bytes and DEL become %XX.  An empty word
 * cannot be sent: it becomes a lone '%', which control_unescape() makes empty again. */
void control_put_word(struct buf *out, const char *text);
/* Appends `text` as the rest of a line: encoded like a word, but spaces stay. */
void control_put_value(struct buf *out, const char *text);
/* Decodes a word or a value in place.  Returns 0, or -EBADMSG for a '%' without two hex digits or
 * %00. */
int control_unescape(char *text);
/* Splits a line in place into at most `max` decoded words and returns their number.  Returns
 * -EBADMSG as control_unescape() does or for an empty word (two spaces), -E2BIG if there are more
 * words. */
int control_split(char *line, char **ret_words, size_t max);

/* Appends bytes that were read from the peer.  Returns 0 or -ENOMEM. */
int control_lines_add(struct control_lines *l, const void *bytes, size_t len);
/* Returns the next complete line without its newline, borrowed until the next control_lines_ call.
 * Returns 1, 0 if no line is complete yet, -E2BIG (longer than CONTROL_LINE_MAX) or -EBADMSG (it
 * contains a 0 byte); after an error, stop reading from the peer. */
int control_lines_next(struct control_lines *l, char **ret_line);
void control_lines_done(struct control_lines *l);
