/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.h - a streaming writer of JSON (RFC 8259).
 * Layer: present.  The writer tracks commas and nesting, and replaces each byte that is not
 * valid UTF-8 with U+FFFD. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buf;

enum {
	JSON_MAX_DEPTH = 16,
	JSON_ROW_BYTES = 4096,
	JSON_NONE = 0xffffffff
};

struct json {
	FILE *out;
	unsigned int depth;
	bool filled[JSON_MAX_DEPTH]; /* this level already has a value */
	bool after_name;
};

void json_begin_object(struct json *j);
void json_end_object(struct json *j);
void json_begin_array(struct json *j);
void json_end_array(struct json *j);
/* Writes the name of the member whose value follows. */
void json_name(struct json *j, const char *name);
void json_name_len(struct json *j, const char *name, size_t len);
void json_text(struct json *j, const char *text);
void json_text_len(struct json *j, const char *text, size_t len);
void json_u64(struct json *j, uint64_t value);
/* Writes a member's name and value. */
void json_member_text(struct json *j, const char *name, const char *text);
void json_member_u64(struct json *j, const char *name, uint64_t value);
/* Writes a number that is already formatted as JSON. */
void json_number(struct json *j, const char *digits);
void json_bool(struct json *j, bool value);
/* Write arrays of many numbers, or of the same value repeated.  JSON_NONE is written as `none`,
 * which is "null" or similar. */
void json_u32s(struct json *j, const uint32_t *at, size_t nr, const char *none);
void json_u64s(struct json *j, const uint64_t *at, size_t nr);
void json_repeated(struct json *j, const char *value, size_t nr);
/* Writes an array of many preformatted values one by one.  Do not write anything else to `j`
 * between json_begin_row() and json_end_row(). */
struct json_row {
	struct json *j;
	size_t len;
	char bytes[JSON_ROW_BYTES];
};
void json_begin_row(struct json_row *r, struct json *j);
void json_put_in_row(struct json_row *r, const void *bytes, size_t len);
void json_end_row(struct json_row *r);
/* Writes a preformatted value. */
void json_raw(struct json *j, const void *bytes, size_t len);
/* Appends a text as a JSON string, for use with the functions above. */
void json_put_string(struct buf *out, const char *text, size_t len);
