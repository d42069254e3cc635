/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/events/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "capture/events/fit.h"
#include "capture/events/perf_attr.h"
#include "capture/system/cpus.h"

/* An event has one slot per PMU that counts it. Memory controllers and similar units have
 * several PMUs. */
struct counters {
	size_t nr_events;
	size_t nr_scopes;
	size_t nr_slots;
	size_t *first_slot; /* first slot of each event; the last entry is nr_slots */
	int *fds;           /* [p * nr_slots + s] for slot s of scope p; -1: not open */
	bool *follows; /* indexed as `fds`: another event of its group enables it */
};

static int *fd_of(const struct counters *c, size_t event, size_t scope)
{
	return &c->fds[scope * c->nr_slots + c->first_slot[event]];
}

static struct perf_event_attr attr_of(const struct counters_config *config,
				      const struct event_request *e)
{
	struct perf_event_attr attr = e->attr;

	attr.freq = 0;
	attr.sample_period = 0;
	attr.precise_ip = 0; /* precise events (PEBS, IBS) can only be sampled */
	attr.disabled = 1;
	attr.inherit = config->inherit;
	attr.enable_on_exec = config->on_exec;
	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attr;
}

/* Returns the descriptor of the group's first event of this scope, or -1. */
static int counters_leader_of(const struct counters *c,
			      const struct counters_config *config, size_t event,
			      size_t scope)
{
	uint32_t group = config->events[event].group;

	for (size_t i = 0; group && i < event; i++)
		if (config->events[i].group == group)
			return *fd_of(c, i, scope);
	return -1;
}

/* Returns true if the event is counted on this CPU. Without a list it is counted everywhere. */
static bool counters_counts_at(const struct event_request *e, int cpu)
{
	struct cpu_list list = { 0 };
	bool found = !*e->cpus || cpu_list_parse(e->cpus, &list);

	for (size_t i = 0; i < list.nr; i++)
		found |= list.at[i] == cpu;
	cpu_list_done(&list);
	return found;
}

static int open_slot(struct counters *c, const struct counters_config *config,
		     size_t event, size_t scope, size_t slot, struct err *err)
{
	const struct event_request *e = &config->events[event];
	struct perf_event_attr attr = attr_of(config, e);
	int leader = counters_leader_of(c, config, event, scope);
	int fd;

	if (slot)
		attr.type = e->more_types[slot - 1];
	/* Open members enabled: some kernels do not count a software event that is enabled after
	 * its leader. */
	if (leader >= 0)
		attr.disabled = attr.enable_on_exec = 0;
	do
		fd = perf_attr_open_group(
			&attr, config->tids ? config->tids[scope] : -1,
			config->tids ? -1 : config->cpus[scope], leader);
	while (perf_attr_let_guests(&attr, fd));
	/* The thread has ended, or the CPU is offline or of another core type. */
	if (fd == -ESRCH || fd == -ENODEV ||
	    (e->one_core_type && !config->tids && (fd == -ENOENT || fd == -EINVAL)))
		return 0;
	if (fd == -EINVAL && e->group)
		return events_fit_explain(fd, e, err);
	if (fd < 0)
		return perf_attr_explain_event(
			fd, e, config->tids ? config->tids[scope] : -1,
			config->tids ? -1 : config->cpus[scope], err);
	fd_of(c, event, scope)[slot] = fd;
	c->follows[fd_of(c, event, scope) + slot - c->fds] = leader >= 0;
	return 1;
}

static int counters_open_one(struct counters *c, const struct counters_config *config,
			     size_t event, size_t scope, struct err *err)
{
	const struct event_request *e = &config->events[event];
	size_t nr = c->first_slot[event + 1] - c->first_slot[event];
	int opened = 0;
	int r = 0;

	if (*e->cpus && config->tids)
		return err_set(
			err, -EINVAL,
			"event %s counts for whole CPUs, not for programs: add --system-wide or --cpu-list %s",
			e->name, e->cpus);
	if (!config->tids && !counters_counts_at(e, config->cpus[scope]))
		return 0;
	for (size_t i = 0; i < nr && r >= 0; i++) {
		r = open_slot(c, config, event, scope, i, err);
		opened |= r > 0;
	}
	return r < 0 ? r : opened;
}

