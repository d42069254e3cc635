/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_summary.c - writes OProfile's image summary: the applications, and below each the images
 * that have its samples. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/safe_text.h"
#include "compare/interval.h"
#include "present/lines/columns.h"
#include "present/lines/confidence.h"
#include "present/lines/elide.h"
#include "present/lines/fit.h"
#include "present/lines/lines.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/lines/ratio.h"
#include "present/lines/screen.h"
#include "present/text/header.h"
#include "present/text/quality_text.h"
#include "present/text/text_writers.h"

enum {
	TITLE_WIDTH = 17,
	CLASS_WIDTH = 18,
	INTERVAL_WIDTH = 18,
	TAB_WIDTH = 8
};

struct write_summary_app {
	const char *name;
	uint64_t *counts;  /* by column */
	uint64_t *periods; /* by column; 0 if not requested */
	size_t first;      /* index of its first line */
	size_t nr;
	size_t number; /* index before sorting */
};

struct summary {
	struct profile *p;
	const struct present_options *options;
	struct report_lines lines;
	VEC(struct write_summary_app) apps;
	VEC(struct ratio) ratios;
	VEC(const char *) ratio_titles;
	uint64_t *counts;
	struct buf safe; /* on a terminal: the escaped name */
	struct buf name; /* on a terminal: the escaped name, shortened */
	size_t image;    /* index of the key */
	size_t app;
	/* With options.confidence: of applications, by index and column; and of images in their
	 * application, by position in it, application and column. */
	struct limits *of_apps;
	struct limits *of_images;
};

static const char *write_summary_line_text(const struct summary *s,
					   const struct line *line, size_t key)
{
	return profile_text(s->p, line->group, key);
}

static int compare_by_app(const void *va, const void *vb, void *ctx)
{
	const struct summary *s = ctx;
	const struct line *a = va;
	const struct line *b = vb;
	int order = strcmp(write_summary_line_text(s, a, s->app),
			   write_summary_line_text(s, b, s->app));

	if (order)
		return order;
	if (a->counts[0] != b->counts[0])
		order = a->counts[0] > b->counts[0] ? -1 : 1;
	else
		order = strcmp(write_summary_line_text(s, a, s->image),
			       write_summary_line_text(s, b, s->image));
	return s->options->reverse ? -order : order;
}

static int compare_apps(const void *va, const void *vb, void *ctx)
{
	const struct summary *s = ctx;
	const struct write_summary_app *a = va;
	const struct write_summary_app *b = vb;
	int order;

	if (a->counts[0] != b->counts[0])
		order = a->counts[0] > b->counts[0] ? -1 : 1;
	else
		order = strcmp(a->name, b->name);
	return s->options->reverse ? -order : order;
}

/* Collects the applications and their sums. Lines of the same application are adjacent at this
 * point. Returns 0 or -ENOMEM. */
static int collect_apps(struct summary *s)
{
	size_t nr_columns = s->lines.nr_columns;
	const uint64_t *periods = s->lines.periods;

	/* The array has room for the counts, and after them for the periods. */
	s->counts = calloc(s->lines.all.nr * nr_columns + 1, 2 * sizeof(*s->counts));
	if (!s->counts || !vec_reserve(&s->apps, s->lines.all.nr + 1) || !s->apps.at)
		return -ENOMEM;
	for (size_t i = 0; i < s->lines.all.nr; i++) {
		const struct line *line = &s->lines.all.at[i];
		const char *name = write_summary_line_text(s, line, s->app);
		struct write_summary_app *app =
			s->apps.nr ? &s->apps.at[s->apps.nr - 1] : NULL;

		if (!app || strcmp(app->name, name)) {
			uint64_t *counts = &s->counts[2 * i * nr_columns];
			struct write_summary_app made = { .name = name,
							  .first = i,
							  .number = s->apps.nr,
							  .counts = counts,
							  .periods =
								  counts + nr_columns };

			if (!vec_push(&s->apps, made))
				return -ENOMEM;
			app = &s->apps.at[s->apps.nr - 1];
		}
		app->nr++;
		for (size_t e = 0; e < nr_columns; e++)
			app->counts[e] += line->counts[e];
		for (size_t e = 0; periods && e < nr_columns; e++)
			app->periods[e] += periods[line->number * nr_columns + e];
	}
	return 0;
}

