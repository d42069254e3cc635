/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/source/perf_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/vec.h"
#include "base/err.h"
#include "capture/events/fit.h"
#include "capture/events/perf_attr.h"
#include "capture/source/attrs.h"
#include "capture/source/priv.h"

enum {
	SAMPLE_PAGES =
		256, /* 1 MB: 3 s of samples without chains at 4999 Hz, 1 s with deep chains */
	SIDE_BAND_PAGES = 64,
	/* The side band of the whole machine: one second of a compile job fills less than half of
	 * the ring. */
	SIDE_BAND_PAGES_WIDE = 256,
	NAMESPACE_PAGES = 32, /* more than the threads that start before we read it */
	/* 16 MB, for samples with stacks: half a second of 32 KB stacks at 997 Hz, 50 ms at 9973
	 * Hz. */
	STACK_PAGES = 4096,
	PAGES_IN_ALL = 65536, /* total of all rings with stacks: 256 MB */
	/* If pinned memory is limited, stacks are truncated so that a ring holds this many. */
	WINDOWS_AT_LEAST = 32,
	WINDOW_MIN_BYTES = 4096,
	MANY_CPUS = 32, /* with more CPUs, rings have half the size */
	MIN_PAGES = 8,
	/* The kernel wakes us each time it has written WAKE_EIGHTHS eighths of a ring, even if we
	 * have read them meanwhile. A ring that is filled to less than MUCH_EIGHTHS has room until
	 * the next wakeup. */
	WAKE_EIGHTHS = 3,
	MUCH_EIGHTHS = 3
};

static int add_fd(struct perf_source *s, int fd, enum perf_source_ring kind,
		  uint32_t attr, size_t cpu)
{
	struct event_fd entry = {
		.fd = fd, .attr = attr, .cpu = (uint32_t)cpu, .kind = kind
	};
	uint64_t id;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
		return -errno;
	if (!vec_push(&s->ids[attr], id) || !vec_push(&s->fds, entry))
		return -ENOMEM;
	return 0;
}

static int perf_source_epoll_of(const struct perf_source *s, enum perf_source_ring kind)
{
	return s->epoll_fds[kind == PERF_SOURCE_NAMESPACES ? kind
							   : PERF_SOURCE_SAMPLES];
}

/* Adds a descriptor to the epoll of its kind. One descriptor per ring is enough to wake us. */
static int watch(struct perf_source *s, size_t i)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = i };
	const struct event_fd *e = &s->fds.at[i];

	return epoll_ctl(perf_source_epoll_of(s, e->kind), EPOLL_CTL_ADD, e->fd, &event)
		       ? -errno
		       : 0;
}

static void watch_next(struct perf_source *s, size_t ended)
{
	const struct event_fd *old = &s->fds.at[ended];

	(void)epoll_ctl(perf_source_epoll_of(s, old->kind), EPOLL_CTL_DEL, old->fd,
			NULL);
	for (size_t i = ended + 1; i < s->fds.nr; i++)
		if (s->fds.at[i].cpu == old->cpu && s->fds.at[i].kind == old->kind &&
		    !watch(s, i))
			return;
}

/* Call after a wakeup. A descriptor polls as hung up for ever after its task and all children of
 * the task have ended, while other events still write to its ring. Replaces such descriptors in
 * the epoll by others of the same ring. */
static void leave_ended(struct perf_source *s, enum perf_source_ring kind)
{
	struct epoll_event events[16];
	int nr, nr_ended;

	do {
		nr = epoll_wait(perf_source_epoll_of(s, kind), events, 16, 0);
		nr_ended = 0;
		for (int i = 0; i < nr; i++)
			if (events[i].events & (EPOLLHUP | EPOLLERR)) {
				watch_next(s, events[i].data.u64);
				nr_ended++;
			}
	} while (nr_ended);
}

