/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_svg.c - draws the series of each row that changed: SVG 1.1, without scripts. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/output.h"
#include "compare/history.h"
#include "present/diff/history.h"
#include "present/diff/rows.h"
#include "present/text/html_text.h"

enum {
	CHART_WIDTH = 640,
	CHART_HEIGHT = 200,
	CHART_LEFT = 60,
	CHART_RIGHT = 20,
	CHART_TOP = 40,
	CHART_BOTTOM = 30,
	NAME_PART_MAX = 80 /* bytes of the symbol in a file name */
};

/* A picture of a row. */
struct chart {
	const struct history_view *view;
	FILE *out;
	const double *values;
	uint32_t row;
	double low, high; /* at the bottom and the top */
};

static double chart_x(const struct chart *c, double run)
{
	const double last = (double)(c->view->history->nr_runs - 1);

	return CHART_LEFT + run * (CHART_WIDTH - CHART_LEFT - CHART_RIGHT) / last;
}

static double chart_y(const struct chart *c, double value)
{
	return CHART_HEIGHT - CHART_BOTTOM -
	       (value - c->low) * (CHART_HEIGHT - CHART_TOP - CHART_BOTTOM) /
		       (c->high - c->low);
}

/* Sets the range of the chart: from the least to the largest value, with some room. */
static void chart_find_range(struct chart *c)
{
	double low = INFINITY, high = 0;

	for (size_t i = 0; i < c->view->history->nr_runs; i++) {
		low = fmin(low, c->values[i]);
		high = fmax(high, c->values[i]);
	}
	c->high = high + fmax((high - low) / 10, 1e-6);
	c->low = fmax(low - (high - low) / 10, 0);
}

static void chart_put_axes(const struct chart *c)
{
	const struct history_view *v = c->view;
	const double values[] = { c->low, c->high };
	const int bottom = CHART_HEIGHT - CHART_BOTTOM;

	fprintf(c->out, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#888\"/>\n",
		CHART_LEFT, CHART_TOP, bottom, CHART_WIDTH - CHART_RIGHT);
	for (size_t i = 0; i < 2; i++)
		fprintf(c->out,
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.2f%%</text>\n",
			CHART_LEFT - 4, chart_y(c, values[i]) + 4, values[i]);
	fprintf(c->out, "<text x=\"%d\" y=\"%d\">", CHART_LEFT, bottom + 18);
	html_put(c->out, history_run_name(v, 0));
	fprintf(c->out, "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\">",
		CHART_WIDTH - CHART_RIGHT, bottom + 18);
	html_put(c->out, history_run_name(v, v->history->nr_runs - 1));
	fputs("</text>\n", c->out);
}

static void chart_put_mean(const struct chart *c, double mean, size_t first, size_t end)
{
	const double last = (double)(c->view->history->nr_runs - 1);

	fprintf(c->out,
		"<path d=\"M%.1f %.1fH%.1f\" stroke=\"#06c\" stroke-width=\"2\"/>\n",
		chart_x(c, fmax((double)first - 0.3, 0)), chart_y(c, mean),
		chart_x(c, fmin((double)end - 0.7, last)));
}

static void chart_put_change(const struct chart *c, const struct history_change *change)
{
	const double x = chart_x(c, (double)change->at - 0.5);
	const double difference = change->after - change->before;
	const char *colour = difference > 0 ? "#c00" : "#080";

	fprintf(c->out,
		"<path d=\"M%.1f %dV%d\" stroke=\"%s\" stroke-dasharray=\"4 3\"/>\n"
		"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\">%+.2f</text>\n",
		x, CHART_TOP, CHART_HEIGHT - CHART_BOTTOM, colour, x, CHART_TOP - 4,
		colour, difference);
	chart_put_mean(c, change->before, change->first, change->at);
	chart_put_mean(c, change->after, change->at, change->end);
}

