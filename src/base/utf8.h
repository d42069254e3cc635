/* SPDX-License-Identifier: GPL-2.0-or-later */
/* utf8.h - characters of UTF-8 text, and the room that they take on a terminal.
 * Layer: base.  Independent of the locale, so that results are the same everywhere. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of the character at `bytes`, and the character itself if ret_code is not NULL;
 * 0 if these bytes are no UTF-8 (table 3-7 of the Unicode standard: no overlong forms, no
 * surrogates, nothing above U+10FFFF).  `left` is at least 1. */
size_t utf8_next(const void *bytes, size_t left, uint32_t *ret_code);
/* How many of the bytes in front are whole characters. */
size_t utf8_valid_len(const void *bytes, size_t len);
/* Columns on a terminal: 0 (it combines with the one before it), 1 or 2. */
unsigned int utf8_columns(uint32_t code);
/* Whether it does something to a terminal or to the order of what is shown, instead of being
 * shown: C0, DEL, C1, line separators, marks and overrides of the direction. */
bool utf8_is_control(uint32_t code);