struct opening {
	const struct perf_source_config *config;
	/* How often the ring sizes were halved because pinned memory is limited. */
	unsigned int halvings;
	size_t pages[PERF_SOURCE_RING_COUNT];
	int ring_fd[PERF_SOURCE_RING_COUNT]; /* the rings of the current CPU */
	/* The descriptors of the current task's events on the current CPU. */
	int event_fd[EVENTS_MAX];
	bool no_room; /* a ring could not be mapped: perf_event_mlock_kb exceeded */
	struct err *err;
};

/* Returns the descriptor of the first event of the group on this CPU; -1 if this is the first
 * event or it is in no group. */
static int perf_source_leader_of(const struct opening *o, uint32_t attr)
{
	const struct perf_source_config *c = o->config;

	for (size_t i = 0; attr < c->nr_events && i < attr && i < EVENTS_MAX; i++)
		if (c->events[attr].group &&
		    c->events[i].group == c->events[attr].group)
			return o->event_fd[i] < 0 ? -1 : o->event_fd[i];
	return -1;
}

/* Opens one event on one CPU for one task (or all). It has its own descriptor and writes to the
 * CPU's ring. If `attr` is the number of attrs, this is the event for namespace records. */
static int perf_source_open_one(struct perf_source *s, struct opening *o, size_t cpu,
				uint32_t attr, pid_t tid)
{
	uint32_t side_band = (uint32_t)s->attrs.nr - 1;
	enum perf_source_ring kind = attr < side_band    ? PERF_SOURCE_SAMPLES
				     : attr == side_band ? PERF_SOURCE_SIDE_BAND
							 : PERF_SOURCE_NAMESPACES;
	struct perf_event_attr *a =
		kind == PERF_SOURCE_NAMESPACES ? &s->namespaces : &s->attrs.at[attr];
	int leader = perf_source_leader_of(o, attr);
	struct perf_event_attr opened = *a;
	int fd, r;

	/* A member of a group is opened enabled and runs whenever its leader runs. (Current
	 * kernels do not start a software event that is enabled after a leader of another kind.) */
	if (leader >= 0)
		opened.disabled = opened.enable_on_exec = 0;
	fd = perf_attr_open_group(&opened, tid, s->cpus.at[cpu], leader);

	if (attr < o->config->nr_events && attr < EVENTS_MAX)
		o->event_fd[attr] = fd;
	/* This CPU's core type lacks the event. */
	if (fd == -ENOENT && attr < o->config->nr_events &&
	    o->config->events[attr].one_core_type)
		return 0;
	if (fd == -ENODEV || (fd == -ESRCH && o->config->nr_tids > 1))
		return 0; /* the CPU went offline, or one of several threads has ended */
	/* perf_attrs_probe() has checked that the kernel accepts each event alone, so it refused
	 * the group. */
	if (fd == -EINVAL && leader >= 0)
		return events_fit_explain(fd, &o->config->events[attr], o->err);
	if (fd < 0)
		return perf_attr_explain(fd,
					 attr < o->config->nr_events
						 ? o->config->events[attr].name
						 : "side band",
					 !o->config->tids, o->err);
	r = add_fd(s, fd, kind, attr < side_band ? attr : side_band, cpu);
	if (r) {
		close(fd);
		return err_sys(o->err, r, "cannot add a perf event");
	}
	s->fds.at[s->fds.nr - 1].follows = leader >= 0;
	if (o->ring_fd[kind] >= 0) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, o->ring_fd[kind]))
			return err_sys(
				o->err, -errno,
				"cannot write two perf events to one ring buffer");
		return 0;
	}
	r = ring_open(&s->rings[kind][cpu], fd, o->pages[kind]);
	if (!r)
		r = watch(s, s->fds.nr - 1);
	o->no_room = r == -EPERM;
	if (o->no_room)
		return err_set(
			o->err, r,
			"Failed to mmap kernel profile data: "
			"raise /proc/sys/kernel/perf_event_mlock_kb or ulimit -l");
	if (r)
		return err_sys(o->err, r, "cannot map the ring buffer of a perf event");
	o->ring_fd[kind] = fd;
	return 0;
}

