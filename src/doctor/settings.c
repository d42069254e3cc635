/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings.c - the sysctls that limit recording. */
#include <inttypes.h>
#include <linux/capability.h>
#include <unistd.h>

#include "base/array.h"
#include "doctor/doctor_priv.h"

static const char group[] = "Kernel settings";

/* Returns the text that says what users without CAP_PERFMON can record: each level denies one
 * more kind of recording. */
static const char *paranoid_cost(int64_t level)
{
	return level >= 3   ? "Debian's and Ubuntu's kernels let only root record; "
			      "others treat it like 2"
	       : level == 2 ? "only your own processes, and only their user space"
	       : level == 1 ? "only your own processes, not the whole system"
			    : "no raw data of tracepoints";
}

static void check_paranoid(struct doctor *d)
{
	static const char name[] = "perf_event_paranoid";
	int64_t level;

	if (!doctor_number(d, "/proc/sys/kernel/perf_event_paranoid", &level)) {
		doctor_add(d, group, name, DOCTOR_MISSING, "not there");
		doctor_cost(d,
			    "this kernel has no perf_events: nothing can be recorded");
		doctor_fix(d, "boot a kernel with CONFIG_PERF_EVENTS=y");
		return;
	}
	if (doctor_is_privileged(d) || level < 0) {
		doctor_add(d, group, name, DOCTOR_OK, "%" PRId64 "%s", level,
			   level < 0 ? "" : ", no limit for this process");
		return;
	}
	doctor_add(d, group, name, level >= 3 ? DOCTOR_MISSING : DOCTOR_LIMITED,
		   "%" PRId64, level);
	doctor_cost(d, "%s", paranoid_cost(level));
	doctor_fix(d, "sudo sysctl kernel.perf_event_paranoid=%d",
		   level >= 2   ? 1
		   : level == 1 ? 0
				: -1);
}

static void check_kptr(struct doctor *d)
{
	int64_t level = 0;
	bool known = doctor_number(d, "/proc/sys/kernel/kptr_restrict", &level);
	bool hidden =
		level >= 2 || (level == 1 && !doctor_has_capability(d, CAP_SYSLOG));

	doctor_add(d, group, "kptr_restrict", hidden ? DOCTOR_LIMITED : DOCTOR_OK,
		   known ? "%" PRId64 : "not there", level);
	doctor_cost(d, "kernel samples have no function names");
	doctor_fix(d, "sudo sysctl kernel.kptr_restrict=0");
}

static void check_watchdog(struct doctor *d)
{
	int64_t on = 0;
	bool known = doctor_number(d, "/proc/sys/kernel/nmi_watchdog", &on);

	doctor_add(d, group, "nmi_watchdog", on ? DOCTOR_LIMITED : DOCTOR_OK, "%s",
		   !known ? "not there"
		   : on   ? "1"
			  : "0");
	doctor_cost(d,
		    "it uses one hardware counter of each CPU: fewer events at once");
	doctor_fix(d, "sudo sysctl kernel.nmi_watchdog=0");
}

/* A number that limits recording below `least`.  0 means that there is no limit if `zero_ok`. */
struct setting {
	const char *name;
	const char *path;
	int64_t least;
	int64_t usual; /* for the command */
	const char *cost;
	bool zero_ok;
};

static const struct setting settings[] = {
	{ .name = "perf_event_mlock_kb",
	  .path = "/proc/sys/kernel/perf_event_mlock_kb",
	  .least = 516,
	  .usual = 516,
	  .cost = "small buffers: samples are lost at high rates" },
	{ .name = "perf_event_max_sample_rate",
	  .path = "/proc/sys/kernel/perf_event_max_sample_rate",
	  .least = 1000,
	  .usual = 100000,
	  .cost = "the kernel refuses the default of 997 samples per second and CPU" },
	{ .name = "perf_cpu_time_max_percent",
	  .path = "/proc/sys/kernel/perf_cpu_time_max_percent",
	  .least = 10,
	  .usual = 25,
	  .cost = "the kernel throttles sampling, and lowers perf_event_max_sample_rate",
	  .zero_ok = true },
	{ .name = "perf_event_max_stack",
	  .path = "/proc/sys/kernel/perf_event_max_stack",
	  .least = 127,
	  .usual = 127,
	  .cost = "longer call stacks are truncated" },
};

static void check_setting(struct doctor *d, const struct setting *s)
{
	int64_t v;
	bool small;

	if (!doctor_number(d, s->path, &v))
		return;
	small = v < s->least && !(s->zero_ok && !v);
	/* perf_event_mlock_kb does not limit users with CAP_IPC_LOCK or the right to record
	 * everything. */
	if (s == &settings[0] &&
	    (doctor_has_capability(d, CAP_IPC_LOCK) || doctor_is_privileged(d)))
		small = false;
	doctor_add(d, group, s->name, small ? DOCTOR_LIMITED : DOCTOR_OK, "%" PRId64,
		   v);
	doctor_cost(d, "%s", s->cost);
	doctor_fix(d, "sudo sysctl kernel.%s=%" PRId64, s->name, s->usual);
}

void doctor_settings(struct doctor *d)
{
	check_paranoid(d);
	check_kptr(d);
	for (size_t i = 0; i < COUNT_OF(settings); i++)
		check_setting(d, &settings[i]);
	check_watchdog(d);
}
