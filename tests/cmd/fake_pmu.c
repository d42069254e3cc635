/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fake_pmu.c - preloaded into a command: emulates hardware counters on a machine without any.
 *
 * CPU events are counted by the kernel's clock.  FAKE_SYSFS replaces
 * /sys/bus/event_source/devices, and FAKE_CPUINFO replaces /proc/cpuinfo.  PMU type 101
 * belongs to CPUs with even numbers, 102 to those with odd numbers; 103 is AMD's IBS as in
 * Linux 6.1; 105 counts but cannot sample, like msr; 110 and above belong to no core and are
 * counted once for each CPU in their cpumask.  FAKE_PRECISE is the highest precision of
 * samples.  FAKE_COUNTERS is the number of events that a group can count at once.  With
 * FAKE_DEFER the kernel accepts the flags of Linux 6.19 for deferred call chains and reports
 * them, but still delivers user call chains at once.  FAKE_PARANOID replaces
 * /proc/sys/kernel/perf_event_paranoid, and then no user may open kernel events.  With
 * FAKE_NONE the only events are the kernel's software events. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char devices[] = "/sys/bus/event_source/devices";

enum {
	EVEN = 101,
	ODD = 102,
	IBS = 103,
	IBS_STEP = 16,
	MSR = 105,
	UNCORE = 110,
	LEAST_NS = 100000
};

static const char *moved(const char *path, char room[4096])
{
	const char *to = getenv("FAKE_SYSFS");
	const char *cpuinfo = getenv("FAKE_CPUINFO");
	const char *paranoid = getenv("FAKE_PARANOID");

	if (cpuinfo && !strcmp(path, "/proc/cpuinfo"))
		return cpuinfo;
	if (paranoid && !strcmp(path, "/proc/sys/kernel/perf_event_paranoid"))
		return paranoid;
	if (!to || strncmp(path, devices, sizeof(devices) - 1) != 0)
		return path;
	(void)snprintf(room, 4096, "%s%s", to, path + sizeof(devices) - 1);
	return room;
}

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* The functions openat() and openat64() replace those of the C library; their parameters have the
 * names of its declarations. */
int openat(int __fd, const char *__file, int __oflag, ...)
{
	char room[4096];
	int (*real)(int, const char *, int, ...);
	va_list more;
	mode_t mode;

	*(void **)&real = next("openat64");
	va_start(more, __oflag);
	mode = __oflag & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	return real(__fd, moved(__file, room), __oflag | O_CLOEXEC, mode);
}

DIR *opendir(const char *__name)
{
	char room[4096];
	DIR *(*real)(const char *) = (DIR * (*)(const char *)) next("opendir");

	return real(moved(__name, room));
}

int access(const char *__name, int __type)
{
	char room[4096];
	int (*real)(const char *, int) = (int (*)(const char *, int))next("access");

	return real(moved(__name, room), __type);
}

/* Replaces *a by an event that this machine has. Returns 0, or the errno of the emulated
 * machine. */
static int translate(struct perf_event_attr *a, long cpu)
{
	const char *precise = getenv("FAKE_PRECISE");
	unsigned int type = a->type;
	bool is_counter;

	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE)
		type = a->config >> 32 ? (unsigned int)(a->config >> 32) : type;
	is_counter = type == MSR || type >= UNCORE;
	if (getenv("FAKE_PARANOID") && !a->exclude_kernel)
		return EACCES;
	if (type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT)
		return 0;
	if (getenv("FAKE_NONE") || (type == EVEN && cpu >= 0 && cpu % 2) ||
	    (type == ODD && cpu >= 0 && cpu % 2 == 0))
		return ENOENT;
	if ((type >= UNCORE && cpu < 0) || (is_counter && a->sample_period))
		return EINVAL;
	/* As in the kernel, the PMUs with PERF_PMU_CAP_NO_EXCLUDE cannot exclude any level, and
	 * perf_ibs_init() refuses some attributes of IBS. */
	if ((is_counter || type == IBS) &&
	    (a->exclude_kernel || a->exclude_user || a->exclude_hv || a->exclude_idle ||
	     a->exclude_guest || a->exclude_host))
		return EINVAL;
	if (type == IBS && !a->freq && a->sample_period % IBS_STEP)
		return EINVAL;
	if (precise && a->precise_ip > *precise - '0')
		return EOPNOTSUPP;
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_CPU_CLOCK;
	a->config1 = a->config2 = 0;
	a->precise_ip = 0;
	if (!a->freq && a->sample_period && a->sample_period < LEAST_NS)
		a->sample_period = LEAST_NS;
	return 0;
}

/* Returns whether a group exceeds FAKE_COUNTERS events; groups are known by the descriptor of
 * their first event. */
static int too_many(const struct perf_event_attr *a, int group, bool is_new, int fd)
{
	static int members[4096];
	const char *counters = getenv("FAKE_COUNTERS");

	if (!counters || a->type == PERF_TYPE_SOFTWARE ||
	    a->type == PERF_TYPE_TRACEPOINT)
		return 0;
	if (is_new && fd >= 0 && fd < 4096)
		members[fd] = 1;
	return group >= 0 && group < 4096 && !is_new &&
	       ++members[group] > (int)strtol(counters, NULL, 10);
}

/* Handles attr.defer_callchain and .defer_output, which current headers lack. */
static void take_deferred(struct perf_event_attr *a)
{
	const uint64_t callchain = 1ULL << 38, output = 1ULL << 39;
	uint64_t bits;
	char *at = (char *)a + offsetof(struct perf_event_attr, wakeup_events) -
		   sizeof(bits);

	memcpy(&bits, at, sizeof(bits));
	if (!getenv("FAKE_DEFER") || !(bits & (callchain | output)))
		return;
	(void)fprintf(stderr, "fake_pmu: deferred:%s%s\n",
		      bits & callchain ? " callchain" : "",
		      bits & output ? " output" : "");
	bits &= ~(callchain | output);
	memcpy(at, &bits, sizeof(bits));
}

long syscall(long __sysno, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))next("syscall");
	long arg[6];
	va_list more;

	va_start(more, __sysno);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(more, long);
	va_end(more);
	if (__sysno == SYS_perf_event_open) {
		struct perf_event_attr a;
		const void *given;

		memcpy(&given, &arg[0], sizeof(given));
		memcpy(&a, given, sizeof(a));
		take_deferred(&a);
		errno = translate(&a, (int)arg[2]);
		if (getenv("FAKE_LOG"))
			(void)fprintf(
				stderr,
				"fake_pmu: type %u config 0x%llx cpu %d precise "
				"%u: %d\n",
				((const struct perf_event_attr *)given)->type,
				((const struct perf_event_attr *)given)->config,
				(int)arg[2],
				((const struct perf_event_attr *)given)->precise_ip,
				errno);
		if (!errno && too_many(given, (int)arg[3], false, -1))
			errno = EINVAL;
		if (errno)
			return -1;
		arg[5] = real(__sysno, &a, arg[1], arg[2], arg[3], arg[4]);
		too_many(given, -1, true, (int)arg[5]);
		return arg[5];
	}
	return real(__sysno, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
