/* json.h - a streaming writer of JSON (RFC 8259).
 * Layer: present.  Commas and nesting are kept by the writer; text that is not UTF-8 gets
 * U+FFFD for each bad byte. */
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
	bool filled[JSON_MAX_DEPTH]; /* something stands at this level already */
	bool after_name;
};

void json_begin_object(struct json *j);
void json_end_object(struct json *j);
void json_begin_array(struct json *j);
void json_end_array(struct json *j);
/* The name of the member whose value follows. */
void json_name(struct json *j, const char *name);
void json_text(struct json *j, const char *text);
void json_text_len(struct json *j, const char *text, size_t len);
void json_u64(struct json *j, uint64_t value);
/* A member and its value. */
void json_member_text(struct json *j, const char *name, const char *text);
void json_member_u64(struct json *j, const char *name, uint64_t value);
/* A number that is already in JSON's form. */
void json_number(struct json *j, const char *digits);
void json_bool(struct json *j, bool value);
/* Arrays of many numbers, of which JSON_NONE is written as `none`, "null" or the like; and of one
 * value again and again. */
void json_u32s(struct json *j, const uint32_t *at, size_t nr, const char *none);
void json_u64s(struct json *j, const uint64_t *at, size_t nr);
void json_repeated(struct json *j, const char *value, size_t nr);
/* An array of many values that were made elsewhere, one after the other; nothing else is written
 * meanwhile. */
struct json_row {
	struct json *j;
	size_t len;
	char bytes[JSON_ROW_BYTES];
};
void json_begin_row(struct json_row *r, struct json *j);
void json_put_in_row(struct json_row *r, const void *bytes, size_t len);
void json_end_row(struct json_row *r);
/* A value that was made elsewhere. */
void json_raw(struct json *j, const void *bytes, size_t len);
/* Appends a text as JSON has it, for such values. */
void json_put_string(struct buf *out, const char *text, size_t len);
