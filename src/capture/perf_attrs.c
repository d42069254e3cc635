#include "capture/perf_attrs.h"

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

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/log.h"
#include "base/parse.h"
#include "capture/perf_source.h"

/* What can be left out. */
enum {
	NO_LOST = 1,
	NO_BUILD_ID = 2,
	NO_CGROUP = 4,
	NO_KSYMBOL = 8,
	NO_NAMESPACES = 16
};

/* Tried one after another. */
static const uint8_t attempts[] = {
	NO_CGROUP,             /* a kernel of any age without CONFIG_CGROUP_PERF */
	NO_LOST,               /* before 6.0 */
	NO_LOST | NO_BUILD_ID, /* 5.12 */
	NO_LOST | NO_BUILD_ID | NO_CGROUP,                             /* 5.7 */
	NO_LOST | NO_BUILD_ID | NO_CGROUP | NO_KSYMBOL,                /* 5.1 */
	NO_LOST | NO_BUILD_ID | NO_CGROUP | NO_KSYMBOL | NO_NAMESPACES /* 4.12 */
};

static void leave_out(struct perf_event_attr *a, unsigned int what)
{
	if (what & NO_LOST)
		a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
	if (what & NO_BUILD_ID)
		a->build_id = 0;
	if (what & NO_CGROUP) {
		a->cgroup = 0;
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
	}
	if (what & NO_KSYMBOL)
		a->ksymbol = a->bpf_event = 0;
	if (what & NO_NAMESPACES)
		a->namespaces = 0;
}

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
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			 PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
			 PERF_FORMAT_LOST;
	a->watermark = 1;
}

void perf_attr_samples(struct perf_event_attr *a, const struct perf_source_config *c)
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
	if (!c->user_stack_bytes)
		return;
	a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	a->sample_regs_user = c->user_regs;
	a->sample_stack_user = c->user_stack_bytes;
	a->exclude_callchain_user = 1;
}

void perf_attr_side_band(struct perf_event_attr *a, const struct perf_source_config *c)
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
	a->build_id = !c->no_build_ids;
	a->cgroup = 1;
	a->namespaces = 1;
	/* BPF programs come and go for the whole machine, not for a task: perf_attr_ksymbols(). */
	a->ksymbol = !c->tids;
	a->bpf_event = !c->tids;
}

/* What tells of tasks. */
static void without_tasks(struct perf_event_attr *a)
{
	a->mmap = a->mmap2 = a->build_id = 0;
	a->comm = a->comm_exec = a->task = 0;
}

void perf_attr_ksymbols(const struct perf_event_attr *side_band,
			struct perf_event_attr *ret_attr)
{
	*ret_attr = *side_band;
	without_tasks(ret_attr);
	ret_attr->cgroup = ret_attr->namespaces = ret_attr->inherit = 0;
	ret_attr->ksymbol = ret_attr->bpf_event = 1;
}

bool perf_attr_namespaces(struct perf_event_attr *side_band,
			  const struct perf_source_config *c,
			  struct perf_event_attr *ret_attr)
{
	if (!side_band->namespaces || (c->tids && c->nr_tids > 1))
		return false;
	*ret_attr = *side_band;
	side_band->namespaces = 0;
	without_tasks(ret_attr);
	ret_attr->cgroup = ret_attr->ksymbol = ret_attr->bpf_event = 0;
	ret_attr->wakeup_watermark = 1;
	return true;
}

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
	/* The bits are one word. */
	BITS_AT = offsetof(struct perf_event_attr, read_format) + sizeof(uint64_t)
};

static uint64_t mask_of(unsigned int bit)
{
	return 1ULL << (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 63 - bit : bit);
}

bool perf_attr_bit(const struct perf_event_attr *a, unsigned int bit)
{
	uint64_t bits;

	memcpy(&bits, (const char *)a + BITS_AT, sizeof(bits));
	return bits & mask_of(bit);
}

void perf_attr_set_bit(struct perf_event_attr *a, unsigned int bit, bool on)
{
	uint64_t bits;

	memcpy(&bits, (const char *)a + BITS_AT, sizeof(bits));
	bits = on ? bits | mask_of(bit) : bits & ~mask_of(bit);
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
	PERFMON =
		38 /* CAP_PERFMON of capabilities(7), which older headers do not have */
};

/* Where it is not known: true. */
static bool has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { 0 };

	return syscall(SYS_capget, &header, data) ||
	       data[capability / 32].effective & 1U << capability % 32;
}

