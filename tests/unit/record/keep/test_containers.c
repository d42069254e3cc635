/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which processes are in other mount namespaces, from the kernel's records. */
#include "unit.h"

#include <unistd.h>

#include "record/keep/containers.h"

enum {
	OURS = 0xf0000000
};

/* Takes a record of a process with this mount namespace. `links` has the device and inode of net,
 * uts, ipc, pid, user, mnt and cgroup. */
static bool take(struct containers *c, int32_t pid, uint64_t mounts, uint64_t nr)
{
	uint64_t links[14] = { 0 };
	struct record_namespaces n = {
		.pid = pid, .tid = pid, .nr = nr, .links = (const uint8_t *)links
	};

	links[11] = mounts;
	return containers_take(c, &n);
}

static void test_containers_start_and_end(void **state)
{
	struct containers c;

	(void)state;
	containers_init(&c);
	c.own = OURS;
	assert_false(take(&c, 1, OURS, 7));
	assert_false(containers_has(&c, 1));
	assert_true(take(&c, 2, OURS + 1, 7));
	assert_true(containers_has(&c, 2));
	/* Another process of the same container is not new. */
	assert_false(take(&c, 3, OURS + 1, 7));
	assert_true(containers_has(&c, 3));
	/* nsenter into our namespace; and a reused pid. */
	assert_false(take(&c, 2, OURS, 7));
	assert_false(containers_has(&c, 2));
	assert_true(take(&c, 2, OURS + 2, 7));
	assert_true(containers_has(&c, 2));
	assert_true(containers_has(&c, 3));
	containers_done(&c);
}

/* A service has private mounts, and does not regard the programs of the host as containers. */
static void test_processes_of_the_host(void **state)
{
	struct containers c = { .own = OURS, .host = OURS + 7 };

	(void)state;
	assert_false(take(&c, 2, OURS + 7, 7));
	assert_false(containers_has(&c, 2));
	assert_true(take(&c, 2, OURS + 1, 7));
	assert_false(take(&c, 2, OURS + 7, 7));
	assert_false(containers_has(&c, 2));
	containers_done(&c);
}

static void test_short_and_unknown_containers(void **state)
{
	struct containers c = { .own = OURS };

	(void)state;
	/* An older kernel has fewer kinds of namespaces. */
	assert_false(take(&c, 2, OURS + 1, 5));
	assert_false(containers_has(&c, 2));
	c.own = 0;
	assert_false(take(&c, 2, OURS + 1, 7));
	assert_false(containers_has(&c, 2));
	containers_done(&c);
}

/* No process has such a large pid. */
static void test_many_ended_containers(void **state)
{
	struct containers c = { .own = OURS };
	int32_t pid = getpid();

	(void)state;
	take(&c, pid, OURS + 1, 7);
	for (int32_t i = 0; i < 100000; i++) {
		take(&c, INT32_MAX - i, OURS + 1, 7);
		assert_true(containers_has(&c, INT32_MAX - i));
		assert_true(c.inside.nr <= 16384);
	}
	assert_true(containers_has(&c, pid));
	containers_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_containers_start_and_end),
		cmocka_unit_test(test_processes_of_the_host),
		cmocka_unit_test(test_short_and_unknown_containers),
		cmocka_unit_test(test_many_ended_containers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
