/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/sample_weights.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"

/* Returns the unit in which the weighted period is rounded, if the weight applies to the periods
 * of this event. Returns 0 if it applies to the number of samples. */
static uint64_t weights_unit_of(const struct dict *d, const struct session_info *info,
				uint32_t event)
{
	const struct event_desc *e = event < d->events.nr ? &d->events.at[event] : NULL;

	if (info->flags & SESSION_WEIGHTED)
		return e && e->count ? e->count : 1;
	return e && e->flags & EVENT_VALUES ? 1 : 0;
}

static double amount_of(uint64_t unit, uint64_t period)
{
	const uint64_t nr = unit ? period / unit : 1;

	return (double)nr;
}

/* Returns a pointer to the amount that precedes the next sample of the event and frame, or NULL
 * if memory is short. */
static double *before_of(struct sample_weights *w, const struct dict *d, uint32_t event,
			 uint32_t stack)
{
	const uint32_t frame =
		stack < d->stacks.nr ? d->stacks.at[stack].frame : DICT_NONE;
	struct weight_sums *sums;

	while (w->events.nr <= event)
		if (!vec_push(&w->events, (struct weight_sums){ 0 }))
			return NULL;
	sums = &w->events.at[event];
	if (frame >= d->frames.nr)
		return &sums->before_rest;
	while (sums->before.nr <= frame)
		if (!vec_push(&sums->before, 0.0))
			return NULL;
	return &sums->before.at[frame];
}

static int count_samples(struct sample_weights *w, struct segment *s, struct err *err)
{
	const struct dict *d = segment_dict(s);
	struct sample_batch b;
	int r;

	while (!(r = segment_next(s, COLUMN_EVENT | COLUMN_STACK | COLUMN_PERIOD, &b,
				  err))) {
		for (size_t i = 0; i < b.nr; i++) {
			double *sum;

			if (b.event[i] >= d->events.nr)
				continue;
			sum = before_of(w, d, b.event[i], b.stack[i]);
			if (!sum)
				return err_set(err, -ENOMEM, "out of memory");
			*sum += amount_of(
				weights_unit_of(d, segment_info(s), b.event[i]),
				b.period[i]);
		}
	}
	return r < 0 ? r : 0;
}

struct frame_place {
	uint64_t offset;
	uint32_t image;
	uint32_t frame;
};

static int weights_compare_places(const void *va, const void *vb)
{
	const struct frame_place *a = va, *b = vb;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

/* Replaces each frame's amount by the sum of the amounts of all frames that precede it in the
 * order of image and offset. */
static int order_frames(struct weight_sums *sums, const struct dict *d)
{
	const size_t nr = sums->before.nr;
	struct frame_place *places = calloc(nr + 1, sizeof(*places));
	double sum = 0;

	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		places[i] = (struct frame_place){ d->frames.at[i].offset,
						  d->frames.at[i].image, i };
	qsort(places, nr, sizeof(*places), weights_compare_places);
	for (size_t i = 0; i < nr; i++) {
		const double amount = sums->before.at[places[i].frame];

		sums->before.at[places[i].frame] = sum;
		sum += amount;
	}
	sums->before_rest = sum;
	free(places);
	return 0;
}

int sample_weights_init(struct sample_weights *w, double weight, const char *path,
			enum trust trust, struct err *err)
{
	struct segment *s;
	int r;

	*w = (struct sample_weights){ .weight = weight,
				      .is_whole = weight - floor(weight) <= 0 };
	if (w->is_whole)
		return 0;
	r = segment_open(path, trust, &s, err);
	if (r)
		return r;
	r = count_samples(w, s, err);
	for (size_t i = 0; !r && i < w->events.nr; i++)
		if (order_frames(&w->events.at[i], segment_dict(s)))
			r = err_set(err, -ENOMEM, "out of memory");
	segment_close(s);
	return r;
}

void sample_weights_done(struct sample_weights *w)
{
	for (size_t i = 0; i < w->events.nr; i++)
		vec_done(&w->events.at[i].before);
	vec_done(&w->events);
}

/* Returns the weighted amount as a whole number, or 0 if memory is short. */
static uint64_t weights_weigh(struct sample_weights *w, const struct dict *d,
			      const struct sample *sample, double amount)
{
	double *before;
	double from;

	if (w->is_whole)
		return (uint64_t)(w->weight * amount);
	if (sample->event >= d->events.nr)
		return 0;
	before = before_of(w, d, sample->event, sample->stack);
	if (!before)
		return 0;
	from = floor(*before * w->weight + 0.5);
	*before += amount;
	return (uint64_t)(floor(*before * w->weight + 0.5) - from);
}

uint64_t sample_weights_take(struct sample_weights *w, const struct dict *dict,
			     const struct session_info *info, struct sample *sample)
{
	const uint64_t unit = weights_unit_of(dict, info, sample->event);
	const uint64_t nr =
		weights_weigh(w, dict, sample, amount_of(unit, sample->period));

	if (!unit)
		return nr;
	sample->period = nr * unit;
	return nr > 0;
}
