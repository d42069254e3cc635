#include "capture/perf_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/vec.h"
#include "capture/cpus.h"
#include "capture/ring.h"

enum {
	SAMPLE_PAGES =
		256, /* 1 MB: 3 s of flat samples at 4999 Hz, 1 s of deep chains */
	SIDE_BAND_PAGES = 64,
	MANY_CPUS = 32, /* beyond, rings of half the size */
	MIN_PAGES = 8
};

/* One opened perf event. */
struct event_fd {
	int fd;
	uint32_t attr;
	uint32_t cpu; /* index of the CPU whose ring it writes to */
};

struct perf_source {
	VEC(struct perf_event_attr) attrs; /* the side band's is the last one */
	VEC(struct event_fd) fds;
	VEC(uint64_t) * ids;                        /* per attr */
	struct ring *rings[PERF_SOURCE_RING_COUNT]; /* per CPU of `cpus` */
	struct cpu_list cpus;
	int epoll_fd;
};

/* Steps down for older kernels, newest feature first: each clears one thing. */
static void drop_lost(struct perf_event_attr *a)
{
	a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
}
static void drop_build_id(struct perf_event_attr *a)
{
	a->build_id = 0;
}
static void drop_cgroup(struct perf_event_attr *a)
{
	a->cgroup = 0;
	a->sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
}
static void drop_ksymbol(struct perf_event_attr *a)
{
	a->ksymbol = 0;
	a->bpf_event = 0;
}
static void drop_namespaces(struct perf_event_attr *a)
{
	a->namespaces = 0;
}

static const struct {
	void (*drop)(struct perf_event_attr *a);
} older_kernels[] = {
	{ drop_lost },      /* 6.0 */
	{ drop_build_id },  /* 5.12 */
	{ drop_cgroup },    /* 5.7 */
	{ drop_ksymbol },   /* 5.1 */
	{ drop_namespaces } /* 4.12 */
};

static void common_attr(struct perf_event_attr *a, const struct perf_source_config *c)
{
	a->size = sizeof(*a);
	a->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			 PERF_SAMPLE_CGROUP;
	a->sample_id_all = 1;
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
	a->inherit = c->tids != NULL;
	a->exclude_guest = 1;
	a->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	a->watermark = 1;
}

static void sample_attr(struct perf_event_attr *a, const struct perf_source_config *c)
{
	common_attr(a, c);
	a->disabled = 1;
	a->enable_on_exec = c->on_exec;
	/* Of a software event that should tell its period, the kernel writes a sample for
	 * every single one, whatever the count (perf_swevent_event()). */
	if (!a->freq)
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	if (c->chains)
		a->sample_type |= PERF_SAMPLE_CALLCHAIN;
}

static void side_band_attr(struct perf_event_attr *a,
			   const struct perf_source_config *c)
{
	common_attr(a, c);
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_DUMMY;
	a->exclude_kernel = 1;
	a->exclude_hv = 1;
	a->mmap = 1;
	a->mmap2 = 1;
	a->comm = 1;
	a->comm_exec = 1;
	a->task = 1;
	a->build_id = 1;
	a->cgroup = 1;
	a->namespaces = 1;
	/* BPF programs come and go for the whole machine, not for a task. */
	a->ksymbol = !c->tids;
	a->bpf_event = !c->tids;
}

