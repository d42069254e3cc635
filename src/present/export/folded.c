/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folded.c - writes one line per stack, "command;outermost;...;innermost SAMPLES", like
 * stackcollapse-perf.pl for flame graphs.  The profile's keys are comm and stack. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "base/safe_text.h"
#include "present/export/export_writers.h"
#include "present/lines/options.h"

struct folded {
	char **lines;
	size_t nr;
};

static int write_folded_compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Replaces the blanks in a command's name, as stackcollapse-perf.pl does, because some readers end
 * the stack at a blank. */
static void put_comm(struct buf *b, const char *comm)
{
	size_t from = b->len;

	for (; *comm; comm++)
		buf_put_u8(b, *comm == ';' ? ':' : *comm == ' ' ? '_' : (uint8_t)*comm);
	if (!b->failed)
		safe_text_mask((char *)b->data + from, b->len - from, '_');
}

/* Returns a malloc'd line; NULL if memory is short. */
static char *make_line(struct profile *p, const struct profile_row *row, size_t comm,
		       size_t stack)
{
	struct buf b = { 0 };
	const char *text = profile_text(p, row->group, stack);

	put_comm(&b, profile_text(p, row->group, comm));
	buf_put_u8(&b, ';');
	buf_put(&b, text, strlen(text));
	buf_put_u8(&b, ' ');
	buf_put_decimal(&b, row->samples);
	buf_put_u8(&b, '\n');
	buf_put_u8(&b, 0);
	if (b.failed) {
		buf_done(&b);
		return NULL;
	}
	return (char *)b.data;
}

static int write_folded_make_lines(struct profile *p, struct folded *f)
{
	size_t comm = (size_t)keys_find(p->options.keys, KEY_COMM);
	size_t stack = (size_t)keys_find(p->options.keys, KEY_STACK);

	f->lines = calloc(p->rows.nr + 1, sizeof(*f->lines));
	if (!f->lines)
		return -ENOMEM;
	for (size_t i = 0; i < p->rows.nr; i++) {
		if (!p->rows.at[i].samples)
			continue;
		f->lines[f->nr] = make_line(p, &p->rows.at[i], comm, stack);
		if (!f->lines[f->nr])
			return -ENOMEM;
		f->nr++;
	}
	qsort(f->lines, f->nr, sizeof(*f->lines), write_folded_compare_lines);
	return 0;
}

int write_folded(FILE *out, struct profile *p, const struct present_options *options,
		 struct err *err)
{
	struct folded f = { 0 };
	int r = present_needs_one_event(p, "a folded stack", err);

	(void)options;
	if (r)
		return r;
	r = write_folded_make_lines(p, &f);
	for (size_t i = 0; !r && i < f.nr; i++)
		fputs(f.lines[i], out);
	for (size_t i = 0; f.lines && i < f.nr; i++)
		free(f.lines[i]);
	free(f.lines);
	return r ? err_set(err, r, "out of memory") : 0;
}
