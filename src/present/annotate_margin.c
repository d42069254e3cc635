#include "present/annotate_margin.h"

#include <inttypes.h>

#include "present/annotation.h"
#include "present/percent.h"
#include "present/screen.h"

enum {
	COUNT_COLUMNS = 14, /* of a count and its percent */
	MORE_COLUMNS = 2    /* behind, for each further pair */
};

void margin_put_counts(FILE *out, const struct annotation *a, const uint64_t *counts)
{
	for (size_t c = 0; c < a->nr_columns; c++) {
		char percent[PERCENT_MAX];

		percent_format(percent_of(counts[c], a->groups.totals[c]), percent);
		fprintf(out, "%6" PRIu64 " %s", counts[c], percent);
	}
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
		fprintf(out, "%*s", (int)(COUNT_COLUMNS * a->nr_columns), "");
	if (*colour)
		fputs(SCREEN_PLAIN, out);
	fprintf(out, "%*s :", (int)(MORE_COLUMNS * (a->nr_columns - 1)), "");
}

void margin_put_gap(FILE *out, const struct annotation *a)
{
	int columns = (int)((COUNT_COLUMNS + MORE_COLUMNS) * a->nr_columns);

	fprintf(out, "%*s\n", columns - 1, "--");
}
