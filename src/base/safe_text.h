/* SPDX-License-Identifier: GPL-2.0-or-later */
/* safe_text.h - text in which no name can command a terminal or begin a line.
 * Layer: base.  Names in a profile are untrusted: any user can choose them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct buf;

/* How many leading bytes can be shown as they are: UTF-8 without control characters, or only
 * ASCII without `utf8`. */
size_t safe_text_len(const void *text, size_t len, bool utf8);
/* Appends `text` with control characters, bytes that are not UTF-8 and, without `utf8`, all
 * beyond ASCII as \n, \t or \xNN. */
void safe_text_put(struct buf *out, const char *text, size_t len, bool utf8);
/* The same into `out`, always terminated; what does not fit in `room` bytes (at least 1) is left
 * out, by whole characters.  With `lines`, line ends stay.  Returns the length. */
size_t safe_text_copy(char *out, size_t room, const char *text, bool lines);
/* Replaces each byte that safe_text_put() would escape by `mask`, for formats of other tools that
 * have no escapes.  Returns whether there was one. */
bool safe_text_mask(char *text, size_t len, char mask);
/* Whether a message of this printf() format can have several lines: the format has line ends, or
 * it is "%s", which passes on the text of an err, that is safe already. */
bool safe_text_has_lines(const char *format);
