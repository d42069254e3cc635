/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/outline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/blocks.h"
#include "aggregate/selection/session_span.h"
#include "base/err.h"
#include "format/perfdata/input.h"
#include "format/session/session.h"
#include "recordings/sources.h"

/* Copies a text, unless it is empty (unknown). Returns 0 or -ENOMEM. */
static int outline_copy(const char *text, char **to)
{
	if (!*text)
		return 0;
	*to = strdup(text);
	return *to ? 0 : -ENOMEM;
}

static int outline_of_file(const struct perf_input_info *info,
			   struct recording_outline *o)
{
	int r = outline_copy(info->hostname, &o->hostname);

	if (!r)
		r = outline_copy(info->os_release, &o->os_release);
	if (!r)
		r = outline_copy(info->cpu_desc, &o->cpu_desc);
	if (!r)
		r = outline_copy(info->command, &o->command);
	o->first_ns = info->first_ns;
	o->last_ns = info->last_ns;
	if (info->clock_wall_ns)
		o->start_wall_ns =
			info->clock_wall_ns +
			(info->first_ns ? info->first_ns - info->clock_ns : 0);
	return r;
}

static int outline_read_file(const struct report_session *from,
			     struct recording_outline *o, struct err *err)
{
	struct perf_input *in;
	int r;

	if (!strcmp(from->dir, "-"))
		return 0;
	r = perf_input_open(from->dir, from->trust, &in, err);
	if (r)
		return r;
	r = outline_of_file(perf_input_info(in), o);
	perf_input_close(in);
	return r ? err_set(err, r, "out of memory") : 0;
}

static int outline_of_segment(const struct session_info *info,
			      struct recording_outline *o)
{
	int r = outline_copy(info->hostname, &o->hostname);

	o->start_wall_ns = info->start_wall_ns;
	if (info->flags & SESSION_NUMBERED)
		o->first_ns = o->last_ns = 0;
	if (!r)
		r = outline_copy(info->os_release, &o->os_release);
	if (!r)
		r = outline_copy(info->cpu_desc, &o->cpu_desc);
	return r ? r : outline_copy(info->command, &o->command);
}

/* Reads the times of all segments, and the start, host, kernel, CPU and command from the first
 * segment that can be opened. */
static int outline_read_segments(char *const *paths, size_t nr, enum trust trust,
				 struct recording_outline *o)
{
	struct session_span span = { 0 };
	struct segment *s = NULL;
	int r = session_span_read(paths, nr, trust, &span);

	o->first_ns = span.first_ns;
	o->last_ns = span.last_ns;
	for (size_t i = 0; !r && !s && i < nr; i++) {
		if (segment_open(paths[i], trust, &s, NULL))
			s = NULL;
	}
	if (!r && s)
		r = outline_of_segment(segment_info(s), o);
	segment_close(s);
	return r;
}

static int outline_read_session(const struct report_session *from,
				struct recording_outline *o, struct err *err)
{
	char **paths;
	size_t nr;
	int r = session_list(from->dir, &paths, &nr, err);

	if (r)
		return r;
	r = outline_read_segments(paths, nr, from->trust, o);
	session_list_free(paths, nr);
	return r ? err_set(err, r, "out of memory") : 0;
}

int recording_outline_read(const struct report_session *from,
			   struct recording_outline *ret_outline, struct err *err)
{
	struct recording_outline o = { 0 };
	int r = from->perf_data ? outline_read_file(from, &o, err)
				: outline_read_session(from, &o, err);

	if (r)
		recording_outline_done(&o);
	else
		*ret_outline = o;
	return r;
}

void recording_outline_done(struct recording_outline *o)
{
	free(o->hostname);
	free(o->os_release);
	free(o->cpu_desc);
	free(o->command);
	*o = (struct recording_outline){ 0 };
}

int recordings_block_width(const struct report_sources *sources, uint64_t *ret_width_ns,
			   struct err *err)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sources->sessions.nr; i++) {
		struct recording_outline o;
		int r = recording_outline_read(&sources->sessions.at[i], &o, err);

		if (r)
			return r;
		sum += o.last_ns - o.first_ns;
		recording_outline_done(&o);
	}
	*ret_width_ns = block_width_ns(sum);
	return 0;
}
