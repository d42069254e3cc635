/* SPDX-License-Identifier: GPL-2.0-or-later */
/* time.c - keeps the samples in the spans of time: in a specification. */
#include <errno.h>
#include <stdlib.h>

#include "aggregate/selection/selection.h"
#include "format/session/session.h"

int selection_set_times(struct selection *s, const struct session_span *session)
{
	bool known = session->first_ns || session->last_ns;

	s->times.nr = 0;
	s->times_known = true;
	for (size_t i = 0; s->spec && i < s->spec->spans.nr; i++) {
		const struct spec_span *span = &s->spec->spans.at[i];
		struct time_range range = spec_span_range(span, session);

		s->times_known &= known || !spec_span_has_shares(span);
		s->times_known &= session->wall_ns || !spec_span_has_wall(span);
		if (!vec_push(&s->times, range))
			return -ENOMEM;
	}
	return 0;
}

/* Makes room for `nr` samples; columns are allocated at their first use. */
static int selection_time_extend(struct selection_columns *c, size_t nr)
{
	if (nr <= c->room)
		return 0;
	selection_columns_done(c);
	c->kept = malloc(nr * sizeof(*c->kept));
	if (!c->kept)
		return -ENOMEM;
	c->room = nr;
	return 0;
}

void selection_columns_done(struct selection_columns *c)
{
	free(c->kept);
	for (size_t i = 0; i < SELECTION_NARROW; i++)
		free(c->narrow[i]);
	for (size_t i = 0; i < SELECTION_WIDE; i++)
		free(c->wide[i]);
	*c = (struct selection_columns){ 0 };
}

/* Replaces a column by its kept values; NULL stays NULL. */
static int keep_narrow(struct selection_columns *c, size_t nr, size_t number,
		       const uint32_t **column)
{
	uint32_t **to = &c->narrow[number];

	if (!*column)
		return 0;
	if (!*to)
		*to = malloc(c->room * sizeof(**to));
	if (!*to)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		(*to)[i] = (*column)[c->kept[i]];
	*column = *to;
	return 0;
}

static int keep_wide(struct selection_columns *c, size_t nr, size_t number,
		     const uint64_t **column)
{
	uint64_t **to = &c->wide[number];

	if (!*column)
		return 0;
	if (!*to)
		*to = malloc(c->room * sizeof(**to));
	if (!*to)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		(*to)[i] = (*column)[c->kept[i]];
	*column = *to;
	return 0;
}

int selection_keep_times(struct selection *s, struct sample_batch *batch)
{
	struct selection_columns *c = &s->columns;
	size_t nr = 0;

	if (selection_time_extend(c, batch->nr))
		return -ENOMEM;
	for (size_t i = 0; i < batch->nr; i++) {
		c->kept[nr] = (uint32_t)i;
		nr += selection_wants_time(s, batch->time_ns[i]);
	}
	if (nr == batch->nr)
		return 0;
	if (keep_wide(c, nr, 0, &batch->time_ns) ||
	    keep_wide(c, nr, 1, &batch->period) ||
	    keep_narrow(c, nr, 0, &batch->thread) ||
	    keep_narrow(c, nr, 1, &batch->event) ||
	    keep_narrow(c, nr, 2, &batch->stack) || keep_narrow(c, nr, 3, &batch->cpu))
		return -ENOMEM;
	batch->nr = nr;
	return 0;
}
