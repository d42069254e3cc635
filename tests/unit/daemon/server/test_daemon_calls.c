/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the system call filter of the process that samples. A filter cannot be removed, so a
 * child process installs it; only the parent uses cmocka's asserts. */
#include "daemon/server/daemon_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/signals.h"

#include "unit.h"

enum {
	NOT_TESTED = 77,
	PAGE_BYTES = 4096
};

/* Ends the child process with a message if the condition is false. */
#define CHECK(condition)                                                               \
	do {                                                                           \
		if (!(condition)) {                                                    \
			fprintf(stderr, "%s:%d: %s: errno %d\n", __FILE__, __LINE__,   \
				#condition, errno);                                    \
			_exit(1);                                                      \
		}                                                                      \
	} while (0)

static void begin_filter(void)
{
	struct err err = { 0 };

	if (!daemon_calls_confine(&err))
		return;
	fprintf(stderr, "%s: NOT TESTED\n", err.text);
	_exit(NOT_TESTED);
}

static void run_in_child(void (*body)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NOT_TESTED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void *some_page(void)
{
	return mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void make_needed_calls(void)
{
	void *page;
	pid_t child;
	int status = 0;

	begin_filter();
	page = some_page();
	CHECK(page != MAP_FAILED);
	CHECK(!mprotect(page, PAGE_BYTES, PROT_READ));
	CHECK(open("/dev/null", O_RDWR | O_CLOEXEC) >= 0);
	CHECK(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0);
	CHECK(!kill(getpid(), 0));
	child = fork();
	if (!child)
		_exit(3);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WEXITSTATUS(status) == 3);
	CHECK(daemon_calls_next_refused() == -1);
}

static void make_refused_calls(void)
{
	void *page = some_page();
	char program[] = "/bin/true";
	char *const argv[] = { program, NULL };
	int first, second;

	begin_filter();
	for (int i = 0; i < 2; i++) {
		errno = 0;
		CHECK(execv(program, argv) == -1 && errno == EPERM);
		errno = 0;
		CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1 && errno == EPERM);
	}
	first = daemon_calls_next_refused();
	second = daemon_calls_next_refused();
	CHECK((first == SYS_execve && second == SYS_ptrace) ||
	      (first == SYS_ptrace && second == SYS_execve));
	CHECK(daemon_calls_next_refused() == -1);
	/* These calls are allowed only with certain arguments. */
	errno = 0;
	CHECK(mprotect(page, PAGE_BYTES, PROT_READ | PROT_EXEC) && errno == EPERM);
	CHECK(daemon_calls_next_refused() == SYS_mprotect);
	errno = 0;
	CHECK(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0) == -1 && errno == EPERM);
	CHECK(daemon_calls_next_refused() == SYS_socket);
}

static void make_unknown_call(void)
{
	begin_filter();
	errno = 0;
	CHECK(syscall(5000) == -1 && errno == ENOSYS);
	CHECK(daemon_calls_next_refused() == -1);
}

static atomic_bool is_confined;
static atomic_int thread_errno;

static void *wait_and_unshare(void *unused)
{
	(void)unused;
	while (!atomic_load(&is_confined))
		(void)sched_yield();
	errno = 0;
	atomic_store(&thread_errno, unshare(0) ? errno : -1);
	return NULL;
}

static void call_in_thread(void)
{
	sigset_t before;
	pthread_t thread;

	signals_block_sent(&before);
	CHECK(!pthread_create(&thread, NULL, wait_and_unshare, NULL));
	CHECK(!pthread_sigmask(SIG_SETMASK, &before, NULL));
	begin_filter();
	atomic_store(&is_confined, true);
	CHECK(!pthread_join(thread, NULL));
	CHECK(atomic_load(&thread_errno) == EPERM);
	CHECK(daemon_calls_next_refused() == SYS_unshare);
}

static void recording_calls_are_allowed(void **state)
{
	(void)state;
	run_in_child(make_needed_calls);
}

static void other_calls_are_refused_and_logged_once(void **state)
{
	(void)state;
	run_in_child(make_refused_calls);
}

/* A newer C library tries these calls, but does not need them. */
static void newer_calls_return_enosys(void **state)
{
	(void)state;
	run_in_child(make_unknown_call);
}

static void running_threads_are_confined(void **state)
{
	(void)state;
	run_in_child(call_in_thread);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recording_calls_are_allowed),
		cmocka_unit_test(other_calls_are_refused_and_logged_once),
		cmocka_unit_test(newer_calls_return_enosys),
		cmocka_unit_test(running_threads_are_confined),
	};

	return UNIT_RUN(tests);
}