int perf_source_paranoid(void)
{
	struct buf text = { 0 };
	uint64_t value;
	int level = -1;

	if (!io_read_file("/proc/sys/kernel/perf_event_paranoid", &text, 64) &&
	    text.len) {
		text.data[text.len - 1] = 0; /* the end of the line */
		if (parse_u64_max((char *)text.data, INT32_MAX, &value))
			level = (int)value;
	}
	buf_done(&text);
	return level;
}

/* Whether a seccomp filter is over this process (proc(5): 2). */
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

/* It holds a counter of each CPU for good. */
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
	int level = perf_source_paranoid();

	/* perf_event_paranoid and missing capabilities are EACCES. */
	if (code == -EPERM && is_filtered())
		return err_set(
			err, code,
			"perf_event_open is forbidden here by a seccomp filter, as "
			"containers and services have: start the container with "
			"--cap-add=PERFMON (older: SYS_ADMIN) or --security-opt "
			"seccomp=unconfined");
	/* Debian's and Ubuntu's kernels, not Linux itself. */
	if (!geteuid() && level > 2 && !has_capability(CAP_SYS_ADMIN))
		return err_set(
			err, code,
			"root has no CAP_SYS_ADMIN here, without which this kernel "
			"lets nobody profile while "
			"/proc/sys/kernel/perf_event_paranoid is above 2 (it is %d)",
			level);
	if (system_wide && !geteuid() && !has_capability(CAP_SYS_ADMIN) &&
	    !has_capability(PERFMON))
		return err_set(
			err, code,
			"To do system-wide profiling, root needs CAP_PERFMON (older: "
			"CAP_SYS_ADMIN), which it does not have here, or "
			"/proc/sys/kernel/perf_event_paranoid must be set to 0 or -1 "
			"(it is %d)",
			level);
	if (system_wide)
		return err_set(
			err, code,
			"To do system-wide profiling, either you must be root or "
			"/proc/sys/kernel/perf_event_paranoid must be set to 0 or -1 "
			"(it is %d)",
			level);
	/* At 2 one's own user space is let in: what was refused is more. */
	return err_set(
		err, code,
		"not allowed to profile%s: /proc/sys/kernel/perf_event_paranoid is "
		"%d, your own processes need %d or less "
		"(sysctl kernel.perf_event_paranoid=%d), other users' processes "
		"need root",
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

	if (code == -EBUSY && nmi_watchdog_runs())
		return err_set(err, code,
			       "event %s: no counter is free, and the NMI watchdog has "
			       "one: sysctl kernel.nmi_watchdog=0 gives it back",
			       event);
	if (code == -EACCES || code == -EPERM)
		return explain_rights(code, system_wide, err);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].code == code)
			return err_set(err, code, "event %s: %s", event,
				       reasons[i].text);
	return err_sys(err, code, "event %s", event);
}

/* Whether the kernel takes the event where nothing is said of kernel and user space: its PMU counts
 * both or nothing (PERF_PMU_CAP_NO_EXCLUDE: msr, uncore). */
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
	/* Without the bits it is the kernel that is asked for, too. */
	return fd >= 0 || fd == -EACCES || fd == -EPERM;
}

/* Of another user, as far as /proc tells. */
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
		return err_set(err, code,
			       "event %s: its PMU cannot count user space and the "
			       "kernel apart: leave out what says which (u, k, :0:1)",
			       e->name);
	if ((code == -EACCES || code == -EPERM) && is_anothers(tid))
		return err_set(
			err, code,
			"You do not have permission to monitor process %d: it is "
			"another user's, which only root may (or who has "
			"CAP_PERFMON)",
			(int)tid);
	return perf_attr_explain(code, e->name, tid < 0, err);
}

/* The first attr that the kernel does not take; *ret_code is why.  `nr`: it takes all.  Threads
 * that have ended are passed by: the first one may have left the others alone. */
static size_t try_attrs(struct perf_event_attr *attrs, size_t nr, int cpu,
			const struct perf_source_config *c, int *ret_code)
{
	size_t at = 0;

	for (size_t i = 0; i < nr;) {
		int fd = perf_attr_open(&attrs[i], c->tids ? c->tids[at] : -1, cpu);

		if (fd >= 0) {
			close(fd);
			i++;
			continue;
		}
		if (fd == -ESRCH && at + 1 < c->nr_tids) {
			at++;
			continue;
		}
		/* Where cores differ the first CPU need not have it. */
		if (fd == -ENOENT && i < c->nr_events && c->events[i].one_core_type) {
			i++;
			continue;
		}
		*ret_code = fd;
		return i;
	}
	return nr;
}

bool perf_attr_let_guests(struct perf_event_attr *a, int code)
{
	if (code != -EINVAL || !a->exclude_guest ||
	    (!a->precise_ip && a->type < PERF_TYPE_MAX))
		return false;
	a->exclude_guest = 0;
	return true;
}

