/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/background.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "base/files/path.h"
#include "base/files/public_file.h"
#include "base/files/trust.h"

enum {
	FIRST_FD = 3
};

int background_check_run_dir(const char *run_dir, struct err *err)
{
	int fd = io_open(run_dir, O_PATH | O_DIRECTORY, 0);
	int r = 0;

	if (fd < 0)
		return err_sys(err, fd, "cannot open '%s'", run_dir);
	if (!trust_is_exclusive(fd) || !public_file_path_is_of(run_dir, geteuid()))
		r = err_set(
			err, -EPERM,
			"the daemon cannot use '%s': other users can write to it or to one of its parent directories: make root the owner and remove write permission for group and others",
			run_dir);
	close(fd);
	return r;
}

int background_lock(const char *run_dir, int *ret_fd, struct err *err)
{
	char path[4096];
	char pid[32] = "";
	int fd, len;
	/* Every user may send the daemon requests. */
	mode_t before = umask(022);
	int r = io_make_dirs(run_dir, 0755);

	umask(before);
	if (r)
		return err_sys(err, r, "cannot create '%s'", run_dir);
	r = background_check_run_dir(run_dir, err);
	if (r)
		return r;
	if (snprintf(path, sizeof(path), "%s/lock", run_dir) >= (int)sizeof(path))
		return err_set(err, -ENAMETOOLONG, "the path '%s' is too long",
			       run_dir);
	fd = io_open_lock(path);
	if (fd < 0)
		return err_sys(err, fd, "cannot open '%s'", path);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		r = (int)io_pread_full(fd, pid, sizeof(pid) - 1, 0);
		pid[strcspn(pid, "\n")] = 0;
		close(fd);
		return err_set(err, -EBUSY,
			       "oprofiled is already running (pid %s, of %s)",
			       r > 0 ? pid : "?", path);
	}
	len = snprintf(pid, sizeof(pid), "%d\n", getpid());
	if (ftruncate(fd, 0) || pwrite(fd, pid, (size_t)len, 0) != len) {
		r = err_sys(err, -errno, "cannot write '%s'", path);
		close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

void background_unlock(int fd)
{
	if (fd < 0)
		return;
	if (ftruncate(fd, 0)) {
		/* If this fails, a stale pid remains, which is harmless: the file is no longer
		 * locked. */
	}
	close(fd);
}

/* Reads until the daemon reports that it runs or why it failed, or until it exits. */
static int wait_for_daemon(int fd, struct err *err)
{
	char text[ERR_TEXT_MAX + 1];
	size_t len = 0;
	ssize_t n;

	while (len < sizeof(text) - 1) {
		n = read(fd, text + len, sizeof(text) - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	text[len] = 0;
	if (len == 1 && text[0] == '\n')
		return 1;
	return err_set(err, -EIO, "%s", len ? text : "the daemon exited immediately");
}

void background_close_files(int keep)
{
	unsigned int first = FIRST_FD;

	if (keep >= FIRST_FD) {
		if (keep > FIRST_FD)
			(void)close_range(FIRST_FD, (unsigned int)keep - 1, 0);
		first = (unsigned int)keep + 1;
	}
	(void)close_range(first, ~0U, 0);
}

/* Makes a relative path in OPROFILE_RUN_DIR absolute, because it is relative to the directory in
 * which the user started the daemon. */
static int keep_run_dir(void)
{
	static const char name[] = "OPROFILE_RUN_DIR";
	const char *dir = getenv(name);
	char *cwd, *full;
	int r;

	if (!dir || !*dir || *dir == '/')
		return 0;
	cwd = getcwd(NULL, 0);
	full = cwd ? path_full(dir, cwd) : NULL;
	r = full ? setenv(name, full, 1) : -1;
	free(full);
	free(cwd);
	return r;
}

int background_fork(struct background *b, struct err *err)
{
	int fds[2];
	pid_t pid;
	int r;

	if (pipe2(fds, O_CLOEXEC))
		return err_sys(err, -errno, "cannot create a pipe");
	pid = fork();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return err_sys(err, -errno, "cannot create a process");
	}
	if (pid) {
		close(fds[1]);
		r = wait_for_daemon(fds[0], err);
		close(fds[0]);
		waitpid(pid, NULL, 0);
		return r;
	}
	close(fds[0]);
	setsid();
	/* Because it does not lead the session, it can never acquire a terminal. */
	pid = fork();
	if (pid)
		_exit(pid < 0);
	umask(022);
	/* This also closes sockets passed by a service manager, which belong to the original
	 * process. */
	background_close_files(fds[1]);
	if (keep_run_dir() || chdir("/"))
		_exit(1);
	b->ready_fd = fds[1];
	return 0;
}

void background_ready(struct background *b, const struct err *failure)
{
	int null_fd;

	if (b->ready_fd < 0)
		return;
	if (failure)
		(void)io_write_all(b->ready_fd, failure->text, strlen(failure->text));
	else
		(void)io_write_all(b->ready_fd, "\n", 1);
	close(b->ready_fd);
	b->ready_fd = -1;
	null_fd = io_open("/dev/null", O_RDWR, 0);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && null_fd >= 0; fd++)
		dup2(null_fd, fd);
	if (null_fd > STDERR_FILENO)
		close(null_fd);
}
