/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/ratio.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "base/err.h"
#include "present/lines/columns.h"
#include "present/lines/lines.h"

enum {
	NAME_BYTES = 256
};

static bool is_event(const struct profile *p, const struct profile_event *e,
		     const char *text, size_t len)
{
	const char *name = strtab_get(&p->strings, e->name);
	char full[NAME_BYTES];

	if (strlen(name) == len && !memcmp(name, text, len))
		return true;
	(void)snprintf(full, sizeof(full), "%s:0x%" PRIx64, name, e->unit_mask);
	return strlen(full) == len && !memcmp(full, text, len);
}

static bool profile_has(const struct profile *p, const char *text, size_t len)
{
	for (size_t i = 0; i < p->events.nr; i++)
		if (is_event(p, &p->events.at[i], text, len))
			return true;
	return false;
}

/* Finds the slash between the two events; event names can also contain slashes. */
static const char *find_slash(const struct profile *p, const char *text)
{
	for (const char *at = strchr(text, '/'); at; at = strchr(at + 1, '/'))
		if (profile_has(p, text, (size_t)(at - text)) &&
		    profile_has(p, at + 1, strlen(at + 1)))
			return at;
	return NULL;
}

int ratio_check(const struct profile *p, const char *text, struct err *err)
{
	char names[NAME_BYTES] = "";

	if (find_slash(p, text))
		return 0;
	for (size_t i = 0; i < p->events.nr; i++) {
		size_t len = strlen(names);

		(void)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
			       strtab_get(&p->strings, p->events.at[i].name));
	}
	return err_set(err, -ENOENT,
		       "--ratio %s: expected EVENT/EVENT with recorded events: %s",
		       text, names);
}

int ratios_check(const struct profile *p, const char *const *texts, size_t nr,
		 struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < nr && !r; i++)
		r = ratio_check(p, texts[i], err);
	return r;
}

static int find_column(const struct profile *p, const struct report_lines *lines,
		       const char *text, size_t len, size_t *ret_column)
{
	for (size_t i = 0; i < lines->nr_columns; i++) {
		uint32_t event = lines->classes.columns.at[i].event;

		if (is_event(p, &p->events.at[event], text, len)) {
			*ret_column = i;
			return 0;
		}
	}
	return -ENOENT;
}

int ratio_find(const struct profile *p, const struct report_lines *lines,
	       const char *text, struct ratio *ret_ratio)
{
	const char *slash = find_slash(p, text);
	struct ratio ratio;

	if (!slash || lines->classes.axis != CLASS_EVENT ||
	    find_column(p, lines, text, (size_t)(slash - text), &ratio.above) ||
	    find_column(p, lines, slash + 1, strlen(slash + 1), &ratio.below))
		return -ENOENT;
	ratio.above_has_values = lines_has_values(lines, p, ratio.above);
	ratio.below_has_values = lines_has_values(lines, p, ratio.below);
	*ret_ratio = ratio;
	return 0;
}

void ratio_print(struct buf *out, const struct column_cell *c)
{
	const struct ratio *r = &c->ratios[c->at];
	const uint64_t *above = r->above_has_values ? c->counts : c->periods;
	const uint64_t *below = r->below_has_values ? c->counts : c->periods;
	char text[32];

	if (!above || !below || !below[r->below]) {
		buf_put_u8(out, '-');
		return;
	}
	(void)snprintf(text, sizeof(text), "%.4g",
		       (double)above[r->above] / (double)below[r->below]);
	buf_put(out, text, strlen(text));
}

static int ratio_find_event(const struct profile *p, const char *text, size_t len,
			    size_t *ret_event)
{
	for (size_t i = 0; i < p->events.nr; i++) {
		if (is_event(p, &p->events.at[i], text, len)) {
			*ret_event = i;
			return 0;
		}
	}
	return -ENOENT;
}

/* Like ratio_find(), but returns the indices of events instead of columns. */
static int find_events(const struct profile *p, const char *text,
		       struct ratio *ret_ratio)
{
	const char *slash = find_slash(p, text);

	if (!slash ||
	    ratio_find_event(p, text, (size_t)(slash - text), &ret_ratio->above) ||
	    ratio_find_event(p, slash + 1, strlen(slash + 1), &ret_ratio->below))
		return -ENOENT;
	return 0;
}

/* Adds up the periods of both events by group, for ratio `i` of `nr`. */
static void ratio_add_periods(const struct profile *p, const struct ratio *events,
			      size_t i, size_t nr, uint64_t *periods)
{
	for (size_t k = 0; k < p->rows.nr; k++) {
		const struct profile_row *row = &p->rows.at[k];
		uint64_t *sums = periods + (row->group * nr + i) * 2;
		uint64_t period =
			profile_sums(p, row->event, row->samples, row->period).period;

		if (row->event == events->above)
			sums[0] += period;
		if (row->event == events->below)
			sums[1] += period;
	}
}

int ratio_groups_make(const struct profile *p, const char *const *texts, size_t nr,
		      struct ratio_groups *ret_groups)
{
	uint64_t *periods = NULL;

	if (nr) {
		periods = calloc(p->groups.nr * nr + 1, 2 * sizeof(*periods));
		if (!periods)
			return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		struct ratio events;

		if (find_events(p, texts[i], &events)) {
			free(periods);
			return -ENOENT;
		}
		ratio_add_periods(p, &events, i, nr, periods);
	}
	*ret_groups = (struct ratio_groups){ nr, periods };
	return 0;
}

void ratio_groups_done(struct ratio_groups *g)
{
	free(g->periods);
	*g = (struct ratio_groups){ 0 };
}

void ratio_group_put(const struct ratio_groups *g, uint32_t group, size_t ratio,
		     struct buf *out)
{
	const uint64_t *sums = &g->periods[(group * g->nr_ratios + ratio) * 2];
	char text[32];

	if (!sums[1])
		return;
	(void)snprintf(text, sizeof(text), "%.10g", (double)sums[0] / (double)sums[1]);
	buf_put(out, text, strlen(text));
}