/* The items of rows, for confidence_limits(). */
struct summary_items {
	uint32_t *app_of; /* by line number */
	uint32_t *position_of;
	uint32_t *set_of; /* by row */
	uint32_t *item_of;
};

static int items_make(const struct summary *s, struct summary_items *items)
{
	const size_t nr_lines = s->lines.all.nr, nr_rows = s->p->rows.nr;

	items->app_of = calloc(nr_lines + 1, sizeof(*items->app_of));
	items->position_of = calloc(nr_lines + 1, sizeof(*items->position_of));
	items->set_of = calloc(nr_rows + 1, sizeof(*items->set_of));
	items->item_of = calloc(nr_rows + 1, sizeof(*items->item_of));
	if (!items->app_of || !items->position_of || !items->set_of || !items->item_of)
		return -ENOMEM;
	for (uint32_t a = 0; a < s->apps.nr; a++) {
		const struct write_summary_app *app = &s->apps.at[a];

		for (uint32_t i = 0; i < app->nr; i++) {
			const uint32_t line = s->lines.all.at[app->first + i].number;

			items->app_of[line] = a;
			items->position_of[line] = i;
		}
	}
	return 0;
}

static void items_done(struct summary_items *items)
{
	free(items->app_of);
	free(items->position_of);
	free(items->set_of);
	free(items->item_of);
}

/* Sets the limits of applications in the profile. */
static int limit_apps(struct summary *s, const struct summary_items *items)
{
	const struct share_sets sets = { s->lines.nr_columns, s->apps.nr,
					 s->lines.column_of, items->item_of };

	for (size_t i = 0; i < s->p->rows.nr; i++)
		items->item_of[i] =
			items->app_of[lines_number(&s->lines, s->p->rows.at[i].group)];
	s->of_apps = calloc(sets.nr_sets * sets.nr_items + 1, sizeof(*s->of_apps));
	if (!s->of_apps)
		return -ENOMEM;
	return confidence_limits(s->p, &sets, s->options->confidence, s->of_apps);
}

/* Sets the limits of images in their application. */
static int limit_images(struct summary *s, const struct summary_items *items)
{
	const size_t nr = s->lines.nr_columns;
	struct share_sets sets = { s->apps.nr * nr, 0, items->set_of, items->item_of };

	for (size_t i = 0; i < s->apps.nr; i++)
		if (s->apps.at[i].nr > sets.nr_items)
			sets.nr_items = s->apps.at[i].nr;
	for (size_t i = 0; i < s->p->rows.nr; i++) {
		const uint32_t line = lines_number(&s->lines, s->p->rows.at[i].group);

		items->set_of[i] =
			(uint32_t)(items->app_of[line] * nr + s->lines.column_of[i]);
		items->item_of[i] = items->position_of[line];
	}
	s->of_images = calloc(sets.nr_sets * sets.nr_items + 1, sizeof(*s->of_images));
	if (!s->of_images)
		return -ENOMEM;
	return confidence_limits(s->p, &sets, s->options->confidence, s->of_images);
}

static int add_limits(struct summary *s)
{
	struct summary_items items = { 0 };
	int r = items_make(s, &items);

	if (!r)
		r = limit_apps(s, &items);
	/* Otherwise, they have the limits of their lines. */
	if (!r && !s->options->global_percent)
		r = limit_images(s, &items);
	items_done(&items);
	return r;
}

/* Truncates a title of more than 17 characters to 14 characters and "...". */
static void write_title(FILE *out, const char *title, size_t len)
{
	if (len <= TITLE_WIDTH)
		fprintf(out, "%*s%.*s|", (int)(TITLE_WIDTH - len), "", (int)len, title);
	else
		fprintf(out, "%.*s...|", TITLE_WIDTH - 3, title);
}

/* Writes EVENT:COUNT, tgid:N and similar. */
static void write_class_title(FILE *out, const struct summary *s, size_t column)
{
	struct buf title = { 0 };

	classes_put_title(&s->lines.classes, column, &title);
	screen_make_safe(&title, 0);
	write_title(out, (const char *)title.data, title.len);
	buf_done(&title);
}

/* Returns the width of all columns of counts together. */
static size_t summary_counts_width(const struct summary *s)
{
	const size_t nr = s->lines.nr_columns;

	return (nr + s->ratios.nr) * CLASS_WIDTH +
	       (s->options->confidence > 0 ? nr * (INTERVAL_WIDTH + 1) : 0);
}