/* Opens an event on a CPU for records about BPF programs, which are loaded for the whole machine,
 * so events of tasks do not report them. Without permission to watch the machine, their names are
 * missing. */
static void open_ksymbols(struct perf_source *s, const struct opening *o, size_t cpu)
{
	uint32_t side_band = (uint32_t)s->attrs.nr - 1;
	int ring_fd = o->ring_fd[PERF_SOURCE_SIDE_BAND];
	struct perf_event_attr attr;
	int fd;

	if (!o->config->tids || o->config->no_kernel || ring_fd < 0)
		return;
	perf_attr_ksymbols(&s->attrs.at[side_band], &attr);
	fd = perf_attr_open(&attr, -1, s->cpus.at[cpu]);
	if (fd < 0)
		return;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) ||
	    add_fd(s, fd, PERF_SOURCE_SIDE_BAND, side_band, cpu)) {
		close(fd);
		return;
	}
	s->fds.at[s->fds.nr - 1].untimed = true;
}

static int open_cpu(struct perf_source *s, struct opening *o, size_t cpu)
{
	const struct perf_source_config *c = o->config;
	size_t nr_tids = c->tids ? c->nr_tids : 1;
	int r = 0;

	for (size_t k = 0; k < PERF_SOURCE_RING_COUNT; k++)
		o->ring_fd[k] = -1;
	for (size_t t = 0; t < nr_tids && !r; t++)
		for (uint32_t a = 0; a < s->attrs.nr + s->has_namespaces && !r; a++)
			r = perf_source_open_one(s, o, cpu, a,
						 c->tids ? c->tids[t] : -1);
	if (!r)
		open_ksymbols(s, o, cpu);
	return r;
}

/* Opens a tracepoint that wakes us when a process loads a module. If this fails, only the periodic
 * reading of the module list finds modules. */
static void open_modules(struct perf_source *s)
{
	struct perf_event_attr attr;

	if (!s->has_namespaces ||
	    tracepoint_read("module/module_load", &s->module_load))
		return;
	perf_attr_tracepoint(&attr, s->module_load.id);
	for (size_t i = 0, nr = s->fds.nr; i < nr; i++) {
		struct event_fd entry = s->fds.at[i];
		int ring_fd = entry.fd;

		if (entry.kind != PERF_SOURCE_NAMESPACES)
			continue;
		entry.fd = perf_attr_open(&attr, -1, s->cpus.at[entry.cpu]);
		if (entry.fd < 0)
			return;
		if (ioctl(entry.fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) ||
		    !vec_push(&s->fds, entry)) {
			close(entry.fd);
			return;
		}
	}
}

bool perf_source_module_event(const struct perf_source *s, const void *record,
			      size_t len, const char **ret_name, uint64_t *ret_time_ns)
{
	/* The fields that perf_attr_tracepoint() requests. */
	struct {
		struct perf_event_header header;
		uint64_t id;
		uint64_t time_ns;
		uint32_t raw_bytes;
	} __attribute__((packed)) head;
	const char *raw = (const char *)record + sizeof(head);

	if (len < sizeof(head))
		return false;
	memcpy(&head, record, sizeof(head));
	if (head.header.type != PERF_RECORD_SAMPLE ||
	    head.raw_bytes > len - sizeof(head))
		return false;
	*ret_name = tracepoint_name(&s->module_load, raw, head.raw_bytes);
	*ret_time_ns = head.time_ns;
	return *ret_name;
}

static void raise_fd_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static size_t page_count(size_t wanted, size_t fallback)
{
	size_t pages = 1;

	if (!wanted)
		return fallback;
	while (pages < wanted && pages < SIZE_MAX / 2)
		pages *= 2;
	return pages;
}

/* Returns how many bytes of the user stack each sample copies: small rings should hold several
 * small stacks instead of a few large ones. */
