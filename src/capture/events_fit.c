#include "capture/events_fit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/cpu_types.h"
#include "capture/events.h"
#include "capture/perf_attrs.h"

bool event_needs_counter(const struct event_request *e)
{
	return e->attr.type == PERF_TYPE_RAW || e->attr.type == PERF_TYPE_HARDWARE ||
	       e->attr.type == PERF_TYPE_HW_CACHE;
}

bool event_needs_any_counter(const struct event_request *e, const struct cpu_type *cpu)
{
	/* Cycles, instructions and reference cycles of Intel's CPUs since the Core 2 (Software
	 * Developer's Manual 3B, 20.2.2), cycles of ARM's since the v7 (PMCCNTR). */
	static const struct {
		const char *types;
		uint64_t config;
		uint64_t generic;
	} fixed[] = {
		{ "i386/", 0x3c, PERF_COUNT_HW_CPU_CYCLES },
		{ "i386/", 0xc0, PERF_COUNT_HW_INSTRUCTIONS },
		{ "i386/", 0x300, PERF_COUNT_HW_REF_CPU_CYCLES },
		{ "arm/", 0x11, PERF_COUNT_HW_CPU_CYCLES },
	};
	bool generic = e->attr.type == PERF_TYPE_HARDWARE;

	if (!event_needs_counter(e))
		return false;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (!strncmp(cpu->name, fixed[i].types, strlen(fixed[i].types)) &&
		    e->attr.config == (generic ? fixed[i].generic : fixed[i].config))
			return false;
	return true;
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
	return EVENTS_TAKE_TURNS;
}

enum events_fit events_fit_here(const struct event_request *events, size_t nr,
				size_t *ret_first)
{
	int fds[EVENTS_MAX];
	size_t nr_fds = 0;
	enum events_fit fit = EVENTS_FIT;

	for (size_t i = 0; i < nr && fit == EVENTS_FIT && nr_fds < EVENTS_MAX; i++) {
		if (!event_needs_counter(&events[i]))
			continue;
		if (events[i].one_core_type) {
			fit = EVENTS_FIT_UNKNOWN;
			break;
		}
		fit = try_next(&events[i], nr_fds ? fds[0] : -1, &fds[nr_fds]);
		nr_fds += fds[nr_fds] >= 0;
		*ret_first = i;
	}
	while (nr_fds)
		close(fds[--nr_fds]);
	return fit;
}

int events_fit_explain(int code, const struct event_request *e, struct err *err)
{
	return err_set(err, code,
		       "event %s cannot be counted together with the others of its "
		       "group: the CPU has too few counters for all of them, or some "
		       "need the same one; leave some out, or leave the braces out, "
		       "and they are counted in turns",
		       e->name);
}