static void chart_put_runs(const struct chart *c)
{
	for (size_t i = 0; i < c->view->history->nr_runs; i++) {
		fprintf(c->out,
			"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"#333\"><title>",
			chart_x(c, (double)i), chart_y(c, c->values[i]));
		html_put(c->out, history_run_name(c->view, i));
		fprintf(c->out, ": %.2f%%</title></circle>\n", c->values[i]);
	}
}

static void chart_put(const struct chart *c)
{
	const struct history *h = c->view->history;
	const struct diff_view *v = &c->view->diff;
	const struct compare_row *row = &v->comparison->rows.at[c->row];

	fprintf(c->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"%d\" y=\"18\" font-size=\"13\">",
		CHART_WIDTH, CHART_HEIGHT, CHART_WIDTH, CHART_HEIGHT, CHART_LEFT);
	html_put(c->out,
		 v->by == DIFF_BY_IMAGE ? diff_image(v, row) : diff_symbol(v, row));
	if (v->by == DIFF_BY_LINE) {
		fputc(' ', c->out);
		html_put(c->out, diff_line(v, row));
	}
	if (v->by != DIFF_BY_IMAGE) {
		fputs(" (", c->out);
		html_put(c->out, diff_image(v, row));
		fputc(')', c->out);
	}
	fputs("</text>\n", c->out);
	chart_put_axes(c);
	chart_put_runs(c);
	for (size_t i = 0; i < h->changes.nr; i++)
		if (h->changes.at[i].row == c->row)
			chart_put_change(c, &h->changes.at[i]);
	fputs("</svg>\n", c->out);
}

/* Returns DIR/NN-SYMBOL.svg (malloc'd), or NULL. Replaces all characters of the symbol except
 * letters and digits with '_', and truncates it. */
static char *chart_path(const char *dir, size_t number, const char *symbol)
{
	static const char kept[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[NAME_PART_MAX + 1];
	size_t len = 0;
	char *path;

	for (; len < NAME_PART_MAX && symbol[len]; len++) {
		name[len] = '_';
		if (strchr(kept, symbol[len]))
			name[len] = symbol[len];
	}
	name[len] = '\0';
	return asprintf(&path, "%s/%02zu-%s.svg", dir, number, name) < 0 ? NULL : path;
}

static int chart_write(struct chart *c, const char *path, mode_t mode, struct err *err)
{
	int fd = output_open(path, O_WRONLY | O_TRUNC, mode, err);
	int r;

	if (fd < 0)
		return fd;
	c->out = fdopen(fd, "we");
	if (!c->out) {
		close(fd);
		return err_set(err, -ENOMEM, "out of memory");
	}
	chart_put(c);
	r = fflush(c->out) || ferror(c->out) ? output_failure(c->out) : 0;
	if (fclose(c->out) && !r)
		r = -EIO;
	return r ? err_sys(err, r, "cannot write '%s'", path) : 0;
}

static bool has_chart(const struct history *h, size_t change)
{
	for (size_t i = 0; i < change; i++)
		if (h->changes.at[i].row == h->changes.at[change].row)
			return true;
	return false;
}

int write_history_pictures(const char *dir, bool is_private,
			   const struct history_view *v, struct err *err)
{
	const struct history *h = v->history;
	int fd = output_make_dir(dir, output_dir_mode(is_private), err);
	size_t number = 0;
	int r = fd < 0 ? fd : 0;

	if (fd >= 0)
		close(fd);
	for (size_t i = 0; !r && i < h->changes.nr; i++) {
		struct chart c = { .view = v, .row = h->changes.at[i].row };
		const struct compare_row *row = &v->diff.comparison->rows.at[c.row];
		char *path;

		if (has_chart(h, i))
			continue;
		c.values = h->values + c.row * h->nr_runs;
		chart_find_range(&c);
		path = chart_path(dir, ++number,
				  v->diff.by == DIFF_BY_IMAGE || !row->name
					  ? diff_image(&v->diff, row)
					  : diff_symbol(&v->diff, row));
		r = path ? chart_write(&c, path, output_mode(is_private), err)
			 : err_set(err, -ENOMEM, "out of memory");
		free(path);
	}
	return r;
}
