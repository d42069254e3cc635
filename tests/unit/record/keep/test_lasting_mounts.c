/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which mounts cannot be unmounted while this process runs. */
#include "base/array.h"
#include "record/keep/lasting_mounts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/files/io.h"

#include "unit.h"

static uint64_t mount_of(int fd)
{
	uint64_t mount = lasting_mounts_of(fd);

	assert_true(fd >= 0);
	close(fd);
	return mount;
}

static void own_mounts_are_lasting(void **state)
{
	static const char *const paths[] = { "/", ".", "/proc/self/exe" };
	struct lasting_mounts m = { 0 };
	uint64_t mount;

	(void)state;
	lasting_mounts_init(&m, "/tmp");
	for (size_t i = 0; i < COUNT_OF(paths); i++)
		assert_true(
			lasting_mounts_has(&m, mount_of(io_open(paths[i], O_PATH, 0))));
	assert_true(lasting_mounts_has(&m, mount_of(io_open("/tmp", O_PATH, 0))));
	mount = mount_of(memfd_create("test", MFD_CLOEXEC));
	assert_true(lasting_mounts_has(&m, mount));
	/* The file system of unnamed files in memory is not mounted anywhere. */
	assert_false(lasting_mounts_was_there(&m, mount));
	lasting_mounts_done(&m);
}

static void other_mounts_are_not(void **state)
{
	struct lasting_mounts m = { 0 };
	uint64_t proc = mount_of(io_open("/proc/self/status", O_PATH, 0));

	(void)state;
	lasting_mounts_init(&m, "/tmp");
	assert_true(proc != MOUNT_UNKNOWN);
	assert_false(lasting_mounts_has(&m, proc));
	assert_true(lasting_mounts_was_there(&m, proc));
	assert_true(lasting_mounts_of(-1) == MOUNT_UNKNOWN);
	assert_false(lasting_mounts_has(&m, MOUNT_UNKNOWN));
	lasting_mounts_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_mounts_are_lasting),
		cmocka_unit_test(other_mounts_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
