/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parse.h - numbers from text, strictly: the whole word or nothing.
 * Layer: base. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal, or hexadecimal behind 0x.  False if the word is empty, has anything else in it
 * or does not fit; *ret_v is then untouched. */
bool parse_u64(const char *s, uint64_t *ret_v);
/* As parse_u64(), and within 0..max. */
bool parse_u64_max(const char *s, uint64_t max, uint64_t *ret_v);
/* A decimal fraction such as 0.5, C locale, finite and not negative. */
bool parse_double(const char *s, double *ret_v);
/* Hex digits at *s, 1 to 16 of them; moves *s behind them.  False if there is none. */
bool parse_hex_at(const char **s, uint64_t *ret_v);
/* "path:12" of a source: the length of its path, and its line (0: it has none).  0: it is no such
 * text. */
size_t parse_source_place(const char *s, uint32_t *ret_line);
/* "250ms", "1.5s", "2m", "3h", or plain seconds; result in nanoseconds. */
bool parse_duration_ns(const char *s, uint64_t *ret_ns);
