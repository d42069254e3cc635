/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/code_reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "aggregate/count/code_counts.h"
#include "aggregate/selection/sample.h"
#include "aggregate/selection/selection.h"
#include "aggregate/selection/session_span.h"
#include "archive/read/open.h"
#include "base/err.h"
#include "base/log.h"
#include "format/perfdata/input.h"
#include "format/session/session.h"
#include "import/file.h"
#include "recordings/locations.h"
#include "recordings/sources.h"
#include "resolve/replay/replay.h"
#include "resolve/symbolize/lines.h"
#include "resolve/symbolize/naming.h"

enum {
	BRANCHES_MAX = 1024 /* per sample; processors store 32 */
};

struct code_reading {
	const struct code_request *request;
	bool incomplete; /* some input could not be read */
	struct naming_locations *locations;
	code_reading_fn fn;
	void *ctx;
	uint64_t samples; /* `samples` and `skipped` are sums over all sources */
	uint64_t skipped;
	/* For the current source: */
	struct replay *replay;
	const struct session_info *info; /* of a session; NULL: a perf.data */
	struct selection selection;
	struct code_counts counts;
	VEC(uint64_t) by_stack; /* number of samples, indexed by stack */
	bool all;               /* the specification selects everything */
	uint32_t
		*position_of; /* two per branch of the current sample: source, target */
};

/* ---- samples ---- */

/* Counts samples by stack number, which only indexes an array. take_leaves() later looks up the
 * code position once per stack instead of once per sample. */
static int add_leaf(struct code_reading *g, const struct dict *d, uint32_t stack,
		    uint64_t samples)
{
	g->counts.samples += samples;
	if (stack >= d->stacks.nr)
		return 0;
	while (g->by_stack.nr <= stack)
		if (!vec_push(&g->by_stack, 0))
			return -ENOMEM;
	g->by_stack.at[stack] += samples;
	return 0;
}

/* Converts the counts by stack into counts by position. */
static int take_leaves(struct code_reading *g, const struct dict *d)
{
	for (size_t i = 0; i < g->by_stack.nr; i++) {
		uint32_t frame = d->stacks.at[i].frame;
		uint32_t position;

		if (!g->by_stack.at[i] || frame >= d->frames.nr ||
		    d->frames.at[frame].image >= d->images.nr)
			continue;
		position = code_counts_position(&g->counts, d->frames.at[frame].image,
						d->frames.at[frame].offset);
		if (position == MAP_NONE)
			return -ENOMEM;
		g->counts.positions.at[position].samples += g->by_stack.at[i];
	}
	return 0;
}

/* Finds the position of an address; MAP_NONE if it is in no image. Kernel addresses are in the
 * upper half. Returns 0 or -ENOMEM. */
static int code_reading_position_of(struct code_reading *g, uint64_t address,
				    uint32_t *ret_position)
{
	uint16_t mode =
		address > INT64_MAX ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	struct resolver_position at;
	uint32_t image;
	int r;

	*ret_position = MAP_NONE;
	if (!address)
		return 0;
	r = replay_locate(g->replay, mode, address, &at);
	if (r || at.entry == RESOLVER_NOWHERE)
		return r;
	r = replay_image(g->replay, &at, &image);
	if (r || image == DICT_NONE)
		return r;
	*ret_position = code_counts_position(&g->counts, image, at.offset);
	return *ret_position == MAP_NONE ? -ENOMEM : 0;
}

static int code_reading_find_positions(struct code_reading *g, const struct decoder *d,
				       const struct record_sample *s, size_t nr)
{
	int r = 0;

	for (size_t i = 0; !r && i < nr; i++) {
		const struct branch b = decoder_branch_at(d, s, i);

		r = code_reading_position_of(g, b.from, &g->position_of[2 * i]);
		if (!r)
			r = code_reading_position_of(g, b.to,
						     &g->position_of[2 * i + 1]);
	}
	return r;
}

/* Counts the branches of a sample, newest first, and the code between them, which runs straight
 * from the target of one branch to the source of the next. Returns 0 or -ENOMEM. */
static int code_reading_add_branches(struct code_reading *g, const struct decoder *d,
				     const struct record_sample *s)
{
	size_t nr =
		s->nr_branches < BRANCHES_MAX ? (size_t)s->nr_branches : BRANCHES_MAX;
	int r = code_reading_find_positions(g, d, s, nr);

	for (size_t i = 0; !r && i < nr; i++) {
		const uint32_t *p = &g->position_of[2 * i];

		if (p[0] != MAP_NONE && p[1] != MAP_NONE)
			r = code_counts_branch(&g->counts, p[0], p[1],
					       decoder_branch_at(d, s, i).mispredicted);
		if (!r && i + 1 < nr && p[0] != MAP_NONE && p[3] != MAP_NONE)
			r = code_counts_run(&g->counts, p[3], p[0]);
	}
	return r;
}