static int perf_event_open(struct perf_event_attr *a, pid_t tid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, a, tid, cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int perf_source_paranoid(void)
{
	struct buf text = { 0 };
	int level = -1;

	if (!io_read_file("/proc/sys/kernel/perf_event_paranoid", &text, 64) &&
	    text.len) {
		buf_put_u8(&text, 0);
		if (text.data[0] == '-')
			level = -1;
		else
			level = text.data[0] - '0';
	}
	buf_done(&text);
	return level;
}

/* What perf_event_open() failing means, for a user; perf_event_open(2), ERRORS. */
static int explain(int code, const char *event, bool system_wide, struct err *err)
{
	static const struct {
		int code;
		const char *text;
	} reasons[] = {
		{ -ENOENT,
		  "this machine does not have it (a virtual machine without PMU?); "
		  "the event TIMER works everywhere" },
		{ -EOPNOTSUPP, "the hardware cannot sample it; the event TIMER works "
			       "everywhere" },
		{ -EBUSY,
		  "the performance monitoring hardware reports EBUSY: is another "
		  "profiling tool in use?" },
		{ -ENOSYS, "this kernel has no perf_events (CONFIG_PERF_EVENTS), or a "
			   "container's seccomp filter hides it" },
		{ -EMFILE, "too many open files: raise the limit (ulimit -n)" },
		{ -ESRCH, "the process has ended" },
		{ -EINVAL,
		  "the kernel does not take it with these settings (a rate above "
		  "/proc/sys/kernel/perf_event_max_sample_rate?)" },
	};
	int level = perf_source_paranoid();

	if (code == -EACCES || code == -EPERM) {
		if (system_wide)
			return err_set(
				err, code,
				"To do system-wide profiling, either you must be root "
				"or /proc/sys/kernel/perf_event_paranoid must be set "
				"to "
				"0 or -1 (it is %d)",
				level);
		return err_set(
			err, code,
			"not allowed to profile: /proc/sys/kernel/perf_event_paranoid "
			"is %d, your own processes need 2 or less "
			"(sysctl kernel.perf_event_paranoid=2), other users' processes "
			"need root",
			level);
	}
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].code == code)
			return err_set(err, code, "event %s: %s", event,
				       reasons[i].text);
	return err_sys(err, code, "event %s", event);
}

/* Tries the attr, then without what older kernels do not know; the rest of the recording
 * opens with what is left of it. */
static int probe_attrs(struct perf_source *s, const struct perf_source_config *c,
		       struct err *err)
{
	pid_t tid = c->tids ? c->tids[0] : -1;
	size_t step = 0, nr_ended = 0;

	for (size_t i = 0; i < s->attrs.nr;) {
		int fd = perf_event_open(&s->attrs.at[i], tid, s->cpus.at[0]);

		if (fd >= 0) {
			close(fd);
			i++;
			continue;
		}
		/* Namespaces are told only to those with CAP_PERFMON. */
		if ((fd == -EACCES || fd == -EPERM) && s->attrs.at[i].namespaces) {
			drop_namespaces(&s->attrs.at[i]);
			continue;
		}
		/* The first thread may have left the others alone. */
		if (fd == -ESRCH && nr_ended + 1 < c->nr_tids) {
			tid = c->tids[++nr_ended];
			continue;
		}
		if (fd != -EINVAL ||
		    step == sizeof(older_kernels) / sizeof(*older_kernels))
			return explain(
				fd, i < c->nr_events ? c->events[i].name : "side band",
				!c->tids, err);
		/* All attrs keep the same sample_type, so all take the step. */
		for (size_t k = 0; k < s->attrs.nr; k++)
			older_kernels[step].drop(&s->attrs.at[k]);
		step++;
		i = 0;
	}
	return 0;
}

static int add_fd(struct perf_source *s, int fd, uint32_t attr, size_t cpu)
{
	struct event_fd entry = { .fd = fd, .attr = attr, .cpu = (uint32_t)cpu };
	uint64_t id;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
		return -errno;
	if (!vec_push(&s->ids[attr], id) || !vec_push(&s->fds, entry))
		return -ENOMEM;
	return 0;
}

static enum perf_source_ring ring_kind(const struct perf_source *s, uint32_t attr)
{
	return attr + 1 == s->attrs.nr ? PERF_SOURCE_SIDE_BAND : PERF_SOURCE_SAMPLES;
}

/* One descriptor wakes us for a whole ring. */
static int watch(struct perf_source *s, size_t i)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = i };

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->fds.at[i].fd, &event) ? -errno
									      : 0;
}

static void watch_next(struct perf_source *s, size_t ended)
{
	const struct event_fd *old = &s->fds.at[ended];

	(void)epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, old->fd, NULL);
	for (size_t i = ended + 1; i < s->fds.nr; i++)
		if (s->fds.at[i].cpu == old->cpu &&
		    ring_kind(s, s->fds.at[i].attr) == ring_kind(s, old->attr) &&
		    !watch(s, i))
			return;
}

