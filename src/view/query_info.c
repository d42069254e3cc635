/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query_info.c - the query "info". */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "view/query_priv.h"

enum {
	API_VERSION = 1
};

static void view_info_put_flag(struct view_answer *a, const char *name, bool value)
{
	json_name(&a->json, name);
	json_bool(&a->json, value);
}

static const char *view_info_title(const struct view_model *m, size_t side)
{
	return m->options.sides[side].title ? m->options.sides[side].title : "";
}

static void view_info_put_facts(struct view_answer *a, const struct view_facts *facts)
{
	struct json *j = &a->json;
	time_t seconds = (time_t)(facts->wall_ns / NS_PER_S);
	char date[64];
	struct tm tm;

	if (facts->command)
		json_member_text(j, "command", facts->command);
	if (facts->host)
		json_member_text(j, "host", facts->host);
	if (facts->wall_ns && gmtime_r(&seconds, &tm) &&
	    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm))
		json_member_text(j, "date", date);
}

static void view_info_put_title(struct view_answer *a)
{
	const struct view_model *m = a->m;
	char *both;

	if (m->options.nr_sides < 2) {
		json_member_text(&a->json, "title", view_info_title(m, 0));
		return;
	}
	if (asprintf(&both, "%s → %s", view_info_title(m, 0), view_info_title(m, 1)) <
	    0)
		return;
	json_member_text(&a->json, "title", both);
	free(both);
}

static void view_info_put_sides(struct view_answer *a)
{
	static const char *const names[VIEW_SIDES] = { "base", "new" };
	struct json *j = &a->json;

	if (a->m->options.nr_sides < 2)
		return;
	for (size_t side = 0; side < VIEW_SIDES; side++) {
		json_name(j, names[side]);
		json_begin_object(j);
		json_member_text(j, "title", view_info_title(a->m, side));
		view_info_put_facts(a, &a->m->data.facts[side]);
		json_member_u64(j, "samples", a->m->data.facts[side].samples);
		json_end_object(j);
	}
}

static void view_info_put_events(struct view_answer *a)
{
	const struct view_data *d = &a->m->data;
	struct json *j = &a->json;

	json_name(j, "events");
	json_begin_array(j);
	for (size_t i = 0; i < d->events.nr; i++) {
		const struct view_event *e = &d->events.at[i];

		json_begin_object(j);
		json_member_text(j, "name", view_text(d, e->name));
		json_member_u64(j, "samples", e->samples);
		json_member_text(j, "unit", e->has_values ? "values" : "samples");
		json_end_object(j);
	}
	json_end_array(j);
}

static void view_info_put_lists(struct view_answer *a)
{
	const struct view_data *d = &a->m->data;
	struct json *j = &a->json;

	json_name(j, "cpus");
	json_begin_array(j);
	for (size_t i = 0; i < d->cpus.nr; i++)
		json_u64(j, (uint64_t)d->cpus.at[i]);
	json_end_array(j);
	json_name(j, "warnings");
	json_begin_array(j);
	for (size_t i = 0; i < d->warnings.nr; i++)
		json_text(j, d->warnings.at[i]);
	json_end_array(j);
}

static bool view_info_has_times(const struct view_model *m)
{
	bool all = true;

	for (size_t side = 0; side < m->options.nr_sides; side++)
		all &= m->data.facts[side].has_times;
	return all;
}

int view_query_info(struct view_answer *a)
{
	const struct view_model *m = a->m;
	const struct view_data *d = &m->data;
	struct json *j = &a->json;
	uint64_t samples, lost;

	view_model_totals(m, &samples, &lost);
	json_begin_object(j);
	json_member_u64(j, "version", API_VERSION);
	view_info_put_title(a);
	view_info_put_facts(a, &d->facts[0]);
	json_member_u64(j, "duration_ns",
			view_info_has_times(m) ? d->nr_bins * d->bin_ns : 0);
	json_member_u64(j, "bin_ns", d->bin_ns);
	json_member_u64(j, "rate_hz", d->events.nr ? d->events.at[0].hz : 0);
	json_member_u64(j, "samples", samples);
	json_member_u64(j, "lost", lost);
	view_info_put_flag(a, "live", m->options.live);
	view_info_put_flag(a, "compare", m->options.nr_sides > 1);
	view_info_put_sides(a);
	json_member_u64(j, "generation", m->generation);
	view_info_put_events(a);
	json_member_u64(j, "threads", d->threads.nr);
	view_info_put_lists(a);
	view_info_put_flag(a, "has_stacks", d->has_stacks);
	view_info_put_flag(a, "has_times", view_info_has_times(m));
	view_info_put_flag(a, "has_cpus", d->cpus.nr);
	view_info_put_flag(a, "has_cgroups", d->has_cgroups);
	view_info_put_flag(a, "record", m->options.can_record);
	view_info_put_flag(a, "sources", true);
	json_end_object(j);
	return 0;
}
