/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parse.h - strict parsing: the whole word must be a number. Functions that return bool return
 * false, and leave the result unchanged, for anything else.
 * Layer: base. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses a decimal number, or hexadecimal after 0x. Returns false and leaves *ret_v unchanged
 * if the word is empty, contains anything else or does not fit. */
bool parse_u64(const char *s, uint64_t *ret_v);
/* Like parse_u64(), with the range 0..max. */
bool parse_u64_max(const char *s, uint64_t max, uint64_t *ret_v);
/* Parses a decimal fraction such as 0.5 (C locale), finite and not negative. Returns false if `s`
 * is not such a number. */
bool parse_double(const char *s, double *ret_v);
/* Parses 1 to 16 hex digits at *s and moves *s past them. Returns false if *s has no digit. */
bool parse_hex_at(const char **s, uint64_t *ret_v);
/* Parses "path:12", a line of a source file. Returns the length of the path and stores the line
 * number. Returns 0 if the text does not have this form. A line number of 0 means that there is no
 * line. */
size_t parse_source_position(const char *s, uint32_t *ret_line);
/* Parses a number with a unit (ns, us, ms, s, m, min or h; without: seconds), such as "250ms" or
 * "1.5s", to nanoseconds. Returns false if `s` does not have this form, or the duration is too
 * large. */
bool parse_duration_ns(const char *s, uint64_t *ret_ns);
