/* SPDX-License-Identifier: GPL-2.0-or-later */
/* safe_text.h - escapes text, so that names in it cannot control a terminal or start a new line.
 * Layer: base. Names in a profile are untrusted: any user can choose them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Returns how many leading bytes can be printed unchanged: UTF-8 without control characters, or
 * only ASCII if `utf8` is false. */
size_t safe_text_len(const void *text, size_t len, bool utf8);
/* Appends `text`. Control characters, invalid UTF-8 and, if `utf8` is false, everything beyond
 * ASCII are escaped as \n, \t or \xNN. */
void safe_text_put(struct buf *out, const char *text, size_t len, bool utf8);
/* Like safe_text_put(), but writes to `out`, always NUL-terminated. Truncates to `room` bytes (at
 * least 1) at a character boundary. If `lines`, newlines are kept. Returns the length. */
size_t safe_text_copy(char *out, size_t room, const char *text, bool lines);
/* Replaces each byte that safe_text_put() would escape by `mask`, for formats of other tools
 * that lack escapes. Returns true if it replaced any. */
bool safe_text_mask(char *text, size_t len, char mask);
/* Returns whether messages of this printf() format may keep newlines: the format itself contains
 * newlines, or it is "%s", which is used for the text of an err, which is already safe. */
bool safe_text_has_lines(const char *format);
