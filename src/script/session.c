/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session.c - reads the samples of a session for `oprofile script`. Samples are in blocks, roughly
 * in order of time. A first pass over the times determines, for each block, the time of the oldest
 * sample in later blocks. After reading a block, all samples older than that can be written. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/saturate.h"
#include "recordings/sources.h"
#include "resolve/jit/session.h"
#include "resolve/symbolize/naming.h"
#include "script/sink.h"
#include "script/sources.h"

struct script_session_waiting {
	struct sample sample;
	uint64_t order;
};

struct script_session_reader {
	struct segment *segment;
	struct jit_session *jit; /* NULL: without jitdumps */
	struct script_sink sink;
	VEC(uint64_t)
	oldest; /* for each batch: time of the oldest sample in later batches */
	VEC(struct script_session_waiting) waiting;
	uint64_t nr_read;
};

/* ---- the first pass ---- */

static uint64_t oldest_of(const struct sample_batch *b)
{
	uint64_t time_ns = UINT64_MAX;

	for (size_t i = 0; i < b->nr; i++)
		if (b->time_ns[i] < time_ns)
			time_ns = b->time_ns[i];
	return time_ns;
}

static int script_session_look_ahead(struct script_session_reader *r, const char *path,
				     enum trust trust, struct err *err)
{
	struct segment *s;
	uint64_t later = UINT64_MAX;
	int result = segment_open(path, trust, &s, err);

	if (result)
		return result;
	while (!result) {
		struct sample_batch b;

		result = segment_next(s, COLUMN_TIME, &b, err);
		if (!result && !vec_push(&r->oldest, oldest_of(&b)))
			result = err_set(err, -ENOMEM, "out of memory");
	}
	segment_close(s);
	for (size_t i = r->oldest.nr; i-- > 0;) {
		uint64_t own = r->oldest.at[i];

		r->oldest.at[i] = later;
		later = own < later ? own : later;
	}
	return result < 0 ? result : 0;
}

/* ---- samples ---- */

static const struct dict *dict_of(const struct script_session_reader *r)
{
	return r->jit ? jit_session_dict(r->jit) : segment_dict(r->segment);
}

