/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "aggregate/selection/session_span.h"
#include "format/session/session.h"

static void session_span_add_batch(const struct sample_batch *batch,
				   struct session_span *span)
{
	for (size_t i = 0; i < batch->nr; i++) {
		uint64_t t = batch->time_ns[i];

		if (t < span->first_ns)
			span->first_ns = t;
		if (t > span->last_ns)
			span->last_ns = t;
	}
}

static int add_segment(const char *path, enum trust trust, struct session_span *span)
{
	struct sample_batch batch;
	struct segment *s;
	int r = segment_open(path, trust, &s, NULL);

	if (r)
		return r;
	while (!(r = segment_next(s, COLUMN_TIME, &batch, NULL)))
		session_span_add_batch(&batch, span);
	segment_close(s);
	return r < 0 ? r : 0;
}

void session_span_set_wall(struct session_span *span, const struct session_info *info)
{
	span->wall_ns = info->start_wall_ns;
	span->wall_at_ns = info->start_ns;
}

int session_span_read(char *const *paths, size_t nr, enum trust trust,
		      struct session_span *span)
{
	struct session_span all = { .start_ns = span->start_ns,
				    .first_ns = UINT64_MAX };

	for (size_t i = 0; i < nr; i++) {
		if (add_segment(paths[i], trust, &all) == -ENOMEM)
			return -ENOMEM;
	}
	if (all.first_ns <= all.last_ns)
		*span = all;
	return 0;
}
