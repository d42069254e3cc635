/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests copies of several users that share the available space. */
#include "daemon/upkeep/copies.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/charge.h"
#include "base/files/io.h"

#include "unit.h"

enum {
	MANY = 500
};

static char dir[32];

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/copies-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return io_remove_tree(dir);
}

static const char *path_of(int32_t pid)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/jit/%d/perf-%d.map", dir, pid, pid);
	return path;
}

/* Makes the copy of a perf map; a higher pid is newer. */
static void write_copy(int32_t pid, uint32_t user, size_t bytes)
{
	const struct timespec times[2] = { { .tv_sec = pid }, { .tv_sec = pid } };
	char folder[64];

	snprintf(folder, sizeof(folder), "%s/jit/%d", dir, pid);
	assert_int_equal(io_make_dirs(folder, 0755), 0);
	assert_int_equal(io_write_file(path_of(pid), "", 0, 0600), 0);
	assert_int_equal(truncate(path_of(pid), (off_t)bytes), 0);
	if (user != CHARGE_UNKNOWN && charge_set(path_of(pid), user)) {
		print_message("NOT TESTED: /tmp keeps no attributes\n");
		(void)io_remove_tree(dir);
		skip();
	}
	assert_int_equal(utimensat(AT_FDCWD, path_of(pid), times, 0), 0);
}

static bool is_there(int32_t pid)
{
	return !access(path_of(pid), F_OK);
}

static void who_has_too_many_loses_his_oldest(void **state)
{
	struct copies copies;

	(void)state;
	write_copy(1, 1000, 300);
	write_copy(2, 2000, 100);
	for (int32_t pid = 3; pid < MANY; pid++)
		write_copy(pid, 3000, 10);
	assert_int_equal(copies_bound(dir, 1000, 0, &copies), 0);
	assert_true(is_there(1));
	assert_true(is_there(2));
	assert_int_equal(copies.bytes, 1000);
	assert_int_equal(copies.nr_removed, MANY - 3 - 60);
	for (int32_t pid = 3; pid < MANY; pid++)
		assert_int_equal(is_there(pid), pid >= MANY - 60);
}

static void those_who_have_as_much_share(void **state)
{
	struct copies copies;

	(void)state;
	for (int32_t pid = 0; pid < 100; pid++)
		write_copy(pid, pid % 2 ? 1000 : 2000, 10);
	write_copy(100, CHARGE_UNKNOWN, 200);
	assert_int_equal(copies_bound(dir, 600, 0, &copies), 0);
	assert_int_equal(copies.bytes, 600);
	for (int32_t pid = 0; pid <= 100; pid++)
		assert_int_equal(is_there(pid), pid >= 60);
}

static void what_is_too_old_goes_first(void **state)
{
	struct copies copies;

	(void)state;
	write_copy(1, 1000, 10);
	write_copy(2, 2000, 500);
	write_copy(3, 1000, 10);
	assert_int_equal(copies_bound(dir, 520, 2000000000, &copies), 0);
	assert_false(is_there(1));
	assert_true(is_there(2));
	assert_true(is_there(3));
	assert_int_equal(copies.nr_removed, 1);
	/* Without a limit, all other copies stay. */
	write_copy(4, 2000, 1 << 20);
	assert_int_equal(copies_bound(dir, 0, 0, &copies), 0);
	assert_int_equal(copies.bytes, (1 << 20) + 510);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(who_has_too_many_loses_his_oldest),
		CASE(those_who_have_as_much_share),
		CASE(what_is_too_old_goes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