static void raise_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static struct counters *counters_make(const struct counters_config *config)
{
	struct counters *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->nr_events = config->nr_events;
	c->nr_scopes = config->nr_scopes;
	c->first_slot = calloc(config->nr_events + 1, sizeof(*c->first_slot));
	for (size_t e = 0; c->first_slot && e < config->nr_events; e++)
		c->first_slot[e + 1] =
			c->first_slot[e] + 1 + config->events[e].nr_more_types;
	c->nr_slots = c->first_slot ? c->first_slot[config->nr_events] : 0;
	c->fds = calloc(c->nr_slots * c->nr_scopes + 1, sizeof(*c->fds));
	c->follows = calloc(c->nr_slots * c->nr_scopes + 1, sizeof(*c->follows));
	if (!c->first_slot || !c->fds || !c->follows) {
		free(c->first_slot);
		free(c->fds);
		free(c->follows);
		free(c);
		return NULL;
	}
	for (size_t i = 0; i < c->nr_slots * c->nr_scopes; i++)
		c->fds[i] = -1;
	return c;
}

int counters_open(const struct counters_config *config, struct counters **ret_counters,
		  struct err *err)
{
	struct counters *c = counters_make(config);
	size_t opened = 0;
	int r = 0;

	if (!c)
		return err_set(err, -ENOMEM, "out of memory");
	if (c->nr_slots * c->nr_scopes > 256)
		raise_limit();
	for (size_t p = 0; p < c->nr_scopes && r >= 0; p++)
		for (size_t e = 0; e < c->nr_events && r >= 0; e++) {
			r = counters_open_one(c, config, e, p, err);
			opened += r > 0;
		}
	if (r >= 0 && !opened)
		r = *config->events[0].cpus
			    ? err_set(err, -ENODEV,
				      "event %s can be counted only on CPUs %s",
				      config->events[0].name, config->events[0].cpus)
			    : err_set(err, -ESRCH,
				      "No valid tasks to monitor -- quitting.");
	if (r < 0) {
		counters_close(c);
		return r;
	}
	*ret_counters = c;
	return 0;
}

void counters_close(struct counters *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nr_slots * c->nr_scopes; i++)
		if (c->fds[i] >= 0)
			close(c->fds[i]);
	free(c->first_slot);
	free(c->fds);
	free(c->follows);
	free(c);
}

int counters_enable(struct counters *c, bool on)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < c->nr_slots * c->nr_scopes; i++)
		if (c->fds[i] >= 0 && !c->follows[i] && ioctl(c->fds[i], request, 0))
			return -errno;
	return 0;
}

int counters_read(const struct counters *c, size_t event, size_t scope,
		  struct counter_value *ret_value)
{
	size_t nr = c->first_slot[event + 1] - c->first_slot[event];
	const int *fds = fd_of(c, event, scope);
	uint64_t words[3];

	*ret_value = (struct counter_value){ 0 };
	for (size_t i = 0; i < nr; i++) {
		if (fds[i] < 0)
			continue;
		if (read(fds[i], words, sizeof(words)) != sizeof(words))
			return errno ? -errno : -EIO;
		counter_add(ret_value, &(struct counter_value){ words[0], words[1],
								words[2], true });
	}
	return 0;
}

uint64_t counter_scaled(const struct counter_value *v)
{
	if (!v->running_ns)
		return 0;
	if (v->running_ns >= v->enabled_ns)
		return v->count;
	return (uint64_t)((long double)v->count * v->enabled_ns / v->running_ns + 0.5L);
}

void counter_add(struct counter_value *to, const struct counter_value *from)
{
	to->count += from->count;
	to->enabled_ns += from->enabled_ns;
	to->running_ns += from->running_ns;
	to->there |= from->there;
}
