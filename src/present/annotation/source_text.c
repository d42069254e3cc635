/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/annotation/source_text.h"
#include "base/files/faults.h"

#include <stdlib.h>
#include <string.h>

static void close_one(struct source_text *s)
{
	if (s->file)
		fclose(s->file);
	vec_done(&s->lines);
	free(s->path);
	*s = (struct source_text){ 0 };
}

void source_texts_done(struct source_texts *t)
{
	for (size_t i = 0; i < t->all.nr; i++)
		close_one(&t->all.at[i]);
	vec_done(&t->all);
	free(t->line);
	t->line = NULL;
}

void source_texts_begin(struct source_texts *t)
{
	for (size_t i = 0; i < t->all.nr; i++)
		t->all.at[i].max_printed = 0;
}

static bool index_lines(struct source_texts *t, struct source_text *s)
{
	off_t at = 0;
	ssize_t len;

	if (!s->file)
		return true;
	while ((len = getline(&t->line, &t->cap, s->file)) >= 0) {
		if (!vec_push(&s->lines, at))
			return false;
		at += len;
	}
	fault_unreadable_stream(s->file);
	return vec_push(&s->lines, at);
}

/* Returns a slot for a new source; if all are in use, closes the least recently used one. */
static struct source_text *new_one(struct source_texts *t)
{
	size_t oldest = 0;

	if (t->all.nr < SOURCE_TEXTS_OPEN)
		return vec_push(&t->all, ((struct source_text){ 0 }))
			       ? &t->all.at[t->all.nr - 1]
			       : NULL;
	for (size_t i = 1; i < t->all.nr; i++)
		if (t->all.at[i].used < t->all.at[oldest].used)
			oldest = i;
	close_one(&t->all.at[oldest]);
	return &t->all.at[oldest];
}

struct source_text *source_texts_find(struct source_texts *t, const char *path)
{
	struct source_text *s;

	for (size_t i = 0; i < t->all.nr; i++) {
		s = &t->all.at[i];
		if (s->path && !strcmp(s->path, path)) {
			s->used = ++t->clock;
			return s;
		}
	}
	s = new_one(t);
	if (!s)
		return NULL;
	s->path = strdup(path);
	s->file = t->open_source(t->ctx, path);
	s->used = ++t->clock;
	if (s->path && index_lines(t, s))
		return s;
	close_one(s);
	return NULL;
}

const char *source_texts_line(struct source_texts *t, struct source_text *of,
			      uint32_t line, size_t *ret_len)
{
	ssize_t len;

	if (!of->file || !line || line >= of->lines.nr ||
	    fseeko(of->file, of->lines.at[line - 1], SEEK_SET))
		return NULL;
	len = getline(&t->line, &t->cap, of->file);
	if (len < 0) {
		fault_unreadable_stream(of->file);
		return NULL;
	}
	*ret_len = source_line_len(t->line, (size_t)len);
	return t->line;
}

size_t source_line_len(const char *text, size_t len)
{
	if (len && text[len - 1] == '\n')
		len--;
	if (len && text[len - 1] == '\r')
		len--;
	return len;
}
