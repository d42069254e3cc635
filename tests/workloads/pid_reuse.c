/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pid_reuse [MS] - two programs that have the same pid one after the other, linked for the
 * same fixed address. clone3(2) sets the pid, in the recorder's pid namespace; this needs
 * CAP_SYS_ADMIN. */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

enum {
	NR_TURNS = 10
};

/* fork(2) with the given pid, or with any pid if `pid` is 0. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD };

	if (pid) {
		args.set_tid = (uint64_t)(uintptr_t)&pid;
		args.set_tid_size = 1;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* Runs the program to its end as process `pid` (0: any), and returns its pid. */
static pid_t run_as(pid_t pid, const char *path, uint64_t rounds, int fd,
		    unsigned int slot)
{
	char text[3][24];
	int status;
	pid_t child;

	snprintf(text[0], sizeof(text[0]), "%llu", (unsigned long long)rounds);
	snprintf(text[1], sizeof(text[1]), "%d", fd);
	snprintf(text[2], sizeof(text[2]), "%u", slot);
	child = fork_as(pid);
	if (child < 0 && (errno == EPERM || errno == EEXIST || errno == ENOSYS))
		work_skip("a process number cannot be chosen here (clone3 set_tid)");
	if (child < 0)
		work_die("clone3");
	if (child == 0) {
		execl(path, path, text[0], text[1], text[2], NULL);
		_exit(127);
	}
	if (waitpid(child, &status, 0) < 0 || status)
		work_die(path);
	return child;
}

int main(int argc, char **argv)
{
	uint64_t ms = work_argument(argc, argv, 1, 2000), seed = 3;
	uint64_t unit = work_rounds_per_ms() * ms / (NR_TURNS * 10);
	char *paths[] = { work_sibling("reuse_first"), work_sibling("reuse_second") };
	static const unsigned int weights[] = { 7, 3 };
	uint64_t cpu_ns[2] = { 0 };
	int fd = memfd_create("slots", 0);
	pid_t pid = 0;

	if (fd < 0)
		work_die("memfd_create");
	for (unsigned int i = 0; i < 2 * NR_TURNS; i++) {
		uint64_t factor = 768 + work_random(&seed) % 513, cost;

		pid = run_as(pid, paths[i % 2], unit * weights[i % 2] * factor / 1024,
			     fd, i);
		if (pread(fd, &cost, sizeof(cost), (off_t)(i * sizeof(cost))) !=
		    sizeof(cost))
			work_die("pread");
		cpu_ns[i % 2] += cost;
	}
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "second" : "first";
		char values[96];

		snprintf(values, sizeof(values), "%d,*/reuse_%s,reuse_%s_work", pid,
			 name, name);
		work_print_share("pid,image,symbol", values, cpu_ns[i],
				 cpu_ns[0] + cpu_ns[1]);
		work_print_share("pid,app,symbol", values, cpu_ns[i],
				 cpu_ns[0] + cpu_ns[1]);
		free(paths[i]);
	}
	work_print_cpu("pid,image,symbol", cpu_ns[0] + cpu_ns[1]);
	return 0;
}
