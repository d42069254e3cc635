/* SPDX-License-Identifier: GPL-2.0-or-later */
/* container TIMES PROGRAM[,PROGRAM...] [ARG...] - runs TIMES containers one after the other,
 * with the programs in turn. Each container has its own user, mount and pid namespaces, and as
 * root a tmpfs with only /inner/only, a copy of the program, and /tmp. Programs must be
 * static. Nothing of a container remains when the next one starts. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

static int copy(int from, const char *path)
{
	int to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	char bytes[8192];
	ssize_t n;

	if (to < 0 || lseek(from, 0, SEEK_SET) < 0)
		return -1;
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			return -1;
	return close(to) || n;
}

static int become_root(unsigned int uid, unsigned int gid)
{
	char text[64];

	snprintf(text, sizeof(text), "0 %u 1", uid);
	if (write_text("/proc/self/setgroups", "deny") ||
	    write_text("/proc/self/uid_map", text))
		return -1;
	snprintf(text, sizeof(text), "0 %u 1", gid);
	return write_text("/proc/self/gid_map", text);
}

static int make_root(int program)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/mnt", "tmpfs", 0, NULL) || chdir("/mnt") ||
	    mkdir("old", 0755) || mkdir("tmp", 01777) || mkdir("inner", 0755) ||
	    copy(program, "inner/only"))
		return -1;
	return syscall(SYS_pivot_root, ".", "old") || chdir("/") ||
	       umount2("/old", MNT_DETACH);
}

static int run(int program, char **argv)
{
	unsigned int uid = getuid(), gid = getgid();
	int status = 0;
	pid_t pid;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) ||
	    become_root(uid, gid) || make_root(program)) {
		perror("container");
		return 125;
	}
	pid = fork();
	if (pid == 0) {
		execv("/inner/only", argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return 1;
	return 0;
}

enum {
	PROGRAMS_MAX = 8
};

/* Opens each program of the list, which is modified. Returns their number, or 0 if one does
 * not exist. */
static int open_programs(char *list, int programs[PROGRAMS_MAX])
{
	int nr = 0;

	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		if (nr == PROGRAMS_MAX)
			return 0;
		programs[nr] = open(name, O_RDONLY | O_CLOEXEC);
		if (programs[nr++] < 0)
			return 0;
	}
	return nr;
}

int main(int argc, char **argv)
{
	int times = argc < 3 ? 0 : atoi(argv[1]);
	int programs[PROGRAMS_MAX];
	int nr = times ? open_programs(argv[2], programs) : 0;

	if (!nr)
		return 2;
	for (int i = 0; i < times; i++) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0)
			_exit(run(programs[i % nr], argv + 2));
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return WEXITSTATUS(status);
	}
	return 0;
}