/* Adds the events, with the attributes that a perf event with these samples would have. */
static int script_session_add_events(struct script_session_reader *r, struct err *err)
{
	const struct dict *d = dict_of(r);
	struct script_sink *s = &r->sink;

	while (s->events.nr < d->events.nr) {
		const struct event_desc *e = &d->events.at[s->events.nr];
		struct script_event event = {
			.name = dict_str(d, e->name),
			.type = e->type,
			.config = e->config,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
				       PERF_SAMPLE_PERIOD | PERF_SAMPLE_CGROUP,
		};

		if (e->flags & EVENT_CHAINS)
			event.sample_type |= PERF_SAMPLE_CALLCHAIN;
		if (!vec_push(&s->events, event))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return script_sink_set_events(s, err);
}

/* Returns the run-time address, if it can be derived from the recorded data. */
static uint64_t script_session_address_of(const struct script_sink *s,
					  const struct frame *frame)
{
	const struct image *image = &s->dict->images.at[frame->image];
	bool is_file = image->kind == IMAGE_FILE || image->kind == IMAGE_VDSO;
	const struct symbol *code;

	if (image->kind == IMAGE_JIT) {
		code = naming_find(s->naming, frame->image, frame->offset, NULL);
		return code ? code->vaddr.v + frame->offset - code->offset
			    : frame->offset;
	}
	if (image->kind == IMAGE_ANON)
		return image->start + frame->offset - image->ref_address;
	return is_file ? frame->offset : image->start + frame->offset;
}

static int script_session_add_frame(struct script_sink *s, uint32_t number)
{
	const struct frame *at = &s->dict->frames.at[number];
	struct script_frame frame = { .address = script_session_address_of(s, at) };
	struct script_spot spot;
	struct script_want want = { at->image, at->image, at->offset, &spot };
	int result = 0;

	if (!script_positions_find(&s->positions, at->image, at->offset, &spot))
		result = script_positions_add(&s->positions, &want, 1);
	if (result)
		return result;
	script_spot_frame(&spot, &frame);
	return vec_push(&s->frames, frame) ? 0 : -ENOMEM;
}

static int script_session_add_frames(struct script_sink *s, uint32_t stack, bool chain)
{
	const struct dict *d = s->dict;
	uint64_t max = chain ? s->options->max_stack : 1;
	int result = 0;

	s->frames.nr = 0;
	while (!result && stack >= STACK_FIRST && stack < d->stacks.nr) {
		const struct stack *node = &d->stacks.at[stack];

		if (node->frame < d->frames.nr)
			result = script_session_add_frame(s, node->frame);
		/* Callers precede callees in the dict. Stop at any other node, which would be a
		 * loop. */
		if (s->frames.nr >= max || node->parent >= stack)
			break;
		stack = node->parent;
	}
	return result;
}

static int script_session_write_sample(struct script_sink *s, const struct sample *from)
{
	const struct dict *d = s->dict;
	const struct thread *t =
		from->thread < d->threads.nr ? &d->threads.at[from->thread] : NULL;
	struct script_sample sample = { .event = from->event,
					.pid = t ? t->pid : -1,
					.tid = t ? t->tid : -1,
					.cpu = from->cpu,
					.time_ns = from->time_ns,
					.period = from->period };
	int result = 0;

	if (from->event >= s->events.nr) /* damaged */
		return 0;
	sample.chain = s->writer.chains &&
		       s->events.at[from->event].sample_type & PERF_SAMPLE_CALLCHAIN;
	if (s->fields.at[from->event] & SCRIPT_IP)
		result = script_session_add_frames(s, from->stack, sample.chain);
	sample.frames = s->frames.at;
	sample.nr_frames = s->frames.nr;
	return result ? result : script_sink_write(s, &sample, from->thread);
}

/* ---- in order of time ---- */

static int script_session_compare(const void *left, const void *right)
{
	const struct script_session_waiting *a = left;
	const struct script_session_waiting *b = right;

	if (a->sample.time_ns != b->sample.time_ns)
		return a->sample.time_ns < b->sample.time_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Adds the sample to the previous one if both come from one line of an imported profile of
 * another tool, and returns whether it did. Such samples are equal, including their time, and
 * their event is of a type that the kernel never samples (import/foreign.c). */
static bool script_session_merge(struct script_session_reader *r,
				 const struct sample *sample)
{
	const struct script_event *event;
	struct sample *last;

	if (!r->waiting.nr || sample->event >= r->sink.events.nr)
		return false;
	event = &r->sink.events.at[sample->event];
	if (event->type != PERF_TYPE_SOFTWARE || event->config != PERF_COUNT_SW_DUMMY)
		return false;
	last = &r->waiting.at[r->waiting.nr - 1].sample;
	if (last->time_ns != sample->time_ns || last->thread != sample->thread ||
	    last->event != sample->event || last->stack != sample->stack ||
	    last->cpu != sample->cpu)
		return false;
	last->period += sample->period;
	return true;
}

/* Keeps the selected samples. */
static int script_session_add_batch(struct script_session_reader *r,
				    const struct sample_batch *b)
{
	for (size_t i = 0; i < b->nr; i++) {
		struct script_session_waiting w = { .sample = { .time_ns =
									b->time_ns[i],
								.period = b->period[i],
								.thread = b->thread[i],
								.event = b->event[i],
								.stack = b->stack[i],
								.cpu = b->cpu[i] },
						    .order = r->nr_read++ };
		int wanted = session_event_is_calls(dict_of(r), b->event[i])
				     ? 0
				     : script_filter_wants(&r->sink.filter, &w.sample);

		if (wanted < 0)
			return -ENOMEM;
		if (wanted && !script_session_merge(r, &w.sample) &&
		    !vec_push(&r->waiting, w))
			return -ENOMEM;
	}
	return 0;
}

static int write_older(struct script_session_reader *r, uint64_t before_ns)
{
	size_t nr = 0;
	int result = 0;

	if (r->waiting.nr)
		qsort(r->waiting.at, r->waiting.nr, sizeof(*r->waiting.at),
		      script_session_compare);
	for (; !result && nr < r->waiting.nr; nr++) {
		const struct sample *sample = &r->waiting.at[nr].sample;

		if (before_ns != UINT64_MAX && sample->time_ns >= before_ns)
			break;
		result = script_session_write_sample(&r->sink, sample);
	}
	for (size_t i = nr; i < r->waiting.nr; i++)
		r->waiting.at[i - nr] = r->waiting.at[i];
	r->waiting.nr -= nr;
	return result;
}

static int write_batches(struct script_session_reader *r, struct err *err)
{
	for (size_t i = 0;; i++) {
		struct sample_batch b;
		int result = segment_next(r->segment, COLUMN_ALL, &b, err);

		if (!result && r->jit && jit_session_batch(r->jit, &b, &b))
			result = err_set(err, -ENOMEM, "out of memory");
		if (!result)
			result = script_session_add_events(r, err);
		if (result)
			return result < 0 ? result : 0;
		result = script_session_add_batch(r, &b);
		if (!result)
			result = write_older(r, i < r->oldest.nr ? r->oldest.at[i]
								 : UINT64_MAX);
		if (result == -ENOMEM)
			return err_set(err, -ENOMEM, "out of memory");
		if (result)
			return script_sink_failed(err);
	}
}

/* ---- a session ---- */

static int write_segment(struct script_session_reader *r, const char *dir,
			 struct session_span *span, struct err *err)
{
	const struct session_info *info = segment_info(r->segment);
	struct script_source source = {
		.info = info,
		.session_dir = dir,
		.recorded_in = segment_path(r->segment),
	};
	int result = jit_session_new(dir, segment_dict(r->segment), info, &r->jit);

	if (result)
		return err_set(err, result, "out of memory");
	source.dict = dict_of(r);

	if (!span->start_ns)
		span->start_ns = info->start_ns;
	result = script_session_add_events(r, err);
	if (!result)
		result = script_sink_open(&r->sink, &source, err);
	if (!result)
		result = script_filter_times(&r->sink.filter, span, err);
	if (!result)
		result = write_batches(r, err);
	if (!result && script_sink_flush(&r->sink))
		result = script_sink_failed(err);
	return result;
}

static void script_session_take_result(const struct script_session_reader *r,
				       struct script_result *result)
{
	const struct segment_damage *d = segment_damage(r->segment);

	result->samples += r->sink.samples;
	result->skipped += r->sink.filter.skipped;
	result->lost = saturating_add(result->lost, segment_totals(r->segment)->lost);
	result->dropped += segment_totals(r->segment)->dropped;
	segment_damage_add(&result->segments, d);
}

static int script_session_read_segment(const char *path,
				       const struct report_session *from,
				       const struct script_options *options,
				       struct session_span *span,
				       struct script_result *ret_result,
				       struct err *err)
{
	struct script_session_reader r = { .sink.options = options };
	int result = script_session_look_ahead(&r, path, from->trust, err);

	if (!result)
		result = segment_open(path, from->trust, &r.segment, err);
	if (!result) {
		result = write_segment(&r, from->dir, span, err);
		script_session_take_result(&r, ret_result);
		script_sink_done(&r.sink);
		jit_session_free(r.jit);
		segment_close(r.segment);
	}
	vec_done(&r.oldest);
	vec_done(&r.waiting);
	return result;
}

int script_session(const struct report_session *from,
		   const struct script_options *options,
		   struct script_result *ret_result, struct err *err)
{
	struct session_span span = { 0 };
	char **paths;
	size_t nr;
	int result;

	*ret_result = (struct script_result){ 0 };
	result = session_list(from->dir, &paths, &nr, err);
	if (result)
		return result;
	if (spec_has_shares(options->spec) &&
	    session_span_read(paths, nr, from->trust, &span))
		result = err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !result && i < nr; i++)
		result = script_session_read_segment(paths[i], from, options, &span,
						     ret_result, err);
	session_list_free(paths, nr);
	return result;
}
