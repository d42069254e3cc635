/* source_text.h - lines of sources by number, for listings that jump about in them.
 * Layer: present.  Files are read when they are first asked for, and stay open, a few at a time. */
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
	FILE *file;           /* NULL: it cannot be shown */
	VEC(off_t) lines;     /* where each begins, and the end */
	uint32_t max_printed; /* the highest line that was shown */
	uint64_t used;        /* turn */
};

struct source_texts {
	VEC(struct source_text) all;
	uint64_t turn;
	FILE *(*open_source)(void *ctx, const char *path);
	void *ctx;
	char *line;
	size_t cap;
};

void source_texts_done(struct source_texts *t);
/* The source at `path`, borrowed until the next call; NULL when memory is short. */
struct source_text *source_texts_find(struct source_texts *t, const char *path);
/* A line without its end, NULL if there is none; borrowed until the next call. */
const char *source_texts_line(struct source_texts *t, struct source_text *of,
			      uint32_t line, size_t *ret_len);
/* Forgets which lines were shown. */
void source_texts_begin(struct source_texts *t);
/* The length of a line without its end, "\n" or "\r\n". */
size_t source_line_len(const char *text, size_t len);