static uint32_t fitting_window(const struct opening *o, uint32_t page_bytes)
{
	size_t room = o->pages[PERF_SOURCE_SAMPLES] * page_bytes / WINDOWS_AT_LEAST;
	uint32_t wanted = o->config->user_stack_bytes;

	if (room >= wanted)
		return wanted;
	return room > WINDOW_MIN_BYTES ? (uint32_t)room : WINDOW_MIN_BYTES;
}

static uint32_t wake_bytes(const struct opening *o, enum perf_source_ring kind,
			   uint32_t page_bytes)
{
	return (uint32_t)o->pages[kind] * page_bytes / 8 * WAKE_EIGHTHS;
}

static int make_attrs(struct perf_source *s, const struct perf_source_config *c,
		      const struct opening *o)
{
	struct perf_event_attr attr = { 0 };
	uint32_t page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	bool defer = c->chains && !c->user_stack_bytes && perf_attr_can_defer();

	for (size_t i = 0; i < c->nr_events; i++) {
		attr = c->events[i].attr;
		perf_attr_samples(&attr, c);
		perf_attr_set_bit(&attr, PERF_ATTR_DEFER_CALLCHAIN, defer);
		if (c->events[i].member)
			group_split_follow(&attr);
		else if (c->events[i].leads)
			group_split_lead(&attr);
		if (attr.sample_stack_user)
			attr.sample_stack_user = fitting_window(o, page_bytes);
		attr.wakeup_watermark = wake_bytes(o, PERF_SOURCE_SAMPLES, page_bytes);
		if (!vec_push(&s->attrs, attr))
			return -ENOMEM;
	}
	attr = (struct perf_event_attr){ 0 };
	perf_attr_side_band(&attr, c);
	if (c->chains)
		/* give the samples of all events the same layout */
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	perf_attr_set_bit(&attr, PERF_ATTR_DEFER_OUTPUT, defer);
	attr.wakeup_watermark = wake_bytes(o, PERF_SOURCE_SIDE_BAND, page_bytes);
	if (!vec_push(&s->attrs, attr))
		return -ENOMEM;
	s->ids = calloc(s->attrs.nr, sizeof(*s->ids));
	return s->ids ? 0 : -ENOMEM;
}

static void choose_pages(struct opening *o, size_t nr_cpus)
{
	bool stacks = o->config->user_stack_bytes;
	size_t big =
		page_count(o->config->ring_pages, stacks ? STACK_PAGES : SAMPLE_PAGES);

	while (stacks && !o->config->ring_pages && big > SAMPLE_PAGES &&
	       big * nr_cpus > PAGES_IN_ALL)
		big /= 2;
	o->pages[PERF_SOURCE_SAMPLES] =
		!o->config->ring_pages && nr_cpus > MANY_CPUS ? big / 2 : big;
	o->pages[PERF_SOURCE_SIDE_BAND] =
		o->config->tids ? SIDE_BAND_PAGES : SIDE_BAND_PAGES_WIDE;
	o->pages[PERF_SOURCE_NAMESPACES] = NAMESPACE_PAGES;
	for (size_t k = 0; k < PERF_SOURCE_RING_COUNT; k++)
		for (unsigned int i = 0; i < o->halvings && o->pages[k] > MIN_PAGES;
		     i++)
			o->pages[k] /= 2;
}

static int perf_source_make_tables(struct perf_source *s)
{
	s->epoll_fds[PERF_SOURCE_SAMPLES] = epoll_create1(EPOLL_CLOEXEC);
	s->epoll_fds[PERF_SOURCE_NAMESPACES] = epoll_create1(EPOLL_CLOEXEC);
	for (size_t k = 0; k < PERF_SOURCE_RING_COUNT; k++) {
		s->rings[k] = calloc(s->cpus.nr, sizeof(*s->rings[k]));
		if (!s->rings[k])
			return -ENOMEM;
	}
	return s->epoll_fds[PERF_SOURCE_SAMPLES] < 0 ||
			       s->epoll_fds[PERF_SOURCE_NAMESPACES] < 0
		       ? -ENOMEM
		       : 0;
}