static void write_summary_write_titles(FILE *out, const struct summary *s,
				       const char *indent)
{
	const char *bold = s->options->screen.colour ? SCREEN_BOLD : "";
	const char *plain = s->options->screen.colour ? SCREEN_PLAIN : "";
	size_t nr = s->lines.nr_columns;

	fprintf(out, "%s%s", indent, bold);
	for (size_t i = 0; i < nr; i++) {
		write_class_title(out, s, i);
		if (s->options->confidence > 0)
			fprintf(out, "%*s|", INTERVAL_WIDTH, "");
	}
	for (size_t i = 0; i < s->ratios.nr; i++)
		write_title(out, s->ratio_titles.at[i], strlen(s->ratio_titles.at[i]));
	fprintf(out, "%s\n%s%s", plain, indent, bold);
	for (size_t i = 0; i < nr; i++) {
		fprintf(out, "%9s|      %%|",
			lines_has_values(&s->lines, s->p, i) ? "period" : "samples");
		if (s->options->confidence > 0)
			fprintf(out, "%*s|", INTERVAL_WIDTH, "interval");
	}
	for (size_t i = 0; i < s->ratios.nr; i++)
		write_title(out, "ratio", strlen("ratio"));
	fprintf(out, "%s\n%s", plain, indent);
	for (size_t i = 0; i < summary_counts_width(s); i++)
		fputc('-', out);
	fputc('\n', out);
}

/* Writes the name, shortened to the terminal's width; `used` columns of the line are already
 * written. */
static void write_screen_name(FILE *out, struct summary *s, const char *name,
			      size_t used)
{
	const struct screen *screen = &s->options->screen;
	size_t most =
		screen->width > used + FIT_LEAST ? screen->width - used : FIT_LEAST;

	buf_clear(&s->safe);
	buf_clear(&s->name);
	safe_text_put(&s->safe, name, strlen(name), screen->utf8);
	elide_put(&s->name, (const char *)s->safe.data, s->safe.len,
		  s->options->long_names ? SIZE_MAX : most, screen->utf8);
	fwrite(s->name.data, 1, s->name.len, out);
}

/* The numbers of a row, by column. */
struct write_summary_numbers {
	const uint64_t *counts;
	const uint64_t *periods; /* NULL: there are no ratios */
	const uint64_t *totals;
	const struct limits *limits; /* NULL: not shown */
};

static void write_ratios(FILE *out, struct summary *s,
			 const struct write_summary_numbers *n)
{
	for (size_t i = 0; i < s->ratios.nr; i++) {
		const struct column_cell cell = { .counts = n->counts,
						  .periods = n->periods,
						  .ratios = s->ratios.at,
						  .at = i };

		buf_clear(&s->name);
		ratio_print(&s->name, &cell);
		fprintf(out, "%*.*s ", TITLE_WIDTH, (int)s->name.len,
			(const char *)s->name.data);
	}
}

static void summary_write_interval(FILE *out, struct summary *s,
				   const struct limits *limits)
{
	buf_clear(&s->name);
	confidence_put(&s->name, limits);
	fprintf(out, "%.*s ", (int)s->name.len, (const char *)s->name.data);
}

static void write_row(FILE *out, struct summary *s,
		      const struct write_summary_numbers *n, const char *name,
		      size_t indent)
{
	const struct screen *screen = &s->options->screen;
	size_t nr = s->lines.nr_columns;

	if (!s->options->long_names)
		name = image_name_short(name);
	for (size_t i = 0; i < nr; i++) {
		double share = percent_of(n->counts[i], n->totals[i]);
		const char *colour = screen_share_colour(screen, share);
		char percent[PERCENT_MAX];

		percent_format(share, percent);
		fprintf(out, "%9" PRIu64 " %s%s%s ", n->counts[i], colour, percent,
			*colour ? SCREEN_PLAIN : "");
		if (n->limits)
			summary_write_interval(out, s, &n->limits[i]);
	}
	write_ratios(out, s, n);
	if (screen->is_terminal && *name)
		write_screen_name(out, s, name, indent + summary_counts_width(s));
	else
		screen_write_name(out, name);
	fputc('\n', out);
}

static const struct limits *app_limits(const struct summary *s,
				       const struct write_summary_app *app)
{
	return s->of_apps ? &s->of_apps[app->number * s->lines.nr_columns] : NULL;
}

