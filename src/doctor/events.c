/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.c - opens events and call chains as a recording does. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "capture/events/perf_attr.h"
#include "doctor/doctor_priv.h"

static const char group[] = "Events";
static const char stacks[] = "Call stacks";
static const char kernel_level[] = "sudo sysctl kernel.perf_event_paranoid=1";
static const char system_level[] = "sudo sysctl kernel.perf_event_paranoid=0";
static const char virtual_pmu[] =
	"give the virtual machine a PMU (QEMU: -cpu host,pmu=on; VMware: vpmc.enable=TRUE)";

enum {
	RATE_HZ = 99,
	STACK_BYTES = 8192,
	FIRST_REGISTER = 1, /* bit of sample_regs_user that every architecture has */
	EXACT = 2           /* precise_ip */
};

static struct perf_event_attr event_attr(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){ .type = type,
					 .size = sizeof(struct perf_event_attr),
					 .config = config,
					 .freq = 1,
					 .sample_freq = RATE_HZ,
					 .sample_type = PERF_SAMPLE_IP,
					 .disabled = 1,
					 .exclude_hv = 1 };
}

/* Tries to open an event. Returns 0 or a negative errno. */
static int try_event(const struct doctor *d, struct perf_event_attr *attr, pid_t tid,
		     int cpu)
{
	int fd = d->open_event(attr, tid, cpu);

	/* -EBUSY: the event exists, but other users occupy all its counters. */
	if (fd == -EBUSY)
		return 0;
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void fix_event(struct doctor *d, int code, const char *level)
{
	if (code == -ENOENT || code == -EOPNOTSUPP || code == -ENODEV)
		doctor_fix(d, "%s", virtual_pmu);
	else if (code == -EMFILE)
		doctor_fix(d, "ulimit -n 4096");
	else if (code == -EACCES || code == -EPERM)
		doctor_fix(d, "%s", level);
}

/* Adds a check for an event that did not open, with the explanation that recorders print. */
static void add_failure(struct doctor *d, const char *name, int code, bool system_wide,
			enum doctor_state state)
{
	struct err err = { 0 };

	(void)perf_attr_explain(code, name, system_wide, &err);
	doctor_add(d, group, name, state, "%s", err.text);
}

struct event_try {
	const char *name;
	uint32_t type;
	uint64_t config;
	const char *cost; /* if it does not open */
};

static const struct event_try events[] = {
	{ "TIMER", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
	  "nothing can be recorded" },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS,
	  "no causes of page faults" },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
	  "no causes of waiting" },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
	  "the event TIMER is used instead: code that disables interrupts is not sampled" },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS,
	  "no instructions per cycle" },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES,
	  "no causes of cache misses" },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES,
	  "no causes of mispredicted branches" },
};

/* Adds a check that opens the event for this process: with the kernel or, if that fails, for
 * user space only. */
static void check_event_opens(struct doctor *d, const struct event_try *t)
{
	struct perf_event_attr attr = event_attr(t->type, t->config);
	int whole = try_event(d, &attr, 0, -1);
	int user;

	if (!whole) {
		d->can_record = true;
		doctor_add(d, group, t->name, DOCTOR_OK, "user space and kernel");
		return;
	}
	attr.exclude_kernel = 1;
	user = try_event(d, &attr, 0, -1);
	if (user) {
		add_failure(d, t->name, user, false, DOCTOR_MISSING);
		doctor_cost(d, "%s", t->cost);
		fix_event(d, user, "sudo sysctl kernel.perf_event_paranoid=2");
		return;
	}
	d->can_record = true;
	doctor_add(d, group, t->name, DOCTOR_LIMITED, "user space only");
	doctor_cost(d, "time in system calls and interrupts is not sampled");
	fix_event(d, whole, kernel_level);
}

static void check_system(struct doctor *d)
{
	static const char name[] = "system-wide";
	struct perf_event_attr attr =
		event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	int r = try_event(d, &attr, -1, 0);

	if (!r) {
		doctor_add(d, group, name, DOCTOR_OK, "all processes");
		return;
	}
	add_failure(d, name, r, true, DOCTOR_LIMITED);
	doctor_cost(d, "only your own processes (operf PROGRAM, operf --pid)");
	fix_event(d, r, system_level);
}

static void check_precise(struct doctor *d)
{
	struct perf_event_attr attr =
		event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	attr.exclude_kernel = 1;
	if (try_event(d, &attr, 0, -1))
		return; /* there are no cycles at all */
	attr.precise_ip = EXACT;
	if (!try_event(d, &attr, 0, -1)) {
		doctor_add(d, group, "precise samples", DOCTOR_OK, "cycles:pp");
		return;
	}
	doctor_add(d, group, "precise samples", DOCTOR_LIMITED,
		   "this CPU or virtual machine has none");
	doctor_cost(d, "samples can belong to an instruction before (skid)");
}

/* Tries to open the timer event with further fields in its samples. Returns 0 or a negative
 * errno. */
static int try_stacks(struct doctor *d, uint64_t sample_type)
{
	struct perf_event_attr attr =
		event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	attr.exclude_kernel = 1;
	attr.sample_type |= sample_type;
	if (sample_type & PERF_SAMPLE_STACK_USER)
		attr.sample_stack_user = STACK_BYTES;
	if (sample_type & PERF_SAMPLE_REGS_USER)
		attr.sample_regs_user = FIRST_REGISTER;
	return try_event(d, &attr, 0, -1);
}

static void check_stacks(struct doctor *d, const char *name, uint64_t sample_type,
			 const char *option, const char *cost)
{
	int r = try_stacks(d, sample_type);

	doctor_add(d, stacks, name, r ? DOCTOR_MISSING : DOCTOR_OK, "%s",
		   r ? strerror(-r) : option);
	doctor_cost(d, "%s", cost);
	fix_event(d, r, kernel_level);
}

static void check_branches(struct doctor *d)
{
	struct perf_event_attr attr =
		event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	int r;

	attr.exclude_kernel = 1;
	attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	r = try_event(d, &attr, 0, -1);
	doctor_add(d, stacks, "branch records (LBR)", r ? DOCTOR_LIMITED : DOCTOR_OK,
		   "%s", r ? strerror(-r) : "perf record -b");
	doctor_cost(d, "no profiles for AutoFDO and BOLT with taken branches");
}

void doctor_events(struct doctor *d)
{
	for (size_t i = 0; i < COUNT_OF(events); i++)
		check_event_opens(d, &events[i]);
	check_system(d);
	check_precise(d);
	check_stacks(d, "frame pointers", PERF_SAMPLE_CALLCHAIN, "operf --callgraph=fp",
		     "no call stacks");
	check_stacks(d, "stack copies (DWARF)",
		     PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER,
		     "operf --callgraph=dwarf",
		     "no call stacks of programs without frame pointers");
	check_branches(d);
}
