/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/diff/notes.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "compare/comparison.h"

/* A common change of all shares that is smaller than this causes no note. */
static const double common_least = 0.01;

void diff_notes_done(struct diff_notes *n)
{
	for (size_t i = 0; i < n->texts.nr; i++)
		free(n->texts.at[i]);
	vec_done(&n->texts);
}

static int add_note(struct diff_notes *n, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int add_note(struct diff_notes *n, const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return -ENOMEM;
	if (vec_push(&n->texts, text))
		return 0;
	free(text);
	return -ENOMEM;
}

/* A property of recordings that can explain a difference, as text. */
struct factor {
	const char *name;
	char *(*text)(const struct comparison *c, const struct run_facts *facts);
};

static char *text_or_null(const struct comparison *c, uint32_t string)
{
	return string ? strdup(strtab_get(&c->strings, string)) : NULL;
}

static char *host_text(const struct comparison *c, const struct run_facts *facts)
{
	return text_or_null(c, facts->hostname);
}

static char *kernel_text(const struct comparison *c, const struct run_facts *facts)
{
	return text_or_null(c, facts->os_release);
}

static char *cpu_text(const struct comparison *c, const struct run_facts *facts)
{
	return text_or_null(c, facts->cpu_desc);
}

static char *event_text(const struct comparison *c, const struct run_facts *facts)
{
	return text_or_null(c, facts->event);
}

static char *rate_text(const struct comparison *c, const struct run_facts *facts)
{
	char *text = NULL;
	int len = 0;

	(void)c;
	if (facts->hz)
		len = asprintf(&text, "%" PRIu64 " Hz", facts->hz);
	else if (facts->count > 1)
		len = asprintf(&text, "every %" PRIu64, facts->count);
	return len < 0 ? NULL : text;
}

/* Appends the side of a run, unless all runs are a series. */
static void note_side(struct buf *list, const struct comparison *c,
		      enum compare_side side)
{
	const char *text = side == SIDE_BASE ? " (base)" : " (new)";

	if (c->nr_runs[SIDE_BASE])
		buf_put(list, text, strlen(text));
}

/* Adds a note if the runs differ in a factor. The note lists the distinct values, in order of the
 * runs; unknown values are ignored. */
static int note_factor(const struct comparison *c, const struct factor *factor,
		       struct diff_notes *n)
{
	VEC(char *) seen = { 0 };
	struct buf list = { 0 };
	int r = 0;

	for (size_t i = 0; !r && i < c->runs.nr; i++) {
		char *text = factor->text(c, &c->runs.at[i].facts);
		bool known = !text;

		for (size_t j = 0; !known && j < seen.nr; j++)
			known = !strcmp(seen.at[j], text);
		if (known) {
			free(text);
			continue;
		}
		buf_put(&list, seen.nr ? ", '" : "'", seen.nr ? 3 : 1);
		buf_put(&list, text, strlen(text));
		buf_put_u8(&list, '\'');
		note_side(&list, c, c->runs.at[i].side);
		if (!vec_push(&seen, text)) {
			free(text);
			r = -ENOMEM;
		}
	}
	buf_put_u8(&list, '\0');
	if (list.failed)
		r = -ENOMEM;
	if (!r && seen.nr > 1)
		r = add_note(n, "the recordings differ in the %s: %s", factor->name,
			     (const char *)list.data);
	for (size_t i = 0; i < seen.nr; i++)
		free(seen.at[i]);
	vec_done(&seen);
	buf_done(&list);
	return r;
}

static int note_factors(const struct comparison *c, struct diff_notes *n)
{
	static const struct factor factors[] = {
		{ "event", event_text },   { "sampling rate", rate_text },
		{ "CPU model", cpu_text }, { "kernel", kernel_text },
		{ "host", host_text },
	};
	int r = 0;

	for (size_t i = 0; !r && i < COUNT_OF(factors); i++)
		r = note_factor(c, &factors[i], n);
	return r;
}

static int note_runs(const struct comparison *c, struct diff_notes *n)
{
	const bool one[COMPARE_SIDES] = { c->nr_runs[SIDE_BASE] == 1,
					  c->nr_runs[SIDE_NEW] == 1 };

	if (one[SIDE_BASE] && one[SIDE_NEW])
		return add_note(
			n,
			"one run on each side: how much runs differ is unknown, so intervals and verdicts cover only the sampling noise of these two runs; record 3 to 5 runs of each side");
	if (one[SIDE_BASE] || one[SIDE_NEW])
		return add_note(
			n,
			"one run on the %s side: it is assumed to vary as the runs of the other side do",
			one[SIDE_BASE] ? "base" : "new");
	return 0;
}

/* Adds a note if a run has less than two blocks: its samples are then treated as independent. */
static int note_blocks(const struct comparison *c, struct diff_notes *n)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->runs.nr; i++)
		nr += c->runs.at[i].blocks.nr < 2;
	if (!nr)
		return 0;
	return add_note(
		n,
		"%zu of %zu runs have no times: their samples count as independent, so intervals are too narrow if samples come in bursts",
		nr, c->runs.nr);
}

static const char *file_name(const struct comparison *c, uint32_t path)
{
	const char *name = strtab_get(&c->strings, path);
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static int note_renamed(const struct comparison *c, struct diff_notes *n)
{
	int r = 0;

	for (size_t i = 0; !r && i < c->images.nr; i++) {
		const uint32_t *names = c->images.at[i].names;
		const char *old = file_name(c, names[SIDE_BASE]);
		const char *new = file_name(c, names[SIDE_NEW]);

		if (names[SIDE_BASE] && names[SIDE_NEW] && strcmp(old, new) != 0)
			r = add_note(n, "'%s' is compared with '%s'", new, old);
	}
	return r;
}

static int note_common(const struct comparison *c, struct diff_notes *n)
{
	const double change = c->common - 1;

	if (fabs(change) < common_least)
		return 0;
	return add_note(
		n,
		"the shares of most rows are %.1f %% %s on the new side, because others changed; rows that only follow that are noise",
		100 * fabs(change), change > 0 ? "larger" : "smaller");
}

int diff_notes_make(const struct comparison *c, struct diff_notes *ret_notes)
{
	int r = note_factors(c, ret_notes);

	if (!r)
		r = note_runs(c, ret_notes);
	if (!r)
		r = note_blocks(c, ret_notes);
	if (!r)
		r = note_renamed(c, ret_notes);
	return r ? r : note_common(c, ret_notes);
}