/* Returns the limits of the image at a position of its application. */
static const struct limits *image_limits(const struct summary *s,
					 const struct write_summary_app *app,
					 size_t position)
{
	const size_t nr = s->lines.nr_columns;

	if (s->of_images)
		return &s->of_images[(position * s->apps.nr + app->number) * nr];
	if (s->lines.limits)
		return &s->lines.limits[s->lines.all.at[app->first + position].number *
					nr];
	return NULL;
}

static void write_summary_write_app(FILE *out, struct summary *s,
				    const struct write_summary_app *app)
{
	const struct line *lines = &s->lines.all.at[app->first];
	const uint64_t *totals =
		s->options->global_percent ? s->lines.totals : app->counts;
	const struct write_summary_numbers whole = { app->counts, app->periods,
						     s->lines.totals,
						     app_limits(s, app) };

	if (!percent_reached(app->counts, s->lines.totals, s->lines.nr_columns,
			     s->options->threshold))
		return;
	write_row(out, s, &whole, app->name, 0);
	if (app->nr == 1 &&
	    !strcmp(write_summary_line_text(s, lines, s->image), app->name))
		return;
	if (!s->options->no_header)
		write_summary_write_titles(out, s, "\t");
	for (size_t i = 0; i < app->nr; i++) {
		struct write_summary_numbers part = { .counts = lines[i].counts,
						      .totals = totals,
						      .limits =
							      image_limits(s, app, i) };

		if (s->lines.periods)
			part.periods = s->lines.periods +
				       lines[i].number * s->lines.nr_columns;
		fputc('\t', out);
		write_row(out, s, &part,
			  write_summary_line_text(s, &lines[i], s->image), TAB_WIDTH);
	}
}

/* Finds the ratios whose two events are columns.  If the columns are not events, there are no
 * ratios. */
static int find_ratios(struct summary *s)
{
	for (size_t i = 0; i < s->options->nr_ratios; i++) {
		struct ratio ratio;

		if (ratio_find(s->p, &s->lines, s->options->ratios[i], &ratio))
			continue;
		if (!vec_push(&s->ratios, ratio) ||
		    !vec_push(&s->ratio_titles, s->options->ratios[i]))
			return -ENOMEM;
	}
	return 0;
}

static int write_apps(FILE *out, struct summary *s)
{
	size_t top = s->options->top;
	size_t nr = top && top < s->apps.nr ? top : s->apps.nr;

	if (!s->options->no_header) {
		header_write(out, s->p, &s->lines);
		write_summary_write_titles(out, s, "");
	}
	/* With --reverse-sort, the applications with the most samples are the last. */
	for (size_t i = s->options->reverse ? s->apps.nr - nr : 0; nr--; i++)
		write_summary_write_app(out, s, &s->apps.at[i]);
	return s->options->quality ? quality_write_text(out, s->p) : 0;
}

int write_summary(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err)
{
	/* The threshold applies to applications, not to the images of an application. */
	struct present_options all = *options;
	struct summary s = { .p = p, .options = options };
	int image = keys_find(p->options.keys, KEY_IMAGE);
	int app = keys_find(p->options.keys, KEY_APP);
	int r;

	if (image < 0 || app < 0)
		return err_set(err, -EINVAL,
			       "internal error: the profile lacks keys of this report");
	s.image = (size_t)image;
	s.app = (size_t)app;
	all.threshold = 0;
	r = lines_of_groups(p, &all, LINES_UNSORTED, CLASS_KEYS, &s.lines, err);
	if (r)
		return r;
	if (s.lines.all.nr)
		qsort_r(s.lines.all.at, s.lines.all.nr, sizeof(*s.lines.all.at),
			compare_by_app, &s);
	r = collect_apps(&s);
	if (!r)
		r = find_ratios(&s);
	if (!r && options->confidence > 0)
		r = add_limits(&s);
	if (!r && s.apps.nr)
		qsort_r(s.apps.at, s.apps.nr, sizeof(*s.apps.at), compare_apps, &s);
	if (!r)
		r = write_apps(out, &s);
	if (s.safe.failed || s.name.failed)
		r = -ENOMEM;
	vec_done(&s.apps);
	vec_done(&s.ratios);
	vec_done(&s.ratio_titles);
	buf_done(&s.safe);
	buf_done(&s.name);
	free(s.counts);
	free(s.of_apps);
	free(s.of_images);
	lines_done(&s.lines);
	return r ? err_set(err, r, "out of memory") : 0;
}
