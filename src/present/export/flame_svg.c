/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_svg.c - writes a flame graph as a picture: SVG 1.1, without scripts.  The profile's keys
 * are comm and stack; the command is the outermost function. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/containers/hash.h"
#include "base/err.h"
#include "base/utf8.h"
#include "present/calls/table.h"
#include "present/export/export_writers.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/text/html_text.h"

enum {
	WIDTH = 1200, /* pixels */
	MARGIN = 10,
	HEAD = 30,
	ROW = 16,
	WARM = 55, /* degrees of hue: from red to yellow */
	LIGHT = 9
};

static const double least_width = 0.1;
static const double char_width = 6.6;

struct svg {
	struct call_table calls;
	FILE *out;
	uint64_t *sums;   /* of the current command, by node, including callees */
	uint64_t *starts; /* by node: x position at which its next callee starts */
	uint32_t *depths;
	uint64_t all;
	uint32_t deepest;
};

static double x_of(const struct svg *s, uint64_t samples)
{
	return (double)samples * (WIDTH - 2 * MARGIN) / (double)s->all;
}

/* Returns the length of the longest prefix of a name that fits. */
static size_t fitting(const char *name, double width)
{
	size_t len = strlen(name), at = 0;

	for (double x = char_width; at < len && x < width; x += char_width) {
		size_t n = utf8_next(name + at, len - at, NULL);

		at += n ? n : 1;
	}
	return at;
}

static void write_flame_svg_put_frame(struct svg *s, const char *name, uint32_t depth,
				      uint64_t start, uint64_t samples)
{
	double width = x_of(s, samples);
	double x = MARGIN + x_of(s, start);
	uint32_t y = HEAD + (s->deepest - depth) * ROW;
	uint64_t hash = hash_bytes(name, strlen(name), 0);

	if (width < least_width)
		return;
	fputs("<g><title>", s->out);
	html_put(s->out, name);
	fprintf(s->out, " (%" PRIu64 " samples, %.2f%%)</title>", samples,
		percent_of(samples, s->all));
	fprintf(s->out,
		"<rect x=\"%.1f\" y=\"%" PRIu32
		"\" width=\"%.1f\" height=\"%d\" fill=\"hsl(%u,75%%,%u%%)\"/>",
		x, y, width, ROW - 1, (unsigned int)(hash % WARM),
		(unsigned int)(66 + hash / WARM % LIGHT));
	if (width > 3 * char_width) {
		size_t len = fitting(name, width - 4);

		fprintf(s->out, "<text x=\"%.1f\" y=\"%" PRIu32 "\">", x + 3,
			y + ROW - 4);
		html_put_len(s->out, name, len);
		fputs(name[len] ? "..</text>" : "</text>", s->out);
	}
	fputs("</g>\n", s->out);
}

/* Writes the frames of a command, whose rows begin at `at`, from position *start on.  Returns
 * the index of the next command's first row. */
static size_t write_flame_svg_put_command(struct svg *s, size_t at, uint64_t *start)
{
	const struct call_table *t = &s->calls;
	uint32_t who = call_row_at(t, at)->who;
	const char *comm = profile_text(
		t->p, t->whos.at[who], (size_t)keys_find(t->p->options.keys, KEY_COMM));

	memset(s->sums, 0, t->nodes.nr * sizeof(*s->sums));
	for (; at < t->nr_rows && call_row_at(t, at)->who == who; at++)
		s->sums[call_row_at(t, at)->node] += call_row_at(t, at)->samples;
	for (size_t i = t->nodes.nr; i-- > 1;)
		s->sums[t->nodes.at[i].parent] += s->sums[i];
	s->starts[0] = *start;
	write_flame_svg_put_frame(s, comm, 1, *start, s->sums[0]);
	for (size_t i = 1; i < t->nodes.nr; i++) {
		uint64_t *next = &s->starts[t->nodes.at[i].parent];

		if (!s->sums[i])
			continue;
		s->starts[i] = *next;
		*next += s->sums[i];
		write_flame_svg_put_frame(s, call_symbol_name(t, t->nodes.at[i].symbol),
					  s->depths[i], s->starts[i], s->sums[i]);
	}
	*start += s->sums[0];
	return at;
}

static int write_flame_svg_measure(struct svg *s)
{
	size_t nr = s->calls.nodes.nr;

	s->sums = calloc(nr, sizeof(*s->sums));
	s->starts = calloc(nr, sizeof(*s->starts));
	s->depths = calloc(nr, sizeof(*s->depths));
	if (!s->sums || !s->starts || !s->depths)
		return -ENOMEM;
	s->all = s->calls.p->events.at[s->calls.events.at[0]].samples;
	s->depths[0] = s->deepest = 1; /* the depth of the command */
	for (size_t i = 1; i < nr; i++) {
		s->depths[i] = s->depths[s->calls.nodes.at[i].parent] + 1;
		if (s->depths[i] > s->deepest)
			s->deepest = s->depths[i];
	}
	return 0;
}

static void write_flame_svg_put_all(struct svg *s)
{
	uint32_t height = HEAD + (s->deepest + 1) * ROW + MARGIN;
	uint64_t start = 0;

	fprintf(s->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%" PRIu32
		"\" viewBox=\"0 0 %d %" PRIu32
		"\" font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"%d\" y=\"20\" text-anchor=\"middle\" font-size=\"15\">Flame graph of %" PRIu64
		" samples</text>\n",
		WIDTH, height, WIDTH, height, WIDTH / 2, s->all);
	write_flame_svg_put_frame(s, "all", 0, 0, s->all);
	for (size_t i = 0; i < s->calls.nr_rows;)
		i = write_flame_svg_put_command(s, i, &start);
	fputs("</svg>\n", s->out);
}

int write_flame_svg(FILE *out, struct profile *p, const struct present_options *options,
		    struct err *err)
{
	struct svg s = { .out = out };
	int r = present_needs_one_event(p, "a picture", err);

	if (r)
		return r;
	r = call_table_make(&s.calls, p, options->threshold);
	if (!r)
		r = write_flame_svg_measure(&s);
	if (!r)
		write_flame_svg_put_all(&s);
	free(s.sums);
	free(s.starts);
	free(s.depths);
	call_table_done(&s.calls);
	return r ? err_set(err, r, "out of memory") : 0;
}