static int each_sample(void *ctx, const struct decoder *d, const struct record *rec,
		       const struct sample *sample)
{
	struct code_reading *g = ctx;
	int r = selection_wants_one(&g->selection, sample);

	if (r <= 0) {
		g->skipped += !r;
		return r;
	}
	r = add_leaf(g, replay_dict(g->replay), sample->stack, 1);
	if (!r && rec->sample.has & PERF_SAMPLE_BRANCH_STACK)
		r = code_reading_add_branches(g, d, &rec->sample);
	return r;
}

/* ---- one source ---- */

/* Ends a source: unless `r` is an error, passes its counts to the callback. Frees the counts,
 * the selection and `naming`. */
static int code_reading_finish(struct code_reading *g, struct naming *naming,
			       const struct dict *d, int r, struct err *err)
{
	g->samples += g->counts.samples;
	if (!r && take_leaves(g, d))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r && g->counts.samples)
		r = g->fn(g->ctx, &g->counts, d, naming, err);
	code_counts_done(&g->counts);
	g->counts = (struct code_counts){ 0 };
	g->by_stack.nr = 0;
	selection_done(&g->selection);
	naming_free(naming);
	return r;
}

static int code_reading_set_times(struct code_reading *g,
				  const struct session_span *span, struct err *err)
{
	if (selection_set_times(&g->selection, span))
		return err_set(err, -ENOMEM, "out of memory");
	return g->selection.times_known
		       ? 0
		       : err_set(err, -ENODATA,
				 "time: percentages need known start and end times of the samples: give seconds, such as time:1.5s-3s");
}

static int code_reading_add_batch(struct code_reading *g, const struct dict *d,
				  const struct sample_batch *b)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < b->nr; i++) {
		uint64_t weight = 1;

		if (session_event_is_calls(d, b->event[i]))
			continue;
		if (g->info && b->event[i] < d->events.nr)
			weight = session_sample_weight(
				g->info, &d->events.at[b->event[i]], b->period[i]);
		r = g->all ? 1 : selection_wants_sample(&g->selection, b, i);
		g->skipped += !r;
		if (r > 0)
			r = add_leaf(g, d, b->stack[i], weight);
	}
	return r < 0 ? r : 0;
}

/* Counts the samples of all batches. With branch stacks, each_sample() has already received all
 * samples when replay_next() returns 1. */
static int code_reading_read_batches(struct code_reading *g, struct err *err)
{
	struct sample_batch b;
	int r;

	do {
		r = replay_next(g->replay, &b, err);
		if (!r && code_reading_add_batch(g, replay_dict(g->replay), &b))
			r = err_set(err, -ENOMEM, "out of memory");
	} while (!r);
	return r < 0 ? r : 0;
}

static int read_replay(struct code_reading *g, const struct perf_input_info *info,
		       struct err *err)
{
	const struct session_info *session = replay_info(g->replay);
	const struct session_span span = { .start_ns = session->start_ns,
					   .first_ns = info->first_ns,
					   .last_ns = info->last_ns,
					   .wall_ns = info->clock_wall_ns,
					   .wall_at_ns = info->clock_ns };
	struct naming *naming = NULL;
	int r;

	g->info = NULL;
	selection_init(&g->selection, g->request->spec, replay_dict(g->replay), "");
	r = code_reading_set_times(g, &span, err);
	if (!r)
		r = code_reading_read_batches(g, err);
	if (!r) {
		replay_late_build_ids(g->replay);
		r = naming_new(replay_dict(g->replay), session, "", &naming);
		if (r)
			err_set(err, r, "out of memory");
		else
			naming_use(naming, g->locations);
	}
	return code_reading_finish(g, naming, replay_dict(g->replay), r, err);
}

static void note_damage(struct code_reading *g, const struct report_session *s,
			const struct perf_input *input)
{
	struct import_result result = { .samples = g->counts.samples,
					.malformed = replay_undecodable(g->replay),
					.damage = *perf_input_damage(input),
					.interrupted =
						perf_input_info(input)->interrupted };

	if (!import_is_incomplete(&result))
		return;
	result.samples = replay_counts(g->replay)->by_type[PERF_RECORD_SAMPLE];
	import_say_incomplete(s->name, &result);
	g->incomplete = true;
}

