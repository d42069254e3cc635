/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json_walk.h - walks once through a JSON text and delivers the values at given paths.
 * Layer: format.  The text is never stored as a tree: memory depends on the depth of the text
 * and on its longest string with escapes, and is limited to JSON_WALK_BYTES_MAX.
 *
 * A path consists of the names of members, separated by "/"; "*" is any element of an array,
 * and the empty path is the whole text. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/foreign/foreign.h"

struct err;

enum {
	JSON_WALK_PATHS_MAX = 64,
	JSON_WALK_DEPTH_MAX = 1 << 14,
	JSON_WALK_BYTES_MAX = 64 << 20
};

enum json_kind {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_BEGIN, /* the beginning of an object or an array */
	JSON_END    /* the end of an object or an array */
};

struct json_value {
	enum json_kind kind;
	/* A string without its escapes, or the digits of a number.  It is borrowed until the
	 * callback returns. */
	struct foreign_word text;
};

/* Receives a value. `at` is the index of the path that it matches; a value that matches several
 * paths is delivered once for each. Returns 0, or a negative errno to stop. */
typedef int (*json_walk_fn)(void *ctx, size_t at, const struct json_value *value);

struct json_walk_paths {
	const char *const *paths;
	size_t nr; /* number of paths, at most JSON_WALK_PATHS_MAX */
	/* info->passed() reports the progress; may be NULL. */
	const struct foreign_info *info;
};

/* Walks through `text` and calls `fn` for each value at one of the paths. Returns 0; 1 if the text
 * ends too early; -EBADMSG if it is not JSON, -E2BIG if it exceeds a limit, and -EOPNOTSUPP in a
 * build without yajl, each with a message in *err; -ENOMEM; or the error of `fn`. */
int json_walk(struct foreign_word text, const struct json_walk_paths *paths,
	      json_walk_fn fn, void *ctx, struct err *err);
/* Returns the version of yajl, or NULL in a build without it. */
const char *json_walk_version(void);

/* Sets *ret_v to the number times 10^digits, rounded.  Returns false if it is not a number or does
 * not fit. */
bool json_value_scaled(const struct json_value *value, unsigned int digits,
		       int64_t *ret_v);
/* Splits the number times 10^digits into an integer and a fraction (in millionths, never
 * negative). The integer has the sign of the number. Returns false if the value is not a number
 * or does not fit. */
bool json_value_split(const struct json_value *value, unsigned int digits,
		      int64_t *ret_whole, uint32_t *ret_millionths);
/* Returns false if the value is not an integer, or does not fit. */
bool json_value_u32(const struct json_value *value, uint32_t *ret_v);
