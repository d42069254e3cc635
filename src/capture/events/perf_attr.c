/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/events/perf_attr.h"

#include <errno.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "capture/events/events.h"

void perf_attr_tracepoint(struct perf_event_attr *a, uint64_t id)
{
	*a = (struct perf_event_attr){
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(*a),
		.config = id,
		.sample_period = 1,
		.sample_type =
			PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.wakeup_events = 1,
	};
}

int perf_attr_open_group(struct perf_event_attr *a, pid_t tid, int cpu, int leader)
{
	int fd = (int)syscall(SYS_perf_event_open, a, tid, cpu, leader,
			      PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int perf_attr_open(struct perf_event_attr *a, pid_t tid, int cpu)
{
	return perf_attr_open_group(a, tid, cpu, -1);
}

enum {
	/* The bit fields are one 64-bit word before this offset. */
	BITS_AT = offsetof(struct perf_event_attr, read_format) + sizeof(uint64_t)
};

static uint64_t perf_attr_mask_of(unsigned int bit)
{
	return 1ULL << (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 63 - bit : bit);
}

bool perf_attr_bit(const struct perf_event_attr *a, unsigned int bit)
{
	uint64_t bits;

	memcpy(&bits, (const char *)a + BITS_AT, sizeof(bits));
	return bits & perf_attr_mask_of(bit);
}

void perf_attr_set_bit(struct perf_event_attr *a, unsigned int bit, bool on)
{
	uint64_t bits;

	memcpy(&bits, (const char *)a + BITS_AT, sizeof(bits));
	bits = on ? bits | perf_attr_mask_of(bit) : bits & ~perf_attr_mask_of(bit);
	memcpy((char *)a + BITS_AT, &bits, sizeof(bits));
}

bool perf_attr_can_defer(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_DUMMY,
				     .sample_type = PERF_SAMPLE_CALLCHAIN,
				     .disabled = 1,
				     .exclude_kernel = 1,
				     .exclude_hv = 1 };
	int fd;

	perf_attr_set_bit(&a, PERF_ATTR_DEFER_CALLCHAIN, true);
	perf_attr_set_bit(&a, PERF_ATTR_DEFER_OUTPUT, true);
	fd = perf_attr_open(&a, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

enum {
	PERFMON = 38 /* CAP_PERFMON of capabilities(7), missing in older headers */
};

/* Returns whether this process has the capability, or true if that is unknown. */
static bool has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { 0 };

	return syscall(SYS_capget, &header, data) ||
	       data[capability / 32].effective & 1U << capability % 32;
}

/* Reads a number of /proc/sys/kernel. Returns false, and leaves *ret_value unchanged, if it cannot be
 * read or is negative. */
static bool read_setting(const char *path, uint64_t *ret_value)
{
	struct buf text = { 0 };
	bool ok = !io_read_file(path, &text, 64) && text.len;

	if (ok) {
		text.data[text.len - 1] = 0; /* remove the newline */
		ok = parse_u64_max((char *)text.data, INT32_MAX, ret_value);
	}
	buf_done(&text);
	return ok;
}

int perf_attr_paranoid(void)
{
	uint64_t level;

	return read_setting("/proc/sys/kernel/perf_event_paranoid", &level) ? (int)level
									    : -1;
}

uint64_t perf_attr_max_rate(void)
{
	uint64_t rate = 0;

	(void)read_setting("/proc/sys/kernel/perf_event_max_sample_rate", &rate);
	return rate;
}

/* Returns true if a seccomp filter applies to this process (proc(5): 2). */
static bool is_filtered(void)
{
	struct buf text = { 0 };
	bool filtered;

	(void)io_read_file("/proc/self/status", &text, 64 * 1024);
	buf_put_u8(&text, 0);
	filtered = !text.failed && strstr((const char *)text.data, "\nSeccomp:\t2");
	buf_done(&text);
	return filtered;
}

/* Returns whether the NMI watchdog runs, which permanently occupies a counter of each CPU. */
static bool nmi_watchdog_runs(void)
{
	struct buf text = { 0 };
	bool runs = !io_read_file("/proc/sys/kernel/nmi_watchdog", &text, 16) &&
		    text.len && text.data[0] == '1';

	buf_done(&text);
	return runs;
}

static int explain_rights(int code, bool system_wide, struct err *err)
{
	int level = perf_attr_paranoid();

	/* The kernel itself would return EACCES for perf_event_paranoid and missing
	 * capabilities. */
	if (code == -EPERM && is_filtered())
		return err_set(
			err, code,
			"a seccomp filter, as used by containers and services, forbids perf_event_open: "
			"start the container with --cap-add=PERFMON (older: "
			"SYS_ADMIN) or --security-opt seccomp=unconfined");
	/* Only kernels of Debian and Ubuntu refuse this. */
	if (!geteuid() && level > 2 && !has_capability(CAP_SYS_ADMIN))
		return err_set(
			err, code,
			"/proc/sys/kernel/perf_event_paranoid=%d requires CAP_SYS_ADMIN, which root lacks here",
			level);
	if (system_wide && !geteuid() && !has_capability(CAP_SYS_ADMIN) &&
	    !has_capability(PERFMON))
		return err_set(
			err, code,
			"To do system-wide profiling, root needs CAP_PERFMON (older: CAP_SYS_ADMIN), which it lacks here, or /proc/sys/kernel/perf_event_paranoid must be set to 0 or -1 (it is %d)",
			level);
	if (system_wide)
		return err_set(
			err, code,
			"To do system-wide profiling, either you must be root or /proc/sys/kernel/perf_event_paranoid must be set to 0 or -1 (it is %d)",
			level);
	/* Level 2 permits sampling the user space of own processes, so the request was for more. */
	return err_set(
		err, code,
		"not allowed to profile%s: "
		"/proc/sys/kernel/perf_event_paranoid is %d, your own processes need %d or less (sysctl kernel.perf_event_paranoid=%d), other users' processes need root",
		level == 2 ? " the kernel" : "", level, level == 2 ? 1 : 2,
		level == 2 ? 1 : 2);
}

int perf_attr_explain(int code, const char *event, bool system_wide, struct err *err)
{
	static const struct {
		int code;
		const char *text;
	} reasons[] = {
		{ -ENOENT,
		  "this machine does not have it (a virtual machine without PMU?); "
		  "the event TIMER works everywhere" },
		{ -EOPNOTSUPP,
		  "the hardware cannot sample it; the event TIMER works everywhere" },
		{ -EBUSY, "the performance monitoring hardware reports EBUSY: "
			  "is another profiling tool in use?" },
		{ -ENOSYS,
		  "this kernel has no perf_events (CONFIG_PERF_EVENTS), or a container's seccomp filter hides it" },
		{ -EMFILE, "too many open files: raise the limit (ulimit -n)" },
		{ -ESRCH, "the process has ended" },
		{ -EINVAL,
		  "the kernel rejects these settings (is the rate above /proc/sys/kernel/perf_event_max_sample_rate?)" },
	};

	if (code == -EBUSY && nmi_watchdog_runs())
		return err_set(
			err, code,
			"event %s: no counter is free; the NMI watchdog uses one: sysctl kernel.nmi_watchdog=0 releases it",
			event);
	if (code == -EACCES || code == -EPERM)
		return explain_rights(code, system_wide, err);
	for (size_t i = 0; i < COUNT_OF(reasons); i++)
		if (reasons[i].code == code)
			return err_set(err, code, "cannot open the event %s: %s", event,
				       reasons[i].text);
	return err_sys(err, code, "cannot open the event %s", event);
}

/* Returns true if the kernel accepts the event without exclude_kernel and exclude_user, because
 * its PMU cannot separate user and kernel (PERF_PMU_CAP_NO_EXCLUDE: msr, uncore). */
static bool knows_no_modes(const struct event_request *e, pid_t tid, int cpu)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = e->attr.type,
					.config = e->attr.config,
					.config1 = e->attr.config1,
					.config2 = e->attr.config2,
					.disabled = 1 };
	int fd;

	if (attr.type < PERF_TYPE_MAX || e->kernel == e->user)
		return false;
	fd = perf_attr_open(&attr, tid, cpu);
	if (fd >= 0)
		close(fd);
	/* Accept a missing permission also: without these bits the event counts the kernel, which
	 * can be forbidden. */
	return fd >= 0 || fd == -EACCES || fd == -EPERM;
}

/* Returns whether the task belongs to another user, according to /proc. */
static bool is_anothers(pid_t tid)
{
	char path[32];
	struct stat status;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)tid);
	return tid > 0 && !stat(path, &status) && status.st_uid != geteuid();
}

int perf_attr_explain_event(int code, const struct event_request *e, pid_t tid, int cpu,
			    struct err *err)
{
	if (code == -EINVAL && knows_no_modes(e, tid, cpu))
		return err_set(
			err, code,
			"event %s: its PMU cannot count user space and the kernel separately: remove the modifier (u, k, :0:1)",
			e->name);
	if ((code == -EACCES || code == -EPERM) && is_anothers(tid))
		return err_set(
			err, code,
			"You do not have permission to monitor process %d: "
			"it belongs to another user; this needs root or CAP_PERFMON",
			(int)tid);
	return perf_attr_explain(code, e->name, tid < 0, err);
}

bool perf_attr_let_guests(struct perf_event_attr *a, int code)
{
	if (code != -EINVAL || !a->exclude_guest ||
	    (!a->precise_ip && a->type < PERF_TYPE_MAX))
		return false;
	a->exclude_guest = 0;
	return true;
}
