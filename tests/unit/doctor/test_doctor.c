/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char root[] = "/tmp/doctor-XXXXXX";

static void put_file(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(full, 0755);
		*at = '/';
	}
	f = fopen(full, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* A process without rights, with this level and capabilities. */
static void make_machine(const char *paranoid, const char *capabilities)
{
	char status[256];

	snprintf(status, sizeof(status),
		 "Name:\tx\nCapEff:\t%s\nNoNewPrivs:\t1\nSeccomp:\t2\n", capabilities);
	put_file("/proc/self/status", status);
	put_file("/proc/sys/kernel/perf_event_paranoid", paranoid);
	put_file("/proc/sys/kernel/kptr_restrict", "1\n");
	put_file("/proc/sys/kernel/nmi_watchdog", "1\n");
	put_file("/proc/sys/kernel/perf_event_mlock_kb", "4\n");
	put_file("/proc/sys/kernel/perf_cpu_time_max_percent", "0\n");
}

static void expect_state(const struct doctor *d, const char *name,
			 enum doctor_state state, const char *fix)
{
	const struct doctor_check *c = doctor_find(d, name);

	if (!c)
		fail_msg("there is no check of %s", name);
	assert_int_equal(c->state, state);
	if (!fix)
		assert_null(c->fix);
	else
		assert_string_equal(c->fix, fix);
	if (state == DOCTOR_OK)
		assert_null(c->cost);
	else
		assert_non_null(c->cost);
}

static void settings_limit_users_without_rights(void **state)
{
	struct doctor d = { .root = root };

	(void)state;
	make_machine("2\n", "0000000000000000");
	doctor_settings(&d);
	expect_state(&d, "perf_event_paranoid", DOCTOR_LIMITED,
		     "sudo sysctl kernel.perf_event_paranoid=1");
	expect_state(&d, "kptr_restrict", DOCTOR_LIMITED,
		     "sudo sysctl kernel.kptr_restrict=0");
	expect_state(&d, "nmi_watchdog", DOCTOR_LIMITED,
		     "sudo sysctl kernel.nmi_watchdog=0");
	expect_state(&d, "perf_event_mlock_kb", DOCTOR_LIMITED,
		     "sudo sysctl kernel.perf_event_mlock_kb=516");
	expect_state(&d, "perf_cpu_time_max_percent", DOCTOR_OK, NULL);
	doctor_done(&d);
}

static void levels_have_their_command(void **state)
{
	static const struct {
		const char *level;
		enum doctor_state state;
		const char *fix;
	} rows[] = {
		{ "-1\n", DOCTOR_OK, NULL },
		{ "0\n", DOCTOR_LIMITED, "sudo sysctl kernel.perf_event_paranoid=-1" },
		{ "1\n", DOCTOR_LIMITED, "sudo sysctl kernel.perf_event_paranoid=0" },
		{ "2\n", DOCTOR_LIMITED, "sudo sysctl kernel.perf_event_paranoid=1" },
		{ "3\n", DOCTOR_MISSING, "sudo sysctl kernel.perf_event_paranoid=1" },
		{ "4\n", DOCTOR_MISSING, "sudo sysctl kernel.perf_event_paranoid=1" },
		{ "", DOCTOR_MISSING, "boot a kernel with CONFIG_PERF_EVENTS=y" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct doctor d = { .root = root };

		make_machine(rows[i].level, "0000000000000000");
		doctor_settings(&d);
		expect_state(&d, "perf_event_paranoid", rows[i].state, rows[i].fix);
		doctor_done(&d);
	}
}

static void settings_do_not_limit_privileged_users(void **state)
{
	struct doctor d = { .root = root };

	(void)state;
	make_machine("3\n", "000001ffffffffff");
	doctor_settings(&d);
	expect_state(&d, "perf_event_paranoid", DOCTOR_OK, NULL);
	expect_state(&d, "kptr_restrict", DOCTOR_OK, NULL);
	expect_state(&d, "perf_event_mlock_kb", DOCTOR_OK, NULL);
	doctor_done(&d);
}

/* The same value of a sysctl can limit one user and not another. */
static void each_setting_is_compared_with_its_limit(void **state)
{
	static const char none[] = "0000000000000000";
	static const char syslog[] = "0000000400000000";
	static const char ipc_lock[] = "0000000000004000";
	static const struct {
		const char *name;
		const char *value;
		const char *capabilities;
		const char *fix; /* NULL: there is no limit */
	} rows[] = {
		{ "kptr_restrict", "0", none, NULL },
		{ "kptr_restrict", "1", none, "sudo sysctl kernel.kptr_restrict=0" },
		{ "kptr_restrict", "1", syslog, NULL },
		{ "kptr_restrict", "2", syslog, "sudo sysctl kernel.kptr_restrict=0" },
		{ "perf_event_mlock_kb", "516", none, NULL },
		{ "perf_event_mlock_kb", "515", none,
		  "sudo sysctl kernel.perf_event_mlock_kb=516" },
		{ "perf_event_mlock_kb", "4", ipc_lock, NULL },
		{ "perf_event_max_sample_rate", "1000", none, NULL },
		{ "perf_event_max_sample_rate", "500", none,
		  "sudo sysctl kernel.perf_event_max_sample_rate=100000" },
		{ "perf_cpu_time_max_percent", "0", none, NULL },
		{ "perf_cpu_time_max_percent", "5", none,
		  "sudo sysctl kernel.perf_cpu_time_max_percent=25" },
		{ "perf_event_max_stack", "127", none, NULL },
		{ "perf_event_max_stack", "16", none,
		  "sudo sysctl kernel.perf_event_max_stack=127" },
		{ "nmi_watchdog", "0", none, NULL },
		{ "nmi_watchdog", "1", none, "sudo sysctl kernel.nmi_watchdog=0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct doctor d = { .root = root };
		char path[128];

		make_machine("2\n", rows[i].capabilities);
		snprintf(path, sizeof(path), "/proc/sys/kernel/%s", rows[i].name);
		put_file(path, rows[i].value);
		doctor_settings(&d);
		expect_state(&d, rows[i].name, rows[i].fix ? DOCTOR_LIMITED : DOCTOR_OK,
			     rows[i].fix);
		assert_string_equal(doctor_find(&d, rows[i].name)->found,
				    rows[i].value);
		doctor_done(&d);
	}
}

static int open_nothing(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	(void)attr;
	(void)tid;
	(void)cpu;
	return -EACCES;
}

/* A virtual machine without a PMU, at perf_event_paranoid 2. */
static int open_user_timer(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	(void)cpu;
	if (attr->type != PERF_TYPE_SOFTWARE)
		return -ENOENT;
	if (tid < 0 || !attr->exclude_kernel)
		return -EACCES;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void events_report_what_opens(void **state)
{
	struct doctor d = { .root = root, .open_event = open_user_timer };

	(void)state;
	doctor_events(&d);
	assert_true(d.can_record);
	expect_state(&d, "TIMER", DOCTOR_LIMITED,
		     "sudo sysctl kernel.perf_event_paranoid=1");
	expect_state(
		&d, "cycles", DOCTOR_MISSING,
		"give the virtual machine a PMU (QEMU: -cpu host,pmu=on; VMware: vpmc.enable=TRUE)");
	expect_state(&d, "system-wide", DOCTOR_LIMITED,
		     "sudo sysctl kernel.perf_event_paranoid=0");
	expect_state(&d, "frame pointers", DOCTOR_OK, NULL);
	assert_null(doctor_find(&d, "precise samples"));
	doctor_done(&d);
}

static void nothing_can_be_recorded_if_no_event_opens(void **state)
{
	struct doctor d = { .root = root, .open_event = open_nothing };

	(void)state;
	make_machine("4\n", "0000000000000000");
	doctor_events(&d);
	doctor_rights(&d);
	assert_false(d.can_record);
	expect_state(&d, "TIMER", DOCTOR_MISSING,
		     "sudo sysctl kernel.perf_event_paranoid=2");
	expect_state(&d, "seccomp", DOCTOR_MISSING,
		     "docker run --security-opt seccomp=unconfined ...");
	assert_int_equal(doctor_find(&d, "no_new_privs")->state, DOCTOR_LIMITED);
	assert_int_equal(doctor_find(&d, "capabilities")->state, DOCTOR_LIMITED);
	doctor_done(&d);
}

static void namespaces_of_a_container_are_limits(void **state)
{
	struct doctor d = { .root = root };
	char path[PATH_MAX];

	(void)state;
	make_machine("1\n", "0000000000000000");
	put_file("/proc/self/ns/x", "");
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", root);
	assert_int_equal(symlink("pid:[4026532999]", path), 0);
	snprintf(path, sizeof(path), "%s/proc/self/ns/user", root);
	assert_int_equal(symlink("user:[4026531837]", path), 0);
	doctor_rights(&d);
	expect_state(&d, "pid namespace", DOCTOR_LIMITED, "docker run --pid=host ...");
	expect_state(&d, "user namespace", DOCTOR_OK, NULL);
	doctor_done(&d);
}

static void hidden_kallsyms_are_missing(void **state)
{
	struct doctor d = { .root = root };

	(void)state;
	put_file("/proc/sys/kernel/kptr_restrict", "0\n");
	put_file("/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T f\n");
	doctor_symbols(&d);
	expect_state(&d, "kallsyms", DOCTOR_MISSING,
		     "sudo sysctl kernel.perf_event_paranoid=1");
	expect_state(&d, "BTF", DOCTOR_LIMITED,
		     "boot a kernel with CONFIG_DEBUG_INFO_BTF=y");
	doctor_done(&d);
	d = (struct doctor){ .root = root };
	put_file("/proc/kallsyms", "ffffffff81000000 T _text\nffffffff81000100 T f\n");
	put_file("/sys/kernel/btf/vmlinux", "x");
	doctor_symbols(&d);
	expect_state(&d, "kallsyms", DOCTOR_OK, NULL);
	expect_state(&d, "BTF", DOCTOR_OK, NULL);
	doctor_done(&d);
}

static int make_root(void **state)
{
	(void)state;
	return !mkdtemp(root);
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(settings_limit_users_without_rights),
		cmocka_unit_test(levels_have_their_command),
		cmocka_unit_test(settings_do_not_limit_privileged_users),
		cmocka_unit_test(each_setting_is_compared_with_its_limit),
		cmocka_unit_test(events_report_what_opens),
		cmocka_unit_test(nothing_can_be_recorded_if_no_event_opens),
		cmocka_unit_test(namespaces_of_a_container_are_limits),
		cmocka_unit_test(hidden_kallsyms_are_missing),
	};

	return cmocka_run_group_tests(cases, make_root, remove_root);
}
