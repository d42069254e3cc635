/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/events/fit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/events/catalog.h"
#include "capture/events/event_counters.h"
#include "capture/events/events.h"
#include "capture/events/perf_attr.h"

bool event_needs_counter(const struct event_request *e)
{
	return e->one_core_type || e->attr.type == PERF_TYPE_RAW ||
	       e->attr.type == PERF_TYPE_HARDWARE || e->attr.type == PERF_TYPE_HW_CACHE;
}

/* Returns the PMU (attr.type) of the core type that counts the event, or PERF_TYPE_RAW if core
 * types do not have separate PMUs. */
static uint64_t core_pmu(const struct event_request *e)
{
	if (!e->one_core_type)
		return PERF_TYPE_RAW;
	return e->attr.type == PERF_TYPE_HARDWARE || e->attr.type == PERF_TYPE_HW_CACHE
		       ? (uint64_t)e->attr.config >> PERF_PMU_TYPE_SHIFT
		       : e->attr.type;
}

static uint64_t known_counters(const struct event_request *e,
			       const struct event_catalog *c)
{
	uint64_t known = e->counters;

	if (!known && c && !e->one_core_type)
		known = e->attr.type == PERF_TYPE_HARDWARE
				? event_counters_of_generic(c->cpu, c->nr_counters,
							    e->attr.config)
				: event_counters_general(c->nr_counters);
	return known ? known : UINT64_MAX;
}

size_t events_fit_known(const struct event_request *events, size_t nr,
			const struct event_catalog *c, int *ret_counter)
{
	uint64_t counters[EVENTS_MAX];
	unsigned int assigned[EVENTS_MAX];
	size_t index[EVENTS_MAX];

	for (size_t i = 0; i < nr; i++)
		ret_counter[i] = -1;
	for (size_t i = 0; i < nr && i < EVENTS_MAX; i++) {
		size_t nr_same = 0;

		if (!event_needs_counter(&events[i]))
			continue;
		for (size_t k = 0; k <= i; k++) {
			if (!event_needs_counter(&events[k]) ||
			    core_pmu(&events[k]) != core_pmu(&events[i]))
				continue;
			counters[nr_same] = known_counters(&events[k], c);
			index[nr_same++] = k;
		}
		if (event_counters_assign(counters, nr_same, assigned) < nr_same)
			return i;
		for (size_t k = 0; k < nr_same; k++)
			ret_counter[index[k]] = (int)assigned[k];
	}
	return nr;
}

static int open_counter(const struct event_request *e, int leader)
{
	struct perf_event_attr attr = e->attr;

	attr.disabled = leader < 0;
	attr.freq = 0;
	attr.sample_period = 0;
	attr.precise_ip = 0;
	return perf_attr_open_group(&attr, 0, -1, leader);
}

static enum events_fit try_next(const struct event_request *e, int leader, int *ret_fd)
{
	int alone;

	*ret_fd = open_counter(e, leader);
	if (*ret_fd >= 0)
		return EVENTS_FIT;
	if (leader < 0 || *ret_fd != -EINVAL)
		return EVENTS_FIT_UNKNOWN;
	alone = open_counter(e, -1);
	if (alone < 0)
		return EVENTS_FIT_UNKNOWN;
	close(alone);
	return EVENTS_MULTIPLEXED;
}

/* Returns the descriptor of the first event of the same core PMU, which leads the group, or -1. */
static int events_fit_leader_of(const struct event_request *events, const int *fds,
				size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (fds[k] >= 0 && core_pmu(&events[k]) == core_pmu(&events[i]))
			return fds[k];
	return -1;
}

enum events_fit events_fit_here(const struct event_request *events, size_t nr,
				size_t *ret_first)
{
	enum events_fit fit = EVENTS_FIT;
	int fds[EVENTS_MAX];
	size_t done = 0;

	for (; done < nr && fit == EVENTS_FIT && done < EVENTS_MAX; done++) {
		fds[done] = -1;
		if (event_needs_counter(&events[done]))
			fit = try_next(&events[done],
				       events_fit_leader_of(events, fds, done),
				       &fds[done]);
		*ret_first = done;
	}
	while (done)
		if (fds[--done] >= 0)
			close(fds[done]);
	return fit;
}

int events_fit_explain(int code, const struct event_request *e, struct err *err)
{
	return err_set(
		err, code,
		"event %s cannot be counted together with the others of its group: "
		"the CPU has too few counters for all of them, or some need the same one; "
		"leave some out, or leave the braces out, and the kernel multiplexes them",
		e->name);
}