/* A descriptor whose task and all that it started have ended polls as hung up for ever,
 * while others may still write to its ring: one of these is watched from then on. */
static void leave_ended(struct perf_source *s)
{
	struct epoll_event events[16];
	int nr, nr_ended;

	do {
		nr = epoll_wait(s->epoll_fd, events, 16, 0);
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
	unsigned int halvings; /* of the rings, where pinned memory is limited */
	size_t pages[PERF_SOURCE_RING_COUNT];
	int ring_fd[PERF_SOURCE_RING_COUNT]; /* of the CPU at hand */
	bool no_room;                        /* for a ring: perf_event_mlock_kb */
	struct err *err;
};

/* One event on one CPU for one task (or all): its own descriptor, the CPU's ring. */
static int open_one(struct perf_source *s, struct opening *o, size_t cpu, uint32_t attr,
		    pid_t tid)
{
	enum perf_source_ring kind = ring_kind(s, attr);
	int fd = perf_event_open(&s->attrs.at[attr], tid, s->cpus.at[cpu]);
	int r;

	if (fd == -ENODEV || (fd == -ESRCH && o->config->nr_tids > 1))
		return 0; /* the CPU went offline, or one of several threads ended */
	if (fd < 0)
		return explain(fd,
			       attr < o->config->nr_events
				       ? o->config->events[attr].name
				       : "side band",
			       !o->config->tids, o->err);
	r = add_fd(s, fd, attr, cpu);
	if (r) {
		close(fd);
		return err_sys(o->err, r, "perf_event_open");
	}
	if (o->ring_fd[kind] >= 0) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, o->ring_fd[kind]))
			return err_sys(o->err, -errno, "PERF_EVENT_IOC_SET_OUTPUT");
		return 0;
	}
	r = ring_open(&s->rings[kind][cpu], fd, o->pages[kind]);
	if (!r)
		r = watch(s, s->fds.nr - 1);
	o->no_room = r == -EPERM;
	if (o->no_room)
		return err_set(o->err, r,
			       "Failed to mmap kernel profile data: raise "
			       "/proc/sys/kernel/perf_event_mlock_kb or ulimit -l");
	if (r)
		return err_sys(o->err, r, "perf ring buffer");
	o->ring_fd[kind] = fd;
	return 0;
}

static int open_cpu(struct perf_source *s, struct opening *o, size_t cpu)
{
	const struct perf_source_config *c = o->config;
	size_t nr_tids = c->tids ? c->nr_tids : 1;
	int r = 0;

	o->ring_fd[PERF_SOURCE_SIDE_BAND] = o->ring_fd[PERF_SOURCE_SAMPLES] = -1;
	for (size_t t = 0; t < nr_tids && !r; t++)
		for (uint32_t a = 0; a < s->attrs.nr && !r; a++)
			r = open_one(s, o, cpu, a, c->tids ? c->tids[t] : -1);
	return r;
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

static int make_attrs(struct perf_source *s, const struct perf_source_config *c,
		      const struct opening *o)
{
	struct perf_event_attr attr = { 0 };
	uint32_t page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < c->nr_events; i++) {
		attr = c->events[i].attr;
		sample_attr(&attr, c);
		attr.wakeup_watermark =
			(uint32_t)o->pages[PERF_SOURCE_SAMPLES] * page_bytes / 2;
		if (!vec_push(&s->attrs, attr))
			return -ENOMEM;
	}
	attr = (struct perf_event_attr){ 0 };
	side_band_attr(&attr, c);
	if (c->chains)
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN; /* one layout for all */
	attr.wakeup_watermark =
		(uint32_t)o->pages[PERF_SOURCE_SIDE_BAND] * page_bytes / 2;
	if (!vec_push(&s->attrs, attr))
		return -ENOMEM;
	s->ids = calloc(s->attrs.nr, sizeof(*s->ids));
	return s->ids ? 0 : -ENOMEM;
}