/* Sets reported_attrs, and registers the event groups whose samples are split. */
static int report_attrs(struct perf_source *s)
{
	for (size_t i = 0; i < s->attrs.nr; i++) {
		struct perf_event_attr attr = s->attrs.at[i];
		bool leads = attr.read_format & PERF_FORMAT_GROUP;

		for (size_t k = 0; leads && k < s->ids[i].nr; k++)
			if (group_split_add(&s->split, s->ids[i].at[k], &attr))
				return -ENOMEM;
		if (attr.sample_type & PERF_SAMPLE_READ)
			group_split_reported(&attr);
		if (!vec_push(&s->reported_attrs, attr))
			return -ENOMEM;
	}
	return 0;
}

static int perf_source_open_all(struct perf_source *s, struct opening *o)
{
	int r = cpu_list_online(&s->cpus);

	if (r || !s->cpus.nr)
		return err_sys(o->err, r ? r : -ENODEV,
			       "cannot read the list of online CPUs");
	choose_pages(o, s->cpus.nr);
	r = perf_source_make_tables(s);
	if (r || make_attrs(s, o->config, o))
		return err_set(o->err, -ENOMEM, "out of memory");
	r = perf_attrs_probe(s->attrs.at, s->attrs.nr, s->cpus.at[0], o->config,
			     o->err);
	if (!r)
		s->has_namespaces = perf_attr_namespaces(&s->attrs.at[s->attrs.nr - 1],
							 o->config, &s->namespaces);
	for (size_t i = 0; i < s->cpus.nr && !r; i++)
		r = open_cpu(s, o, i);
	if (!r && report_attrs(s))
		r = err_set(o->err, -ENOMEM, "out of memory");
	if (!r && !o->config->no_kernel)
		open_modules(s);
	return r;
}

static int open_once(struct opening *o, struct perf_source **ret_source)
{
	struct perf_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_set(o->err, -ENOMEM, "out of memory");
	for (size_t k = 0; k < PERF_SOURCE_RING_COUNT; k++)
		s->epoll_fds[k] = -1;
	o->no_room = false;
	r = perf_source_open_all(s, o);
	if (!r && !s->fds.nr)
		r = perf_attr_explain(-ESRCH, o->config->events[0].name,
				      !o->config->tids, o->err);
	if (r) {
		perf_source_close(s);
		return r;
	}
	*ret_source = s;
	return 0;
}

int perf_source_open(const struct perf_source_config *config,
		     struct perf_source **ret_source, struct err *err)
{
	struct opening o = { .config = config, .err = err };
	int r;

	raise_fd_limit();
	/* If pinned memory is limited, open everything again with rings of half the size until
	 * they fit, so that all CPUs have rings of the same size and matching wakeups. */
	do
		r = open_once(&o, ret_source);
	while (r && o.no_room &&
	       (o.pages[PERF_SOURCE_SAMPLES] > MIN_PAGES ||
		o.pages[PERF_SOURCE_SIDE_BAND] > MIN_PAGES) &&
	       ++o.halvings);
	return r;
}

void perf_source_close(struct perf_source *s)
{
	if (!s)
		return;
	for (size_t k = 0; k < PERF_SOURCE_RING_COUNT; k++) {
		for (size_t i = 0; s->rings[k] && i < s->cpus.nr; i++)
			ring_close(&s->rings[k][i]);
		free(s->rings[k]);
	}
	for (size_t i = 0; i < s->fds.nr; i++)
		close(s->fds.at[i].fd);
	for (size_t i = 0; s->ids && i < s->attrs.nr; i++)
		vec_done(&s->ids[i]);
	free(s->ids);
	vec_done(&s->fds);
	vec_done(&s->attrs);
	vec_done(&s->reported_attrs);
	group_split_done(&s->split);
	cpu_list_done(&s->cpus);
	for (size_t k = 0; k < PERF_SOURCE_RING_COUNT; k++)
		if (s->epoll_fds[k] >= 0)
			close(s->epoll_fds[k]);
	free(s);
}

