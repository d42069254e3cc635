/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/helper/table_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "base/sanitized.h"
#include "record/helper/confine.h"
#include "record/helper/table_packets.h"
#include "resolve/unwind/cache.h"
#include "resolve/unwind/table.h"

enum {
	/* The connection to the daemon: the only descriptor that both processes inherit. */
	HELPER_FD = 3,
	/* Limit for open files of the worker, which includes descriptors in transit. */
	FILES_MAX = 256,
	WORK_SECONDS = 2, /* CPU time for one table */
	/* Return memory to the system after tables with this many rows. */
	TRIM_ROWS = 1 << 16
};

static const uint64_t memory_max_bytes = 1 << 30;

/* ---- the worker ---- */

/* Makes the table and returns the descriptor of a file in memory that contains it, or a negative
 * errno. */
static int table_worker_make_file(table_make make, int fd)
{
	struct unwind_table *table = NULL;
	int r = make(fd, &table);
	bool is_large;
	int file;

	if (r)
		return r;
	file = memfd_create("table", MFD_CLOEXEC);
	r = file < 0 ? -errno : unwind_cache_put(file, table);
	is_large = table->rows.nr > TRIM_ROWS;
	unwind_table_free(table);
	if (is_large)
		(void)malloc_trim(0);
	if (r && file >= 0)
		close(file);
	return r ? r : file;
}

/* Limits the CPU time of this process to `seconds`, after which SIGPROF kills it. */
static void set_time(unsigned int seconds)
{
	const struct itimerval t = { .it_value = { .tv_sec = (time_t)seconds } };

	(void)setitimer(ITIMER_PROF, &t, NULL);
}

static void table_worker_limit(int what, uint64_t most)
{
	const struct rlimit rlimit = { .rlim_cur = (rlim_t)most,
				       .rlim_max = (rlim_t)most };

	(void)setrlimit((__rlimit_resource_t)what, &rlimit);
}

/* Returns the address space inherited from the daemon; 0 if unknown. */
static uint64_t address_space_bytes(void)
{
	struct buf text = { 0 };
	uint64_t pages = 0;

	if (!io_read_file("/proc/self/statm", &text, 4096)) {
		buf_put_u8(&text, 0);
		if (!text.failed) {
			text.data[strcspn((char *)text.data, " ")] = 0;
			(void)parse_u64((char *)text.data, &pages);
		}
	}
	buf_done(&text);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit_worker(void)
{
	table_worker_limit(RLIMIT_NOFILE, FILES_MAX);
	table_worker_limit(RLIMIT_FSIZE, TABLE_MAX_BYTES);
	/* The shadow memory of sanitizers exceeds any limit. */
	if (sizeof(void *) > 4 && !IS_SANITIZED)
		table_worker_limit(RLIMIT_AS, address_space_bytes() + memory_max_bytes);
}

static void table_worker_work(table_make make) __attribute__((noreturn));
static void table_worker_work(table_make make)
{
	struct table_answer answer = { 0 };
	struct table_question question;
	int fd, file;

	limit_worker();
	answer.is_confined = confine_calls();
	for (;;) {
		int r = table_packet_receive(HELPER_FD, 0, &question, sizeof(question),
					     &fd);

		if (r == -EAGAIN)
			continue;
		if (r)
			_exit(0);
		set_time(WORK_SECONDS);
		file = table_worker_make_file(make, fd);
		if (fd >= 0)
			close(fd);
		set_time(0);
		answer.number = question.number;
		answer.result = file < 0 ? file : 0;
		answer.cpu_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
		r = table_packet_send(HELPER_FD, 0, &answer, sizeof(answer), file);
		if (file >= 0)
			close(file);
		if (r)
			_exit(0);
	}
}

/* ---- the supervisor ---- */

static pid_t begin_worker(table_make make, int child_fd)
{
	pid_t supervisor = getpid();
	pid_t pid = fork();

	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != supervisor)
		_exit(0);
	close(child_fd);
	table_worker_work(make);
}

uint64_t table_worker_usage_ns(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * NS_PER_S +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

static bool report_death(pid_t worker)
{
	struct table_answer died = { .number = 0 };
	struct rusage usage = { 0 };
	int status;

	if (wait4(worker, &status, WNOHANG, &usage) != worker)
		return false;
	died.cpu_ns = table_worker_usage_ns(&usage);
	died.result = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	(void)table_packet_send(HELPER_FD, 0, &died, sizeof(died), -1);
	return true;
}

/* Runs until the daemon closes the connection. */
static void table_worker_keep_child(table_make make, int child_fd)
	__attribute__((noreturn));
static void table_worker_keep_child(table_make make, int child_fd)
{
	struct pollfd fds[] = { { .fd = HELPER_FD },
				{ .fd = child_fd, .events = POLLIN } };
	struct signalfd_siginfo info;
	pid_t worker = 0;

	for (;;) {
		/* While a worker exists, it reads the requests. Otherwise wait for a request here,
		 * and then start a worker. */
		fds[0].events = worker > 0 ? 0 : POLLIN;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			break;
		if (worker <= 0 && fds[0].revents)
			worker = begin_worker(make, child_fd);
		if (worker < 0)
			break;
		if (!fds[1].revents || read(child_fd, &info, sizeof(info)) < 0)
			continue;
		if (worker > 0 && report_death(worker))
			worker = 0;
	}
	if (worker > 0 && !kill(worker, SIGKILL))
		(void)waitpid(worker, NULL, 0);
	_exit(0);
}

/* Asks the kernel to kill this process first if memory is short: that only costs a table, while
 * killing the daemon would cost all samples. */
static void offer_to_oom(void)
{
	int fd = io_open("/proc/self/oom_score_adj", O_WRONLY, 0);

	if (fd < 0)
		return;
	(void)!write(fd, "1000", 4);
	close(fd);
}

void table_worker_keep(table_make make, int fd)
{
	sigset_t mask;
	int child_fd;

	offer_to_oom();
	if (confine_rights(fd, HELPER_FD))
		_exit(1);
	(void)setpriority(PRIO_PROCESS, 0, 0);
	(void)prctl(PR_SET_NAME, "oprofile-tables", 0, 0, 0);
	/* Restore the default actions: with an inherited handler (of a sanitizer or a test
	 * framework), a fatal signal would end in a normal exit.  Keep the handler of
	 * daemon_calls.c, which a restarted helper needs. */
	for (int number = 1; number < NSIG; number++)
		if (number != SIGSYS)
			(void)signal(number, SIG_DFL);
	/* Block signals that a terminal or a service manager sends to the whole group: the
	 * helper ends together with the daemon. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGCHLD);
	if (sigprocmask(SIG_SETMASK, &mask, NULL))
		_exit(1);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	child_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (child_fd < 0)
		_exit(1);
	table_worker_keep_child(make, child_fd);
}
