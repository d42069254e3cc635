/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load.c - reads the recordings of a model. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "aggregate/read/profile_feed.h"
#include "base/clock.h"
#include "base/containers/huge.h"
#include "base/err.h"
#include "record/keep/copy_rule.h"
#include "recordings/outline.h"
#include "recordings/profile_reading.h"
#include "recordings/sources.h"
#include "resolve/lines/lines.h"
#include "view/build.h"

enum {
	/* Maximum of distinct samples of a recording with values. */
	MOST_CELLS = 8000000
};

/* The width of a bin of time, for recordings of at most `length_ns`. The width of 1 ms is about the
 * usual distance between samples of a CPU. Longer recordings have wider bins, to limit their
 * number. */
static const struct {
	uint64_t length_ns;
	uint64_t bin_ns;
} view_load_bins[] = {
	{ 20 * 60 * (uint64_t)NS_PER_S, NS_PER_MS },
	{ 10 * 3600 * (uint64_t)NS_PER_S, 10 * NS_PER_MS },
	{ UINT64_MAX, 100 * NS_PER_MS },
};

struct view_loading {
	struct view_model *m;
	struct view_data *to;
	struct key_list keys[VIEW_SIDES];
	struct profile profiles[VIEW_SIDES];
	struct lines_options lines;
};

static int view_load_no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

/* Adds a warning to the model, and reports it to the caller of the model. */
static void view_load_warn(void *ctx, const char *text)
{
	struct view_loading *l = ctx;
	const struct view_options *o = &l->m->options;
	char *copy = strdup(text);

	if (o->warn)
		o->warn(o->ctx, text);
	if (!copy || !vec_push(&l->to->warnings, copy))
		free(copy);
}

/* ---- facts ---- */

static int view_load_facts(struct view_loading *l, size_t side, struct err *err)
{
	const struct report_sources *sources = l->m->options.sides[side].sources;
	struct view_facts *to = &l->to->facts[side];

	for (size_t i = 0; i < sources->sessions.nr; i++) {
		struct recording_outline o = { 0 };
		int r = recording_outline_read(&sources->sessions.at[i], &o, err);

		/* The recording itself is read later, with a better message. */
		if (r == -ENOMEM)
			return r;
		if (r)
			continue;
		if (o.last_ns - o.first_ns > to->length_ns)
			to->length_ns = o.last_ns - o.first_ns;
		if (!i) {
			to->command = o.command;
			to->host = o.hostname;
			to->wall_ns = o.start_wall_ns;
			o.command = o.hostname = NULL;
		}
		recording_outline_done(&o);
	}
	return 0;
}

/* ---- reading ---- */

static uint64_t view_load_bin_ns(const struct view_loading *l)
{
	uint64_t length = 0;
	size_t i = 0;

	for (size_t side = 0; side < l->m->options.nr_sides; side++)
		if (l->to->facts[side].length_ns > length)
			length = l->to->facts[side].length_ns;
	while (length > view_load_bins[i].length_ns)
		i++;
	return view_load_bins[i].bin_ns;
}

/* Sets *ret_rows if the samples have values: these need rows. Otherwise a timeline needs less
 * memory. */
static int view_load_wants_rows(const struct view_side *side, bool *ret_rows,
				struct err *err)
{
	uint32_t flags;
	int r = report_sources_flags(side->sources, &flags, err);

	*ret_rows = !r && flags & (SESSION_VALUES | SESSION_WEIGHTED);
	return r;
}

static int view_load_read(struct view_loading *l, size_t side, struct err *err)
{
	static const unsigned int give_up[] = { NEED_TID, NEED_CPU, NEED_PID, 0 };
	const struct view_options *o = &l->m->options;
	struct profile_options options = {
		.keys = &l->keys[side],
		.spec = o->spec,
		.trust = o->sides[side].sources->trust,
		.names = NAMES_PERF,
		.values = true,
		.separation = PROFILE_SEPARATE_KERNEL,
		.lines = &l->lines,
		.locations = o->locations,
		.inlined = !o->no_inline,
		.threads = o->threads,
		.most_cells = MOST_CELLS,
		.give_up = give_up,
		.progress = o->progress,
		.progress_ctx = o->ctx,
	};
	struct profile_reading reading = {
		.sources = o->sides[side].sources,
		.options = &options,
		.warn = view_load_warn,
		.ctx = l,
	};
	bool rows;
	int r = view_load_wants_rows(&o->sides[side], &rows, err);

	if (!r)
		r = keys_parse(&l->keys[side], view_build_keys, err);
	if (r)
		return r;
	l->keys[side].keys.at[VIEW_KEY_TIME].width_ns = l->to->bin_ns;
	options.timeline = !rows;
	if (!rows)
		options.give_up = NULL;
	if (!rows)
		options.most_cells = 0;
	r = profile_reading_run(&reading, &l->profiles[side], err);
	if (!r)
		profile_finish(&l->profiles[side]);
	return r;
}

