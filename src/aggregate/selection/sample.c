/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/selection/sample.h"

#include "format/session/dict.h"
#include "format/session/session.h"

static uint32_t leaf_image(const struct dict *d, uint32_t stack)
{
	uint32_t frame = stack < d->stacks.nr ? d->stacks.at[stack].frame : DICT_NONE;

	return frame < d->frames.nr ? d->frames.at[frame].image : DICT_NONE;
}

int selection_wants_sample(struct selection *s, const struct sample_batch *b, size_t i)
{
	static const struct thread unknown = { .pid = -1, .tid = -1, .app = DICT_NONE };
	const struct dict *d = s->dict;
	const struct thread *t =
		b->thread[i] < d->threads.nr ? &d->threads.at[b->thread[i]] : &unknown;
	bool top;

	if (!selection_wants_thread(s, t) || !selection_wants_cpu(s, b->cpu[i]) ||
	    !selection_wants_time(s, b->time_ns[i]))
		return 0;
	if (b->event[i] < d->events.nr &&
	    !selection_wants_event(s, &d->events.at[b->event[i]]))
		return 0;
	return selection_wants_image(s, t->app, t->flags & THREAD_KERNEL,
				     leaf_image(d, b->stack[i]), &top);
}

int selection_wants_one(struct selection *s, const struct sample *sample)
{
	const struct sample_batch one = {
		.nr = 1,
		.time_ns = &sample->time_ns,
		.period = &sample->period,
		.thread = &sample->thread,
		.event = &sample->event,
		.stack = &sample->stack,
		.cpu = &sample->cpu,
	};

	return selection_wants_sample(s, &one, 0);
}
