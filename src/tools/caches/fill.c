/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/caches/fill.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/files/io.h"

enum {
	LEAST_IMPORTANT = 19,
	CPU_SECONDS_MAX = 300,
	SECONDS_MAX = 900 /* time limit in seconds, for very slow machines */
};

static bool cache_fill_is_wanted(void)
{
	const char *value = getenv("OPROFILE_CACHE_FILL");

	return !value || strcmp(value, "no") != 0;
}

/* Starts the process in a new session, inheriting only the working directory, so that programs
 * that wait for the end of the command's output do not wait for it. */
static void cache_fill_spawn(char *const argv[])
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	pid_t pid;

	if (posix_spawn_file_actions_init(&files))
		return;
	if (posix_spawnattr_init(&attr)) {
		posix_spawn_file_actions_destroy(&files);
		return;
	}
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	(void)posix_spawn(&pid, "/proc/self/exe", &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
}

void cache_fill_start(const char *binary)
{
	char *path = cache_fill_is_wanted() ? realpath(binary, NULL) : NULL;
	char name[] = "oprofile";
	char command[] = "cache";
	char build[] = "--build";
	char background[] = "--background";
	char *const argv[] = { name, command, build, background, path, NULL };

	if (path)
		cache_fill_spawn(argv);
	free(path);
}

static void be_modest(void)
{
	struct rlimit cpu = { CPU_SECONDS_MAX, CPU_SECONDS_MAX };
	struct rlimit core = { 0, 0 };

	(void)setpriority(PRIO_PROCESS, 0, LEAST_IMPORTANT);
	(void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
		      IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
	(void)setrlimit(RLIMIT_CORE, &core);
	(void)setrlimit(RLIMIT_CPU, &cpu);
	alarm(SECONDS_MAX);
}

int cache_fill_become(const char *dir)
{
	int fd;
	int r;

	/* Close descriptors that the command itself had inherited. */
	(void)syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	be_modest();
	r = io_make_dirs(dir, 0700);
	if (r)
		return r;
	fd = io_open(dir, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	/* Hold the lock until the process ends. */
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		r = errno == EWOULDBLOCK ? -EBUSY : -errno;
		close(fd);
		return r;
	}
	return 0;
}
