/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

static const struct {
	int signal;
	void (*handler)(int);
} dispositions[TARGET_DISPOSITIONS] = {
	{ SIGPIPE, SIG_IGN },
	{ SIGXFSZ, SIG_IGN },
	{ SIGCHLD, SIG_DFL } /* if it is ignored, wait() finds no child */
};

int target_signals_take(const sigset_t *mask, struct target_signals *ret_old,
			struct err *err)
{
	for (size_t i = 0; i < TARGET_DISPOSITIONS; i++) {
		struct sigaction action = { .sa_handler = dispositions[i].handler };

		sigaction(dispositions[i].signal, &action, &ret_old->dispositions[i]);
	}
	return sigprocmask(SIG_BLOCK, mask, &ret_old->mask)
		       ? err_sys(err, -errno, "cannot change the signal mask")
		       : 0;
}

/* Runs in the child. Never returns. */
static void run_child(char *const *argv, const struct target_signals *old, int go_fd,
		      int fail_fd)
{
	char go;
	int code;

	if (read(go_fd, &go, 1) != 1)
		_exit(0); /* exit: the recorder has failed or ended */
	for (size_t i = 0; i < TARGET_DISPOSITIONS; i++)
		sigaction(dispositions[i].signal, &old->dispositions[i], NULL);
	sigprocmask(SIG_SETMASK, &old->mask, NULL);
	execvp(argv[0], argv);
	code = errno;
	if (write(fail_fd, &code, sizeof(code)) != sizeof(code))
		_exit(126);
	_exit(127);
}

int target_hold(char *const *argv, const struct target_signals *old,
		struct target *ret_target, struct err *err)
{
	int go[2], fail[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return err_sys(err, -errno, "cannot create a pipe");
	if (pipe2(fail, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return err_sys(err, -errno, "cannot create a pipe");
	}
	pid = fork();
	if (!pid) {
		close(go[1]);
		close(fail[0]);
		run_child(argv, old, go[0], fail[1]);
	}
	close(go[0]);
	close(fail[1]);
	if (pid < 0) {
		close(go[1]);
		close(fail[0]);
		return err_sys(err, -errno, "cannot create a process");
	}
	*ret_target = (struct target){ .pid = pid, .go_fd = go[1], .fail_fd = fail[0] };
	return 0;
}

int target_go(struct target *t, const char *name, struct err *err)
{
	int code = 0;
	ssize_t n;

	if (write(t->go_fd, "", 1) != 1)
		return err_sys(err, -errno, "cannot start '%s'", name);
	close(t->go_fd);
	t->go_fd = -1;
	do
		n = read(t->fail_fd, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close(t->fail_fd);
	t->fail_fd = -1;
	if (n != sizeof(code))
		return 0; /* exec succeeded and closed the pipe */
	target_wait(t);
	t->pid = 0;
	if (code == ENOENT)
		return err_set(err, -ENOENT, "%s cannot be found%s", name,
			       strchr(name, '/') ? "" : " in your PATH");
	return err_sys(err, -code, "cannot run '%s'", name);
}

void target_poll(struct target *t)
{
	if (t->pid && !t->ended && waitpid(t->pid, &t->status, WNOHANG) == t->pid)
		t->ended = 1;
}

void target_wait(struct target *t)
{
	pid_t got;

	if (!t->pid || t->ended)
		return;
	do
		got = waitpid(t->pid, &t->status, 0);
	while (got < 0 && errno == EINTR);
	t->ended = 1;
}

void target_drop(struct target *t)
{
	if (!t->pid || t->go_fd < 0)
		return;
	close(t->go_fd); /* the child sees the end of the pipe and exits */
	close(t->fail_fd);
	t->go_fd = t->fail_fd = -1;
	target_wait(t);
	t->pid = 0;
}

int target_exit_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}
