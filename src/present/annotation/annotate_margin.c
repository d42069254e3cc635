/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/annotation/annotate_margin.h"

#include <inttypes.h>

#include "base/buf.h"
#include "present/annotation/annotation.h"
#include "present/lines/percent.h"
#include "present/lines/screen.h"

enum {
	COUNT_COLUMNS = 14, /* width of a count and its percentage */
	MORE_COLUMNS = 2,   /* padding for each further pair */
	RATIO_COLUMNS = 11
};

static void put_ratio(FILE *out, const struct annotation *a, const uint64_t *counts,
		      size_t ratio)
{
	struct buf text = { 0 };

	annotation_put_ratio(a, counts, ratio, &text);
	fprintf(out, "%*.*s", RATIO_COLUMNS, (int)text.len, (const char *)text.data);
	buf_done(&text);
}

int margin_columns(const struct annotation *a)
{
	return (int)(COUNT_COLUMNS * a->nr_columns + RATIO_COLUMNS * a->ratios.nr);
}

void margin_put_counts(FILE *out, const struct annotation *a, const uint64_t *counts)
{
	for (size_t c = 0; c < a->nr_columns; c++) {
		char percent[PERCENT_MAX];

		percent_format(percent_of(counts[c], a->groups.totals[c]), percent);
		fprintf(out, "%6" PRIu64 " %s", counts[c], percent);
	}
	for (size_t i = 0; i < a->ratios.nr; i++)
		put_ratio(out, a, counts, i);
}

void margin_put(FILE *out, const struct annotation *a, const struct screen *screen,
		const uint64_t *counts)
{
	const char *colour = "";

	if (counts && screen->colour)
		colour = screen_share_colour(
			screen, percent_of(counts[0], a->groups.totals[0]));
	fputs(colour, out);
	if (counts)
		margin_put_counts(out, a, counts);
	else
		fprintf(out, "%*s", margin_columns(a), "");
	if (*colour)
		fputs(SCREEN_PLAIN, out);
	fprintf(out, "%*s :", (int)(MORE_COLUMNS * (a->nr_columns - 1)), "");
}

void margin_put_gap(FILE *out, const struct annotation *a)
{
	int columns = margin_columns(a) + (int)(MORE_COLUMNS * a->nr_columns);

	fprintf(out, "%*s\n", columns - 1, "--");
}
