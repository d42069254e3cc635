/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mapped part of a file stays readable even if the file changes; other signals go to their
 * own handlers. */
#include "base/files/mapped.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

enum {
	PAGES = 4
};

static size_t page;

static int file_of(char fill)
{
	int fd = memfd_create("t", MFD_CLOEXEC);
	char *bytes = malloc(PAGES * page);

	assert_true(fd >= 0);
	assert_non_null(bytes);
	memset(bytes, fill, PAGES * page);
	assert_int_equal(write(fd, bytes, PAGES * page), PAGES * page);
	free(bytes);
	return fd;
}

static void truncated_pages_read_as_zero(void **state)
{
	struct mapped a, b;
	int fd = file_of('x');

	(void)state;
	assert_int_equal(mapped_window(fd, 0, PAGES * page, &a), 0);
	assert_int_equal(mapped_window(fd, page, page, &b), 0);
	assert_int_equal(ftruncate(fd, (off_t)page), 0);
	assert_false(mapped_is_lost(&a));
	assert_int_equal(a.bytes[2 * page + 7], 0);
	assert_true(mapped_is_lost(&a));
	assert_int_equal(a.bytes[3 * page], 0);
	assert_int_equal(a.bytes[0], 'x');
	assert_int_equal(a.bytes[page - 1], 'x');
	assert_false(mapped_is_lost(&b));
	assert_int_equal(b.bytes[0], 0);
	assert_true(mapped_is_lost(&b));
	mapped_release(&a);
	mapped_release(&b);
	assert_false(mapped_is_lost(&b));
	close(fd);
}

/* A read of a released mapping kills the process (with a sanitizer, its report does), even if
 * another mapping was added since. */
static void a_released_mapping_is_not_read(void **state)
{
	int fd = file_of('x');
	struct mapped gone, next;
	const volatile uint8_t *stale;
	int status = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(mapped_window(fd, 0, PAGES * page, &gone), 0);
	stale = gone.bytes;
	mapped_release(&gone);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		(void)!freopen("/dev/null", "w", stderr);
		_exit(stale[page] == 'x' ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 1);
	assert_int_equal(mapped_window(fd, 0, PAGES * page, &next), 0);
	assert_int_equal(next.bytes[page], 'x');
	mapped_release(&next);
	close(fd);
}

static void the_number_of_mappings_is_limited(void **state)
{
	static struct mapped many[1000];
	int fd = file_of('x');
	size_t nr = 0;

	(void)state;
	while (nr < 1000 && mapped_window(fd, 0, page, &many[nr]) == 0)
		nr++;
	assert_in_range(nr, 64, 999);
	assert_int_equal(mapped_window(fd, 0, page, &many[nr]), -EAGAIN);
	mapped_release(&many[--nr]);
	assert_int_equal(mapped_window(fd, 0, page, &many[nr]), 0);
	assert_false(mapped_is_lost(&many[nr]));
	for (nr++; nr; nr--)
		mapped_release(&many[nr - 1]);
	assert_int_equal(mapped_window(-1, 0, page, &many[0]), -EBADF);
	close(fd);
}

/* A fault in a mapping that was not registered still kills the process. */
static void other_faults_still_kill(void **state)
{
	struct mapped a;
	int fd = file_of('x');
	int status = 0;
	pid_t child;

	(void)state;
	child = fork();
	if (!child) {
		volatile char *foreign = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);

		(void)signal(SIGBUS, SIG_DFL);
		if (mapped_window(fd, 0, page, &a) || ftruncate(fd, 0))
			_exit(0);
		_exit(foreign[0]);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truncated_pages_read_as_zero),
		cmocka_unit_test(a_released_mapping_is_not_read),
		cmocka_unit_test(the_number_of_mappings_is_limited),
		cmocka_unit_test(other_faults_still_kill),
	};

	page = (size_t)sysconf(_SC_PAGESIZE);
	return UNIT_RUN(tests);
}
