/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"

enum {
	MESSAGES_MAX = 16 << 10, /* bytes that are kept */
	READ_BYTES = 2048,
	POLL_MS = 20,
	EXIT_CANNOT_RUN = 127
};

/* ---- processes ---- */

/* How a child process is set up. */
struct child_setup {
	const char *directory; /* NULL: the current one */
	int output_fd;         /* for standard error */
	bool of_terminal;      /* keeps standard input and output */
	bool output_too;       /* standard output also goes to output_fd */
};

/* Runs in the child.  Calls only functions that are safe after fork(). */
static void child_run(const struct child_setup *setup, char *const *words, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	(void)signal(SIGPIPE, SIG_DFL);
	/* If the page dies, end the child: otherwise a system-wide recording would never end. */
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_CANNOT_RUN);
	if (!setup->of_terminal) {
		(void)setpgid(0, 0);
		dup2(null, STDIN_FILENO);
		dup2(setup->output_too ? setup->output_fd : null, STDOUT_FILENO);
	}
	dup2(setup->output_fd, STDERR_FILENO);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!setup->directory || !chdir(setup->directory))
		execv("/proc/self/exe", words);
	dprintf(STDERR_FILENO, "oprofile: cannot run in '%s': %s\n",
		setup->directory ? setup->directory : ".", strerror(errno));
	_exit(EXIT_CANNOT_RUN);
}

/* Starts this program with other arguments. Stores the descriptor that reads its messages, which
 * the caller closes. Returns the process ID, or a negative errno with a message in *err. */
static pid_t child_start(struct child_setup *setup, char *const *words, int *ret_fd,
			 struct err *err)
{
	pid_t parent = getpid(), pid;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return err_sys(err, -errno, "cannot create a pipe");
	setup->output_fd = fds[1];
	pid = fork();
	if (!pid)
		child_run(setup, words, parent);
	if (pid < 0)
		err_sys(err, -errno, "cannot create a process");
	else if (!setup->of_terminal)
		(void)setpgid(pid, pid);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return err->code;
	}
	(void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
	*ret_fd = fds[0];
	return pid;
}

/* Appends the bytes that are available; `echo` also prints them.  Returns false at the end. */
static bool child_read(int fd, struct buf *to, bool echo)
{
	char bytes[READ_BYTES];
	ssize_t nr;

	while ((nr = read(fd, bytes, sizeof(bytes))) > 0) {
		buf_put(to, bytes, (size_t)nr);
		if (echo)
			(void)!write(STDERR_FILENO, bytes, (size_t)nr);
		if (to->len > MESSAGES_MAX) {
			size_t cut = to->len - MESSAGES_MAX / 2;

			memmove(to->data, to->data + cut, to->len - cut);
			to->len -= cut;
		}
	}
	return nr < 0 && (errno == EAGAIN || errno == EINTR);
}

