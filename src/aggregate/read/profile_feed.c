/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/read/profile_feed.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "aggregate/views/cells.h"
#include "aggregate/views/count.h"
#include "aggregate/views/view.h"
#include "base/err.h"
#include "resolve/symbolize/lines.h"

unsigned int profile_columns(const struct profile *p)
{
	const unsigned int thread =
		NEED_APP | NEED_COMM | NEED_PID | NEED_TID | NEED_CGROUP | NEED_QUALITY;
	const struct spec *spec = p->options.spec;
	unsigned int columns = COLUMN_EVENT | (spec ? spec_columns(spec) : 0);

	if (p->options.periods ||
	    (p->view && (p->view->weighted || p->view->has_values)))
		columns |= COLUMN_PERIOD;
	if (p->needs & thread)
		columns |= COLUMN_THREAD;
	if (p->needs & (NEED_IMAGE | NEED_FUNCTION | NEED_ADDRESS | NEED_QUALITY))
		columns |= COLUMN_STACK;
	if (p->needs & NEED_CPU)
		columns |= COLUMN_CPU;
	if (p->needs & NEED_TIME)
		columns |= COLUMN_TIME;
	return columns;
}

static uint64_t time_width(const struct profile *p)
{
	int at = keys_find(p->options.keys, KEY_TIME);

	return at < 0 ? 0 : p->options.keys->keys.at[at].width_ns;
}

int profile_begin(struct profile *p, const struct profile_source *source)
{
	int r = view_new(p, source, &p->view);

	if (r)
		return r;
	/* Fetch missing binaries later, in the order of their samples. */
	if (p->needs & (NEED_FUNCTION | NEED_ADDRESS) && source->naming)
		p->view->fetch = naming_defer(source->naming);
	if ((p->needs & NEED_LINES || p->options.code_lines ||
	     profile_asks_frames(p)) &&
	    source->naming)
		naming_want_lines(source->naming);
	p->view->time_width_ns = time_width(p);
	p->view->by_cpu = p->needs & NEED_CPU;
	r = p->options.timeline ? timeline_begin(&p->timeline) : 0;
	if (r) {
		view_free(p->view);
		p->view = NULL;
	}
	return r;
}

/* Keeps the samples in the requested times. */
static int cut_times(struct profile *p, struct sample_batch *b, struct err *err)
{
	struct selection *s = &p->view->selection;

	if (!s->times.nr)
		return 0;
	if (!s->times_known && !p->view->source.wall_ns)
		return err_set(
			err, -ENODATA,
			"time: the recording does not contain its time of day, or the start and end times of its samples: "
			"give seconds from its start, such as time:1.5s-3s");
	if (!s->times_known)
		return err_set(
			err, -ENODATA,
			"time: percentages need known start and end times of the samples: give seconds, such as time:1.5s-3s");
	if (selection_keep_times(s, b))
		return err_set(err, -ENOMEM, "out of memory");
	if (!(p->needs & NEED_TIME))
		b->time_ns = NULL;
	return 0;
}

int profile_add(struct profile *p, const struct sample_batch *batch, struct err *err)
{
	struct sample_batch b = *batch;
	unsigned int columns = profile_columns(p);
	int r;

	/* A source can provide more columns than needed. */
	if (!(columns & COLUMN_THREAD))
		b.thread = NULL;
	if (!(columns & COLUMN_STACK))
		b.stack = NULL;
	if (!(columns & COLUMN_PERIOD))
		b.period = NULL;
	if (!(columns & COLUMN_CPU))
		b.cpu = NULL;
	if (!(columns & COLUMN_TIME))
		b.time_ns = NULL;
	p->input.samples_read += b.nr;
	r = cut_times(p, &b, err);
	if (r)
		return r;
	/* All samples are in the first bucket of time. */
	if (p->view->source.info->flags & SESSION_NUMBERED)
		b.time_ns = NULL;
	r = view_extend(p, p->view);
	if (!r)
		r = count_batch(p, p->view, &b);
	if (r == -ERANGE)
		return err_set(
			err, r,
			"--by time: the width is too small for a session of this length");
	return r ? err_set(err, r, "out of memory") : 0;
}

/* Returns an error if the sum of an event's counts exceeds 64 bits. No other sum of an event is
 * larger than its totals. */
static int check_totals(const struct profile *p, struct err *err)
{
	for (size_t i = 0; i < p->events.nr; i++) {
		const struct profile_event *e = &p->events.at[i];

		if (e->samples == UINT64_MAX || e->period == UINT64_MAX)
			return err_set(
				err, -EOVERFLOW,
				"the counts of event %s add up to more than 18446744073709551614: select fewer recordings",
				profile_event_name(p, (uint32_t)i));
	}
	return 0;
}

int profile_end(struct profile *p, struct err *err)
{
	int r;

	if (!p->view)
		return 0;
	r = count_end(p->view);
	timeline_end(&p->timeline);
	view_counted(p->view);
	if (!r && p->view->fetch)
		r = cells_fetch(p, p->view);
	if (!r)
		r = view_name_positions(p, p->view);
	view_named(p->view);
	if (!r)
		r = cells_add_all(p, p->view);
	view_free(p->view);
	p->view = NULL;
	return r ? err_set(err, r, "out of memory") : check_totals(p, err);
}

static int profile_feed_compare_events(const struct profile *p,
				       const struct profile_event *a,
				       const struct profile_event *b)
{
	int names;

	if (a->unit_mask != b->unit_mask)
		return a->unit_mask < b->unit_mask ? -1 : 1;
	names = strcmp(strtab_get(&p->strings, a->name),
		       strtab_get(&p->strings, b->name));
	if (names)
		return names;
	return a->count < b->count ? -1 : a->count > b->count;
}

void profile_finish(struct profile *p)
{
	/* There are only a few events: the rank is the number of events that sort before. */
	for (size_t i = 0; i < p->events.nr; i++) {
		struct profile_event *e = &p->events.at[i];

		e->rank = 0;
		for (size_t j = 0; j < p->events.nr; j++)
			e->rank +=
				profile_feed_compare_events(p, &p->events.at[j], e) < 0;
	}
}
