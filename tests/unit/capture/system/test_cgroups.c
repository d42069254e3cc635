/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the lines of /proc that describe control groups, and those of this machine. */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "capture/system/cgroups.h"

static void test_parses_proc_cgroup(void **state)
{
	static const struct {
		const char *line;
		int v1;
		const char *path;
	} rows[] = {
		{ "0::/", 0, "/" },
		{ "0::/system.slice/a:b.service", 0, "/system.slice/a:b.service" },
		{ "0::/x", 1, NULL },
		{ "8:cpu,perf_event:/x", 1, "/x" },
		{ "8:perf_event:/x y", 1, "/x y" },
		{ "8:perf_events:/x", 1, NULL },
		{ "8:perf_event:/x", 0, NULL },
		{ "1:name=systemd:/x", 0, NULL },
		{ "0:", 0, NULL },
		{ "", 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char line[64];
		const char *path;

		strcpy(line, rows[i].line);
		path = cgroups_line_path(line, rows[i].v1);
		if (rows[i].path)
			assert_string_equal(path, rows[i].path);
		else
			assert_null(path);
	}
}

static void test_parses_mountinfo(void **state)
{
	static const struct {
		const char *line;
		const char *place;
		int v1;
	} rows[] = {
		{ "35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw",
		  "/sys/fs/cgroup", 0 },
		{ "35 24 0:30 / /a\\040b\\134c rw shared:9 master:1 - cgroup2 none rw",
		  "/a b\\c", 0 },
		{ "36 24 0:31 / /c/pe rw - cgroup cgroup rw,net_cls,perf_event",
		  "/c/pe", 1 },
		{ "36 24 0:31 / /c/cpu rw - cgroup perf_event rw,cpu", NULL, 0 },
		{ "36 24 0:31 / /cgroup2 rw - tmpfs cgroup2 rw", NULL, 0 },
		{ "36 24 0:31 /", NULL, 0 },
		{ "36 - cgroup2 x rw", NULL, 0 },
		{ "", NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *place;
		char line[128];
		int v1 = -1;

		strcpy(line, rows[i].line);
		place = cgroups_line_mount(line, &v1);
		if (!rows[i].place) {
			assert_null(place);
			continue;
		}
		assert_string_equal(place, rows[i].place);
		assert_int_equal(v1, rows[i].v1);
	}
}

/* The path of a cgroup id is the one that the process reports itself. */
static void test_finds_its_own_cgroup(void **state)
{
	char path[CGROUP_PATH_MAX], again[CGROUP_PATH_MAX];
	struct cgroups c = { 0 };
	uint64_t id;

	(void)state;
	if (cgroups_of_process(&c, getpid(), &id, path)) {
		skip();
	}
	assert_int_equal(cgroups_path(&c, id, getpid(), again), 0);
	assert_string_equal(path, again);
	assert_true(cgroups_path(&c, UINT64_MAX, getpid(), again) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parses_proc_cgroup),
		cmocka_unit_test(test_parses_mountinfo),
		cmocka_unit_test(test_finds_its_own_cgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