/* What may be the matter with a precise event or one of a PMU of its own, in both copies of its attr:
 * guests that are left out, else the precision, which is given up step by step where nobody asked for
 * it.  Whether another try is worth it. */
static bool relax_precise(struct perf_event_attr *a, struct perf_event_attr *wanted,
			  bool was_asked_for, int code)
{
	if (perf_attr_let_guests(a, code)) {
		wanted->exclude_guest = 0;
		return true;
	}
	if (code != -EINVAL && code != -EOPNOTSUPP)
		return false;
	if (was_asked_for || !a->precise_ip)
		return false;
	a->precise_ip--;
	wanted->precise_ip--;
	return true;
}

static int precise_refused(int code, const struct event_request *e, struct err *err)
{
	unsigned int level = e->attr.precise_ip;

	return err_set(err, code,
		       "event %s: this CPU or kernel refuses precise samples of it "
		       "(:%.*s): %s",
		       e->name, (int)level, "ppp",
		       level > 1 ? "fewer p, or none, may do"
				 : "it can be sampled without");
}

/* Such as msr/tsc/: a PMU that has no interrupts. */
static bool is_only_counted(const struct event_request *e,
			    const struct perf_source_config *c, int cpu)
{
	struct perf_event_attr attr = e->attr;
	int fd;

	if (attr.type < PERF_TYPE_MAX)
		return false;
	attr.freq = 0;
	attr.sample_period = 0;
	attr.precise_ip = 0;
	attr.exclude_guest = 0;
	attr.disabled = 1;
	fd = perf_attr_open(&attr, c->tids ? c->tids[0] : -1, cpu);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int explain_event(int code, size_t bad, int cpu,
			 const struct perf_source_config *c, struct err *err)
{
	const struct event_request *e = bad < c->nr_events ? &c->events[bad] : NULL;

	if (e && e->attr.precise_ip && (code == -EINVAL || code == -EOPNOTSUPP))
		return precise_refused(code, e, err);
	if (e && code == -EINVAL && is_only_counted(e, c, cpu))
		return err_set(err, code,
			       "event %s cannot be sampled: its PMU only counts "
			       "(ocount counts it)",
			       e->name);
	if (e)
		return perf_attr_explain_event(code, e, c->tids ? c->tids[0] : -1, cpu,
					       err);
	return perf_attr_explain(code, "side band", !c->tids, err);
}

/* Before 6.12 the kernel reads groups only of the threads that they were opened for.  Whether
 * that is worth a try. */
static bool stay_with_threads(struct perf_event_attr *wanted, size_t nr)
{
	bool found = false;

	for (size_t i = 0; i < nr; i++) {
		if (!(wanted[i].sample_type & PERF_SAMPLE_READ) || !wanted[i].inherit)
			continue;
		wanted[i].inherit = 0;
		found = true;
	}
	if (found)
		log_say(LOG_WARNING,
			"this kernel (before Linux 6.12) reads a group with :S only in "
			"the threads that it begins with: what they start is not "
			"sampled (with --system-wide everything is)");
	return found;
}

int perf_attrs_probe(struct perf_event_attr *attrs, size_t nr, int cpu,
		     const struct perf_source_config *c, struct err *err)
{
	struct perf_event_attr *wanted = malloc(nr * sizeof(*wanted));
	size_t attempt = 0, bad;
	int r = 0;

	if (!wanted)
		return err_set(err, -ENOMEM, "out of memory");
	memcpy(wanted, attrs, nr * sizeof(*wanted));
	while ((bad = try_attrs(attrs, nr, cpu, c, &r)) < nr) {
		/* Namespaces are told only to those with CAP_PERFMON. */
		if ((r == -EACCES || r == -EPERM) && attrs[bad].namespaces) {
			attrs[bad].namespaces = wanted[bad].namespaces = 0;
			continue;
		}
		if (bad < c->nr_events &&
		    relax_precise(&attrs[bad], &wanted[bad],
				  c->events[bad].precise_given, r))
			continue;
		if (r == -EINVAL && attempt == sizeof(attempts) &&
		    stay_with_threads(wanted, nr)) {
			memcpy(attrs, wanted, nr * sizeof(*wanted));
			attempt = 0;
			continue;
		}
		if (r != -EINVAL || attempt == sizeof(attempts)) {
			free(wanted);
			return explain_event(r, bad, cpu, c, err);
		}
		/* All attrs keep the same sample_type, so all take the step. */
		for (size_t i = 0; i < nr; i++) {
			attrs[i] = wanted[i];
			leave_out(&attrs[i], attempts[attempt]);
		}
		attempt++;
	}
	free(wanted);
	return 0;
}
