/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which process writes which index, as seen by other processes. */
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/files/io.h"
#include "resolve/lines/index.h"
#include "resolve/lines/writers.h"

static const struct index_key one = { .bytes = { 1, 2, 3, 4, 5 }, .len = 5 };
static const struct index_key other = { .bytes = { 4, 3, 2, 1, 5 }, .len = 5 };

static int setup(void **state)
{
	static char dir[32];

	strcpy(dir, "/tmp/line_writers.XXXXXX");
	assert_non_null(mkdtemp(dir));
	*state = dir;
	return 0;
}

static int teardown(void **state)
{
	return io_remove_tree(*state);
}

/* Starts a process that keeps `fd` until it reads the end of `pipe`. */
static pid_t writer(int fd, const int pipe[2])
{
	pid_t pid = fork();
	char byte;

	assert_true(pid >= 0);
	if (pid) {
		close(fd);
		close(pipe[0]);
		return pid;
	}
	close(pipe[1]);
	(void)!read(pipe[0], &byte, 1);
	/* Gives the waiting process time to start its wait. */
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	_exit(0);
}

static void test_waits_for_a_writer(void **state)
{
	const char *dir = *state;
	int fd = line_writers_open(dir);
	int ends[2];
	pid_t pid;

	assert_true(fd >= 0);
	assert_false(line_writers_wait(dir, &one));
	line_writers_add(fd, &one);
	assert_int_equal(pipe(ends), 0);
	pid = writer(fd, ends);
	assert_false(line_writers_wait(dir, &other));
	close(ends[1]);
	assert_true(line_writers_wait(dir, &one));
	/* The writer has ended; else the wait would have timed out. */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(line_writers_wait(dir, &one));
	assert_false(line_writers_wait(dir, NULL));
}

/* A killed writer is not waited for. */
static void test_does_not_wait_for_a_killed_writer(void **state)
{
	const char *dir = *state;
	int fd = line_writers_open(dir);
	int ends[2];
	pid_t pid;

	assert_true(fd >= 0);
	line_writers_add(fd, &one);
	line_writers_add(fd, &other);
	assert_int_equal(pipe(ends), 0);
	pid = writer(fd, ends);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(line_writers_wait(dir, NULL));
	close(ends[1]);
}

static void test_missing_directory(void **state)
{
	(void)state;
	assert_true(line_writers_open("/tmp/line_writers/none") < 0);
	assert_false(line_writers_wait("/tmp/line_writers/none", &one));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_waits_for_a_writer, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_does_not_wait_for_a_killed_writer,
						setup, teardown),
		cmocka_unit_test(test_missing_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