static bool has_branches(const struct perf_input_info *info)
{
	for (size_t i = 0; i < info->events.nr; i++)
		if (info->events.at[i].attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return true;
	return false;
}

static int read_perf_data(struct code_reading *g, const struct report_session *s,
			  struct err *err)
{
	struct replay_options options = { .threads = true, .ctx = g };
	struct perf_input *input;
	int r = perf_input_open(s->dir, s->trust, &input, err);

	if (r)
		return r;
	if (has_branches(perf_input_info(input)))
		options.each = each_sample;
	r = replay_new(input, &options, &g->replay, err);
	if (!r) {
		r = read_replay(g, perf_input_info(input), err);
		if (!r)
			note_damage(g, s, input);
		replay_free(g->replay);
	}
	if (r)
		err_prefix(err, "%s", s->name);
	perf_input_close(input);
	return r;
}

static int code_reading_read_segment(struct code_reading *g, struct segment *s,
				     const char *dir, struct session_span *span,
				     struct err *err)
{
	const struct session_info *info = segment_info(s);
	struct naming *naming = NULL;
	int r;

	if (!span->start_ns)
		span->start_ns = info->start_ns;
	g->info = info;
	session_span_set_wall(span, info);
	selection_init(&g->selection, g->request->spec, segment_dict(s), info->vmlinux);
	r = code_reading_set_times(g, span, err);
	while (!r) {
		struct sample_batch b;

		r = segment_next(s, COLUMN_ALL, &b, err);
		if (!r && code_reading_add_batch(g, segment_dict(s), &b))
			r = err_set(err, -ENOMEM, "out of memory");
	}
	if (r > 0) {
		r = naming_new(segment_dict(s), info, dir, &naming);
		if (r)
			err_set(err, r, "out of memory");
		if (!r) {
			naming_use(naming, g->locations);
			naming_recorded_in(naming, segment_path(s));
		}
	}
	return code_reading_finish(g, naming, segment_dict(s), r, err);
}

static void code_reading_note_segment(struct code_reading *g, const char *path,
				      const struct segment *s)
{
	const struct segment_damage *d = segment_damage(s);

	g->incomplete |= segment_damage_any(d);
	if (!d->bad_blocks && !d->cut_bytes && !d->bad_samples && !d->unfinished)
		return;
	log_say(LOG_WARNING,
		"%s is incomplete: %" PRIu64 " blocks damaged, %" PRIu64
		" bytes cut off",
		path, d->bad_blocks, d->cut_bytes);
}

static int code_reading_read_session(struct code_reading *g,
				     const struct report_session *from, struct err *err)
{
	struct session_span span = { 0 };
	char **paths;
	size_t nr;
	int r = session_list(from->dir, &paths, &nr, err);

	if (r)
		return r;
	if (spec_has_shares(g->request->spec) &&
	    session_span_read(paths, nr, from->trust, &span))
		r = err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !r && i < nr; i++) {
		struct segment *s;

		r = segment_open(paths[i], from->trust, &s, err);
		if (r)
			break;
		r = code_reading_read_segment(g, s, from->dir, &span, err);
		if (!r)
			code_reading_note_segment(g, paths[i], s);
		segment_close(s);
	}
	session_list_free(paths, nr);
	return r;
}

/* ---- all sources ---- */

static bool asks_for_all(const struct spec *spec)
{
	for (size_t i = 0; i < SPEC_COUNT; i++)
		if (spec->lists[i].values.nr)
			return false;
	return !spec->spans.nr;
}

static int code_reading_begin(struct code_reading *g, struct err *err)
{
	struct location_options from = *g->request->locations;

	if (spec_has_symbols(g->request->spec))
		return err_set(
			err, -EINVAL,
			"symbol: cannot select functions, because %s describes whole programs: remove it",
			g->request->format);
	g->all = asks_for_all(g->request->spec);
	from.archive = archive_folder(g->request->sources->archive);
	g->position_of = calloc(2 * BRANCHES_MAX, sizeof(*g->position_of));
	if (!g->position_of)
		return err_set(err, -ENOMEM, "out of memory");
	return locations_make(&from, &g->locations, err);
}

int code_reading_run(const struct code_request *request, code_reading_fn fn, void *ctx,
		     bool *ret_incomplete, struct err *err)
{
	struct code_reading g = { .request = request, .fn = fn, .ctx = ctx };
	int r = code_reading_begin(&g, err);

	for (size_t i = 0; !r && i < request->sources->sessions.nr; i++) {
		const struct report_session *s = &request->sources->sessions.at[i];

		r = s->perf_data ? read_perf_data(&g, s, err)
				 : code_reading_read_session(&g, s, err);
	}
	if (!r && !g.samples && g.skipped)
		r = err_set(err, -ENODATA,
			    "none of the %" PRIu64
			    " samples is selected: profile specification too strict ?",
			    g.skipped);
	else if (!r && !g.samples)
		r = err_set(err, -ENODATA, "there is no sample to export");
	naming_locations_free(g.locations);
	vec_done(&g.by_stack);
	free(g.position_of);
	*ret_incomplete |= g.incomplete;
	return r;
}
