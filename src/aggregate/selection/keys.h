/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keys.h - the keys that a report can be grouped by: the table for `--by KEY[,KEY...]`.
 * Layer: aggregate. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct err;

enum key_id {
	KEY_EVENT,
	KEY_COMM,
	KEY_PID,
	KEY_TID,
	KEY_CPU,
	KEY_IMAGE,
	KEY_APP,
	KEY_SYMBOL,
	KEY_ORIGIN,
	KEY_ADDRESS,
	KEY_CGROUP,
	KEY_SESSION,
	KEY_HOST,
	KEY_TIME,
	KEY_LINE,
	KEY_FILE,
	KEY_INLINE,
	KEY_FUNCTION_LINE,
	KEY_STACK,
	KEY_ID_COUNT
};

enum key_kind {
	KEY_TEXT,    /* value: number of a string */
	KEY_INTEGER, /* value: int64_t */
	KEY_HEX,     /* value: an address */
	KEY_TIMES    /* value: nanoseconds since the session began */
};

/* The data of a sample that a key needs. */
enum {
	NEED_APP = 1, /* this and the next four: of the thread */
	NEED_COMM = 2,
	NEED_PID = 4,
	NEED_TID = 8,
	NEED_CGROUP = 16,
	NEED_IMAGE = 32, /* this and the next two: of the leaf frame */
	NEED_FUNCTION = 64,
	NEED_ADDRESS = 128,
	NEED_CPU = 256,
	NEED_TIME = 512,
	NEED_QUALITY = 1024, /* idle, exiting or truncated */
	NEED_LINES = 2048,   /* debug information */
	NEED_STACK = 4096,   /* the callers */
};

struct key_row {
	const char *name;
	const char *help;
	const char *refusal; /* why it is not available yet, or NULL */
	enum key_id id;
	enum key_kind kind;
	unsigned int needs;
};

struct key {
	const struct key_row *row;
	char *typed;       /* the user's spelling: the column's name in CSV and JSON */
	uint64_t width_ns; /* of KEY_TIME */
	bool implied;      /* added by keys_mark_symbols() */
};

struct key_list {
	VEC(struct key) keys;
};

/* One row per name of a key, because a key can have several; `name` NULL ends the table. */
extern const struct key_row key_rows[];

/* Parses and appends a comma-separated list.  Returns 0, -EINVAL with a one-line message in `err`,
 * or -ENOMEM. */
int keys_parse(struct key_list *list, const char *text, struct err *err);
/* Inserts KEY_ORIGIN before KEY_SYMBOL unless it is already a key, so that a table can show each
 * function with its origin like perf.  Returns 0 or -ENOMEM. */
int keys_mark_symbols(struct key_list *list);
/* Removes all keys but the first `nr`. */
void keys_truncate(struct key_list *list, size_t nr);
void keys_done(struct key_list *list);
/* Returns the index of the key in the list, or -1. */
int keys_find(const struct key_list *list, enum key_id id);
