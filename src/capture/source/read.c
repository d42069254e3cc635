/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read.c - queries on an open perf source. */
#include <errno.h>
#include <unistd.h>

#include "capture/source/priv.h"

size_t perf_source_nr_attrs(const struct perf_source *s)
{
	return s->attrs.nr;
}

const struct perf_event_attr *perf_source_attr(const struct perf_source *s, size_t i)
{
	return &s->reported_attrs.at[i];
}

const uint64_t *perf_source_ids(const struct perf_source *s, size_t i, size_t *ret_nr)
{
	*ret_nr = s->ids[i].nr;
	return s->ids[i].at;
}

void perf_source_rings(const struct perf_source *s, struct perf_source_rings *ret_rings)
{
	*ret_rings = (struct perf_source_rings){ s->cpus.nr, s->fds.nr, { 0 } };
	for (size_t k = 0; k < PERF_SOURCE_RING_COUNT; k++)
		for (size_t i = 0; i < s->cpus.nr; i++)
			if (s->rings[k][i].base)
				ret_rings->bytes[k] = s->rings[k][i].bytes;
}

/* The result of read(2) on an event (perf_event_open(2)). For the first event of a group, only the
 * values of that event are stored. */
struct perf_source_read_reading {
	uint64_t enabled_ns, running_ns, lost;
};

static bool read_fd(const struct perf_source *s, const struct event_fd *e,
		    struct perf_source_read_reading *ret_reading)
{
	uint64_t format = s->attrs.at[e->attr].read_format;
	bool group = format & PERF_FORMAT_GROUP;
	uint64_t words[3 + 3 * EVENTS_MAX] = { 0 };
	ssize_t len = read(e->fd, words, group ? sizeof(words) : 5 * sizeof(*words));

	/* The words of a single event are: value, enabled, running, id, lost. Those of a group
	 * are: number of events, enabled, running, and then value, id and lost of each event. */
	*ret_reading = (struct perf_source_read_reading){ words[1], words[2],
							  words[group ? 5 : 4] };
	return len >= (ssize_t)(3 * sizeof(*words));
}

int perf_source_lost(const struct perf_source *s, uint64_t *ret_lost)
{
	struct perf_source_read_reading reading;
	uint64_t lost = 0;

	if (!(s->attrs.at[0].read_format & PERF_FORMAT_LOST))
		return -EOPNOTSUPP;
	for (size_t i = 0; i < s->fds.nr; i++)
		if (s->fds.at[i].kind == PERF_SOURCE_SAMPLES &&
		    read_fd(s, &s->fds.at[i], &reading))
			lost += reading.lost;
	*ret_lost = lost;
	return 0;
}

void perf_source_times(const struct perf_source *s, size_t attr,
		       uint64_t *ret_enabled_ns, uint64_t *ret_running_ns)
{
	struct perf_source_read_reading r;

	*ret_enabled_ns = *ret_running_ns = 0;
	for (size_t i = 0; i < s->fds.nr; i++) {
		const struct event_fd *e = &s->fds.at[i];

		if (e->kind == PERF_SOURCE_NAMESPACES || e->untimed ||
		    e->attr != attr || !read_fd(s, e, &r))
			continue;
		*ret_enabled_ns += r.enabled_ns;
		*ret_running_ns += r.running_ns;
	}
}

/* Queries the side-band event, because it needs no counter and therefore always runs. */
bool perf_source_cpu_time(const struct perf_source *s, int cpu,
			  uint64_t *ret_enabled_ns)
{
	struct perf_source_read_reading r;

	for (size_t i = 0; i < s->fds.nr; i++) {
		const struct event_fd *e = &s->fds.at[i];

		if (e->kind != PERF_SOURCE_SIDE_BAND || s->cpus.at[e->cpu] != cpu ||
		    !read_fd(s, e, &r))
			continue;
		*ret_enabled_ns = r.enabled_ns;
		return true;
	}
	return false;
}