int page_run_self(char *const *words, int wait_ms, struct buf *output, struct err *err)
{
	struct child_setup setup = { .output_too = true };
	uint64_t end =
		clock_now_ns(CLOCK_MONOTONIC) + (uint64_t)wait_ms * (uint64_t)NS_PER_MS;
	int fd = -1, status;
	pid_t pid = child_start(&setup, words, &fd, err);
	bool open = true, late = false;

	if (pid < 0)
		return pid;
	while (open && !late) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		(void)poll(&p, 1, POLL_MS);
		open = child_read(fd, output, false);
		late = clock_now_ns(CLOCK_MONOTONIC) > end;
		/* A daemon that the child started can keep the pipe open. */
		if (open && waitpid(pid, &status, WNOHANG) == pid) {
			close(fd);
			return WIFEXITED(status) ? WEXITSTATUS(status)
						 : EXIT_CANNOT_RUN;
		}
	}
	close(fd);
	if (late)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (late)
		return err_set(err, -ETIMEDOUT, "'oprofile %s' does not end", words[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_CANNOT_RUN;
}

/* ---- the recording ---- */

bool page_recorder_is_active(const struct page_recorder *r)
{
	return r->state == RECORDER_STARTING || r->state == RECORDER_RUNNING;
}

bool page_recorder_just_ended(const struct page_recorder *r)
{
	return r->end_ns &&
	       clock_now_ns(CLOCK_MONOTONIC) - r->end_ns < (uint64_t)NS_PER_S;
}

static void recorder_clear(struct page_recorder *r)
{
	if (r->messages_fd >= 0)
		close(r->messages_fd);
	r->messages_fd = -1;
	buf_clear(&r->messages);
	r->stopping = false;
	r->cpu_ns = r->start_ns = r->end_ns = 0;
}

int page_recorder_start(struct page_recorder *r, char *const *words,
			const char *directory, bool of_terminal, struct err *err)
{
	struct child_setup setup = { .directory = directory,
				     .of_terminal = of_terminal };
	pid_t pid;

	recorder_clear(r);
	pid = child_start(&setup, words, &r->messages_fd, err);
	if (pid < 0)
		return pid;
	r->pid = pid;
	r->of_terminal = of_terminal;
	r->state = RECORDER_STARTING;
	r->start_ns = clock_now_ns(CLOCK_MONOTONIC);
	return 0;
}

void page_recorder_stop(struct page_recorder *r)
{
	int signal = r->stopping ? SIGTERM : SIGINT;

	if (!page_recorder_is_active(r))
		return;
	/* Without a terminal, signal the whole group: the recorded program also ends. */
	kill(r->of_terminal ? r->pid : -r->pid, signal);
	r->stopping = true;
}

/* Returns whether the messages contain a text. */
static bool recorder_said(const struct page_recorder *r, const char *text)
{
	return r->messages.len &&
	       memmem(r->messages.data, r->messages.len, text, strlen(text));
}

static void recorder_end(struct page_recorder *r, int status)
{
	bool started = r->state == RECORDER_RUNNING;

	r->end_ns = clock_now_ns(CLOCK_MONOTONIC);
	r->pid = 0;
	/* After sampling started, the exit status is that of the program, not of the recorder. */
	r->state = started || (WIFEXITED(status) && !WEXITSTATUS(status))
			   ? RECORDER_FINISHED
			   : RECORDER_FAILED;
}

static void recorder_read(struct page_recorder *r)
{
	if (r->messages_fd < 0)
		return;
	if (!child_read(r->messages_fd, &r->messages, r->of_terminal)) {
		close(r->messages_fd);
		r->messages_fd = -1;
	}
	if (r->state == RECORDER_STARTING && recorder_said(r, "Profiler started"))
		r->state = RECORDER_RUNNING;
}

void page_recorder_poll(struct page_recorder *r)
{
	int status;

	if (!page_recorder_is_active(r))
		return;
	recorder_read(r);
	if (waitpid(r->pid, &status, WNOHANG) != r->pid)
		return;
	recorder_read(r);
	recorder_end(r, status);
}

void page_recorder_settle(struct page_recorder *r, int wait_ms)
{
	for (; wait_ms > 0 && r->state == RECORDER_STARTING; wait_ms -= POLL_MS) {
		struct pollfd p = { .fd = r->messages_fd, .events = POLLIN };

		(void)poll(&p, 1, POLL_MS);
		page_recorder_poll(r);
	}
}

const char *page_recorder_error(const struct page_recorder *r)
{
	static char line[ERR_TEXT_MAX];
	const char *at = (const char *)r->messages.data;
	const char *end = at + r->messages.len;

	line[0] = '\0';
	while (at < end) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((next ? next : end) - at);

		if (len && at[0] != '*')
			snprintf(line, sizeof(line), "%.*s", (int)len, at);
		at += len + 1;
	}
	return line[0] ? line : NULL;
}

void page_recorder_done(struct page_recorder *r)
{
	if (r->pid > 0) {
		kill(r->of_terminal ? r->pid : -r->pid, SIGTERM);
		while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	recorder_clear(r);
	buf_done(&r->messages);
	free(r->session_dir);
	free(r->command);
}