static void choose_pages(struct opening *o, size_t nr_cpus)
{
	size_t big = page_count(o->config->ring_pages, SAMPLE_PAGES);

	o->pages[PERF_SOURCE_SAMPLES] =
		!o->config->ring_pages && nr_cpus > MANY_CPUS ? big / 2 : big;
	o->pages[PERF_SOURCE_SIDE_BAND] = SIDE_BAND_PAGES;
	for (size_t k = 0; k < PERF_SOURCE_RING_COUNT; k++)
		for (unsigned int i = 0; i < o->halvings && o->pages[k] > MIN_PAGES;
		     i++)
			o->pages[k] /= 2;
}

static int open_all(struct perf_source *s, struct opening *o)
{
	int r = cpu_list_online(&s->cpus);

	if (r || !s->cpus.nr)
		return err_sys(o->err, r ? r : -ENODEV, "list of online CPUs");
	choose_pages(o, s->cpus.nr);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	for (size_t k = 0; k < PERF_SOURCE_RING_COUNT; k++)
		s->rings[k] = calloc(s->cpus.nr, sizeof(*s->rings[k]));
	if (s->epoll_fd < 0 || !s->rings[0] || !s->rings[1] ||
	    make_attrs(s, o->config, o))
		return err_set(o->err, -ENOMEM, "out of memory");
	r = probe_attrs(s, o->config, o->err);
	for (size_t i = 0; i < s->cpus.nr && !r; i++)
		r = open_cpu(s, o, i);
	return r;
}

static int open_once(struct opening *o, struct perf_source **ret_source)
{
	struct perf_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_set(o->err, -ENOMEM, "out of memory");
	s->epoll_fd = -1;
	o->no_room = false;
	r = open_all(s, o);
	if (!r && !s->fds.nr)
		r = explain(-ESRCH, o->config->events[0].name, !o->config->tids,
			    o->err);
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
	/* Rights to pinned memory are limited: takes what there is, alike for all CPUs,
	 * with the wakeups that suit it. */
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
	cpu_list_done(&s->cpus);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s);
}

size_t perf_source_nr_attrs(const struct perf_source *s)
{
	return s->attrs.nr;
}

const struct perf_event_attr *perf_source_attr(const struct perf_source *s, size_t i)
{
	return &s->attrs.at[i];
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

int perf_source_enable(struct perf_source *s, bool on)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < s->fds.nr; i++)
		if (ring_kind(s, s->fds.at[i].attr) == PERF_SOURCE_SAMPLES &&
		    ioctl(s->fds.at[i].fd, request, 0))
			return -errno;
	return 0;
}

int perf_source_poll_fd(const struct perf_source *s)
{
	return s->epoll_fd;
}

static int drain_ring(struct ring *ring, perf_source_fn fn, void *ctx)
{
	const void *record;
	size_t len;
	int r = 0;

	while (!r && (record = ring_next(ring, &len)))
		r = fn(ctx, record, len);
	ring_release(ring);
	return r;
}

int perf_source_drain(struct perf_source *s, enum perf_source_ring kind,
		      perf_source_fn fn, void *ctx)
{
	int r = 0;

	leave_ended(s);
	for (size_t i = 0; i < s->cpus.nr; i++)
		if (s->rings[kind][i].base)
			ring_look(&s->rings[kind][i]);
	for (size_t i = 0; i < s->cpus.nr && !r; i++)
		if (s->rings[kind][i].base)
			r = drain_ring(&s->rings[kind][i], fn, ctx);
	return r;
}

int perf_source_lost(const struct perf_source *s, uint64_t *ret_lost)
{
	struct {
		uint64_t value, id, lost;
	} counter;
	uint64_t lost = 0;

	if (!(s->attrs.at[0].read_format & PERF_FORMAT_LOST))
		return -EOPNOTSUPP;
	for (size_t i = 0; i < s->fds.nr; i++)
		if (ring_kind(s, s->fds.at[i].attr) == PERF_SOURCE_SAMPLES &&
		    read(s->fds.at[i].fd, &counter, sizeof(counter)) == sizeof(counter))
			lost += counter.lost;
	*ret_lost = lost;
	return 0;
}
