/* SPDX-License-Identifier: GPL-2.0-or-later */
/* utf8.h - the characters of UTF-8 text and their width on a terminal.
 * Layer: base.  Independent of the locale, so that results are the same everywhere. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the length in bytes of the character at `bytes`, and stores its code point in *ret_code
 * unless that is NULL. Returns 0 if the bytes are not UTF-8 (table 3-7 of the Unicode standard: no
 * overlong forms, no surrogates, nothing above U+10FFFF). `left` is the number of bytes, at least
 * 1. */
size_t utf8_next(const void *bytes, size_t left, uint32_t *ret_code);
/* Returns how many leading bytes form valid characters. */
size_t utf8_valid_len(const void *bytes, size_t len);
/* Returns how many columns the character occupies on a terminal: 0 (it combines with the previous
 * one), 1 or 2. */
unsigned int utf8_columns(uint32_t code);
/* Returns true for characters that control the terminal or the order of the text instead of
 * being shown: C0, DEL, C1, line separators, direction marks and overrides. */
bool utf8_is_control(uint32_t code);