static bool view_load_is_private_file(const struct profile *p, uint32_t path)
{
	const char *name = strtab_get(&p->strings, path);

	return *name == '/' && copy_rule_is_private(name);
}

static void view_load_note(struct view_loading *l, size_t side)
{
	const struct report_sources *sources = l->m->options.sides[side].sources;
	const struct profile *p = &l->profiles[side];
	const struct profile_input *in = &p->input;
	struct view_facts *facts = &l->to->facts[side];
	char text[160];

	facts->lost = in->totals.lost;
	facts->has_times = !(in->session_flags & SESSION_NUMBERED);
	l->to->is_private |= sources->is_private;
	for (size_t i = 0; !sources->archive && i < p->images.nr; i++)
		l->to->is_private |= view_load_is_private_file(p, p->images.at[i].from);
	if (in->totals.lost) {
		(void)snprintf(text, sizeof(text),
			       "the kernel lost %" PRIu64 " of %" PRIu64 " samples",
			       in->totals.lost, in->totals.lost + in->totals.samples);
		view_load_warn(l, text);
	}
	if (in->nr_unfinished && !l->m->options.live)
		view_load_warn(l, "the recording was not finished");
}

static int view_load_side(struct view_loading *l, size_t side, struct err *err)
{
	const struct view_side *from = &l->m->options.sides[side];
	int r = view_load_read(l, side, err);

	if (r)
		return l->m->options.nr_sides > 1 ? err_prefix(err, "'%s'", from->title)
						  : r;
	view_load_note(l, side);
	if (l->profiles[side].samples || l->m->options.live)
		return 0;
	return err_set(err, -ENOENT, "'%s': no samples are selected",
		       from->title ? from->title : "");
}

static int view_load_build(struct view_loading *l, struct err *err)
{
	struct view_build b = { .to = l->to, .nr_sides = l->m->options.nr_sides };
	int r;

	for (size_t side = 0; side < b.nr_sides; side++)
		b.profiles[side] = &l->profiles[side];
	r = view_build_run(&b);
	view_build_done(&b);
	return r ? view_load_no_memory(err) : 0;
}

int view_load(struct view_model *m, struct view_data *ret_data, struct err *err)
{
	struct view_loading l = { .m = m,
				  .to = ret_data,
				  .lines = { .cache_dir = m->cache_dir,
					     .threads = m->options.threads,
					     .symbols = true } };
	int r = 0;

	*ret_data = (struct view_data){ 0 };
	huge_heap();
	if (strtab_init(&ret_data->strings))
		return view_load_no_memory(err);
	for (size_t side = 0; !r && side < m->options.nr_sides; side++)
		r = view_load_facts(&l, side, err);
	ret_data->bin_ns = view_load_bin_ns(&l);
	for (size_t side = 0; !r && side < m->options.nr_sides; side++)
		r = view_load_side(&l, side, err);
	if (!r)
		r = view_load_build(&l, err);
	for (size_t side = 0; side < VIEW_SIDES; side++) {
		profile_done(&l.profiles[side]);
		keys_done(&l.keys[side]);
	}
	return r;
}

void view_data_done(struct view_data *d)
{
	strtab_done(&d->strings);
	vec_done(&d->functions);
	vec_done(&d->nodes);
	vec_done(&d->threads);
	vec_done(&d->events);
	vec_done(&d->tracks);
	vec_done(&d->spans);
	vec_done(&d->node_of);
	vec_done(&d->count_of);
	vec_done(&d->cpus);
	for (size_t side = 0; side < VIEW_SIDES; side++) {
		free(d->facts[side].command);
		free(d->facts[side].host);
	}
	for (size_t i = 0; i < d->warnings.nr; i++)
		free(d->warnings.at[i]);
	vec_done(&d->warnings);
	*d = (struct view_data){ 0 };
}
