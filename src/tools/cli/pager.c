/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "present/lines/safe_stream.h"
#include "tools/cli/progress.h"

/* Exit statuses of a shell for "cannot execute" and "not found" (POSIX 2.8.2). */
enum {
	STATUS_CANNOT_RUN = 126,
	STATUS_NOT_FOUND = 127
};

/* The default pager. The test avoids an error message if less is not installed. */
static const char usual_pager[] = "command -v less >/dev/null || exit 127; exec less";

struct pager {
	const struct screen *screen;
	int (*write)(FILE *out, void *ctx);
	void *ctx;
	pid_t pid;
	FILE *input; /* the pager's standard input */
};

/* Signals that this process ignores while the pager runs. Ctrl-C is for the pager. Without
 * SIGPIPE, writes fail with EPIPE if the user leaves the pager early. */
static const int signals[] = { SIGINT, SIGQUIT, SIGPIPE };

enum {
	NR_SIGNALS = COUNT_OF(signals)
};

/* Returns the shell command, or NULL if no pager is wanted. */
static const char *pager_command(const struct terminal_options *options)
{
	const char *command = getenv("OPROFILE_PAGER");

	if (options->no_pager || !terminal_has_escapes(STDOUT_FILENO) ||
	    !isatty(STDERR_FILENO) || !terminal_is_foreground(STDOUT_FILENO))
		return NULL;
	if (!command)
		command = getenv("PAGER");
	if (!command)
		return usual_pager;
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

static int pager_spawn(const char *command, int input, pid_t *ret_pid)
{
	char shell[] = "sh";
	char flag[] = "-c";
	char *text = strdup(command);
	char *const argv[] = { shell, flag, text, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t defaults;
	int r;

	if (!text)
		return -ENOMEM;
	sigemptyset(&defaults);
	for (int i = 0; i < NR_SIGNALS; i++)
		sigaddset(&defaults, signals[i]);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	r = posix_spawnp(ret_pid, shell, &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	free(text);
	return -r;
}

/* Starts the pager. Returns 0, or a negative errno if it was not started. */
static int pager_start(struct pager *p, const char *command)
{
	int ends[2];
	int r;

	/* F: exit at once if the text fits on one screen; R: allow colors; X: leave the text on
	 * the screen. */
	setenv("LESS", "FRX", 0);
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	p->input = fdopen(ends[1], "we");
	r = p->input ? pager_spawn(command, ends[0], &p->pid) : -errno;
	close(ends[0]);
	if (!r)
		return 0;
	if (p->input)
		fclose(p->input);
	else
		close(ends[1]);
	return r;
}

/* Returns the exit status of the pager, or -1. */
static int pager_wait(const struct pager *p)
{
	int status;

	while (waitpid(p->pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Writes the report to `to`, with control sequences escaped. Returns the result of `write`, or 1
 * if `to` did not accept all output. */
static int write_safely(const struct pager *p, FILE *to)
{
	FILE *out = safe_stream_open(to, p->screen->utf8);
	bool failed;
	int r;

	if (!out)
		return -ENOMEM;
	r = p->write(out, p->ctx);
	failed = ferror(out);
	failed |= fclose(out) || ferror(to);
	return failed ? 1 : r;
}

static int write_plain(const struct pager *p)
{
	int r = p->screen->is_terminal ? write_safely(p, stdout)
				       : p->write(stdout, p->ctx);

	return r > 0 ? -EIO : r;
}

static int write_paged(const struct pager *p)
{
	int r = write_safely(p, p->input);
	int status;

	fclose(p->input);
	status = pager_wait(p);
	if (status == STATUS_NOT_FOUND || status == STATUS_CANNOT_RUN)
		return write_plain(p);
	return r > 0 ? 0 : r;
}

int pager_run(const struct terminal_options *options, const struct screen *screen,
	      int (*write)(FILE *out, void *ctx), void *ctx)
{
	const char *command = pager_command(options);
	struct pager pager = { .screen = screen, .write = write, .ctx = ctx };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction before[NR_SIGNALS];
	int r;

	progress_end();
	if (!command)
		return write_plain(&pager);
	fflush(stdout);
	for (int i = 0; i < NR_SIGNALS; i++)
		sigaction(signals[i], &ignore, &before[i]);
	r = pager_start(&pager, command) ? write_plain(&pager) : write_paged(&pager);
	for (int i = 0; i < NR_SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
	return r;
}