int perf_source_enable(struct perf_source *s, bool on)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < s->fds.nr; i++)
		if (s->fds.at[i].kind == PERF_SOURCE_SAMPLES && !s->fds.at[i].follows &&
		    ioctl(s->fds.at[i].fd, request, 0))
			return -errno;
	return 0;
}

int perf_source_poll_fd(const struct perf_source *s)
{
	return s->epoll_fds[PERF_SOURCE_SAMPLES];
}

int perf_source_namespaces_fd(const struct perf_source *s)
{
	return s->has_namespaces ? s->epoll_fds[PERF_SOURCE_NAMESPACES] : -1;
}

static int drain_ring(struct perf_source *s, struct ring *ring, perf_source_fn fn,
		      perf_source_end_fn end, void *ctx)
{
	const void *record;
	size_t len;
	int ended, r = 0;

	while (!r && (record = ring_next(ring, &len)))
		r = group_split_record(&s->split, record, len, fn, ctx);
	ended = end ? end(ctx) : 0;
	ring_release(ring);
	return r ? r : ended;
}

static void perf_source_look(struct perf_source *s, enum perf_source_ring kind)
{
	leave_ended(s, kind);
	for (size_t i = 0; i < s->cpus.nr; i++)
		if (s->rings[kind][i].base)
			ring_look(&s->rings[kind][i]);
}

static bool has_much(struct perf_source *s, enum perf_source_ring kind)
{
	perf_source_look(s, kind);
	for (size_t i = 0; i < s->cpus.nr; i++) {
		const struct ring *ring = &s->rings[kind][i];

		if (ring->base &&
		    ring->head - ring->tail >= ring->bytes / 8 * MUCH_EIGHTHS)
			return true;
	}
	return false;
}

bool perf_source_has_much(struct perf_source *s)
{
	return has_much(s, PERF_SOURCE_SAMPLES) || has_much(s, PERF_SOURCE_SIDE_BAND);
}

static int drain_rings(struct perf_source *s, enum perf_source_ring kind,
		       perf_source_fn fn, perf_source_end_fn end, void *ctx)
{
	int r = 0;

	for (size_t i = 0; i < s->cpus.nr && !r; i++)
		if (s->rings[kind][i].base)
			r = drain_ring(s, &s->rings[kind][i], fn, end, ctx);
	return r;
}

int perf_source_drain(struct perf_source *s, enum perf_source_ring kind,
		      perf_source_fn fn, void *ctx)
{
	int r = 0;

	perf_source_look(s, kind);
	/* The namespace rings are read after the side band, but their records are passed first, so
	 * that the namespaces of each process are known before its other records. */
	if (kind == PERF_SOURCE_SIDE_BAND && s->has_namespaces) {
		perf_source_look(s, PERF_SOURCE_NAMESPACES);
		r = drain_rings(s, PERF_SOURCE_NAMESPACES, fn, NULL, ctx);
	}
	return r ? r : drain_rings(s, kind, fn, NULL, ctx);
}

int perf_source_drain_samples(struct perf_source *s, perf_source_fn fn,
			      perf_source_end_fn end, void *ctx)
{
	perf_source_look(s, PERF_SOURCE_SAMPLES);
	return drain_rings(s, PERF_SOURCE_SAMPLES, fn, end, ctx);
}

uint64_t perf_source_drop_samples(struct perf_source *s)
{
	uint64_t nr = 0;

	perf_source_look(s, PERF_SOURCE_SAMPLES);
	for (size_t i = 0; i < s->cpus.nr; i++) {
		struct ring *ring = &s->rings[PERF_SOURCE_SAMPLES][i];
		const struct perf_event_header *record;
		size_t len;

		if (!ring->base)
			continue;
		while ((record = ring_next(ring, &len)))
			nr += record->type == PERF_RECORD_SAMPLE;
		ring_release(ring);
	}
	return nr;
}
