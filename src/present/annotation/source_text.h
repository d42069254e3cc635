/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_text.h - random access to lines of sources by number, for listings.
 * Layer: present.  Files are read on first use; up to SOURCE_TEXTS_OPEN stay open. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/containers/vec.h"

enum {
	SOURCE_TEXTS_OPEN = 16
};

struct source_text {
	char *path;
	FILE *file;           /* NULL: not available */
	VEC(off_t) lines;     /* offset of each line, and of the end */
	uint32_t max_printed; /* the highest line that was shown */
	uint64_t used;        /* time of last use, for LRU */
};

struct source_texts {
	VEC(struct source_text) all;
	uint64_t clock;
	FILE *(*open_source)(void *ctx, const char *path);
	void *ctx;
	char *line;
	size_t cap;
};

void source_texts_done(struct source_texts *t);
/* Returns the source at `path`, valid until the next call; NULL if memory is short. */
struct source_text *source_texts_find(struct source_texts *t, const char *path);
/* Returns a line without its line end, or NULL if there is no such line; valid until the next
 * call. */
const char *source_texts_line(struct source_texts *t, struct source_text *of,
			      uint32_t line, size_t *ret_len);
/* Forgets which lines were shown, so that they can be shown again. */
void source_texts_begin(struct source_texts *t);
/* Returns the length of a line without its line end, "\n" or "\r\n". */
size_t source_line_len(const char *text, size_t len);
