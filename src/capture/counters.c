#include "capture/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "capture/perf_attrs.h"

struct counters {
	size_t nr_events;
	size_t nr_places;
	int *fds; /* of event e at place p: [p * nr_events + e]; -1: none */
};

static int *fd_of(const struct counters *c, size_t event, size_t place)
{
	return &c->fds[place * c->nr_events + event];
}

static struct perf_event_attr attr_of(const struct counters_config *config,
				      const struct event_request *e)
{
	struct perf_event_attr attr = e->attr;

	attr.freq = 0;
	attr.sample_period = 0;
	attr.precise_ip = 0; /* of samples only */
	attr.disabled = 1;
	attr.inherit = config->inherit;
	attr.enable_on_exec = config->on_exec;
	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attr;
}

/* The descriptor of the group's first event at this place, or -1. */
static int leader_of(const struct counters *c, const struct counters_config *config,
		     size_t event, size_t place)
{
	uint32_t group = config->events[event].group;

	for (size_t i = 0; group && i < event; i++)
		if (config->events[i].group == group)
			return *fd_of(c, i, place);
	return -1;
}

static int open_one(struct counters *c, const struct counters_config *config,
		    size_t event, size_t place, struct err *err)
{
	const struct event_request *e = &config->events[event];
	struct perf_event_attr attr = attr_of(config, e);
	int fd = perf_attr_open_group(&attr, config->tids ? config->tids[place] : -1,
				      config->tids ? -1 : config->cpus[place],
				      leader_of(c, config, event, place));

	/* A thread has ended, a CPU went offline, or is of the other kind. */
	if (fd == -ESRCH || fd == -ENODEV ||
	    (e->one_core_type && !config->tids && (fd == -ENOENT || fd == -EINVAL)))
		return 0;
	if (fd == -EINVAL && e->group)
		return err_set(err, fd,
			       "event %s cannot be counted together with the others of "
			       "its group",
			       e->name);
	if (fd < 0)
		return perf_attr_explain(fd, e->name, !config->tids, err);
	*fd_of(c, event, place) = fd;
	return 1;
}

static void raise_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int counters_open(const struct counters_config *config, struct counters **ret_counters,
		  struct err *err)
{
	struct counters *c = calloc(1, sizeof(*c));
	size_t nr = config->nr_events * config->nr_places;
	size_t opened = 0;
	int r = 0;

	if (c)
		c->fds = calloc(nr + 1, sizeof(*c->fds));
	if (!c || !c->fds) {
		free(c);
		return err_set(err, -ENOMEM, "out of memory");
	}
	c->nr_events = config->nr_events;
	c->nr_places = config->nr_places;
	for (size_t i = 0; i < nr; i++)
		c->fds[i] = -1;
	if (nr > 256)
		raise_limit();
	for (size_t p = 0; p < c->nr_places && r >= 0; p++)
		for (size_t e = 0; e < c->nr_events && r >= 0; e++) {
			r = open_one(c, config, e, p, err);
			opened += r > 0;
		}
	if (r >= 0 && !opened)
		r = err_set(err, -ESRCH, "No valid tasks to monitor -- quitting.");
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
	for (size_t i = 0; i < c->nr_events * c->nr_places; i++)
		if (c->fds[i] >= 0)
			close(c->fds[i]);
	free(c->fds);
	free(c);
}

int counters_enable(struct counters *c, bool on)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < c->nr_events * c->nr_places; i++)
		if (c->fds[i] >= 0 && ioctl(c->fds[i], request, 0))
			return -errno;
	return 0;
}

int counters_read(const struct counters *c, size_t event, size_t place,
		  struct counter_value *ret_value)
{
	int fd = *fd_of(c, event, place);
	uint64_t words[3];

	*ret_value = (struct counter_value){ 0 };
	if (fd < 0)
		return 0;
	if (read(fd, words, sizeof(words)) != sizeof(words))
		return errno ? -errno : -EIO;
	ret_value->count = words[0];
	ret_value->enabled_ns = words[1];
	ret_value->running_ns = words[2];
	ret_value->there = true;
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
