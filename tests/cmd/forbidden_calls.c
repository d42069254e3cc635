/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forbidden_calls.c - preloaded: a thread waits until the file that FORBIDDEN_CALLS names exists,
 * then makes system calls that the program must not be able to make. It writes one line for each
 * to FORBIDDEN_CALLS.results: NAME NUMBER ERRNO, with the errno 0 for success. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PAGE = 4096
};

struct call {
	const char *name;
	long nr;
	long arguments[4];
};

static void result(FILE *to, const struct call *c)
{
	const long *a = c->arguments;
	long r;

	errno = 0;
	r = syscall(c->nr, a[0], a[1], a[2], a[3], 0, 0);
	fprintf(to, "%s %ld %d\n", c->name, c->nr, r == -1 ? errno : 0);
}

/* For a thread with all capabilities, each call with these arguments would succeed or fail with
 * another errno than EPERM; most would have no effect. */
static void make_calls(FILE *to)
{
	const char *program = "/bin/true";
	const char *const argv[] = { program, NULL };
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct call calls[] = {
		{ "ptrace", SYS_ptrace, { PTRACE_TRACEME } },
		{ "init_module", SYS_init_module, { 0, 0, 0 } },
		{ "finit_module", SYS_finit_module, { -1, 0, 0 } },
		{ "delete_module", SYS_delete_module, { 0, 0 } },
		{ "kexec_load", SYS_kexec_load, { 0, 0, 0, 1L << 30 } },
		{ "mount", SYS_mount, { 0, 0, 0, 0 } },
		{ "umount2", SYS_umount2, { 0, 0 } },
		{ "pivot_root", SYS_pivot_root, { 0, 0 } },
		{ "chroot", SYS_chroot, { 0 } },
		{ "unshare", SYS_unshare, { 0 } },
		{ "setns", SYS_setns, { -1, 0 } },
		{ "process_vm_writev", SYS_process_vm_writev, { getpid(), 0, 0, 0 } },
		{ "setuid", SYS_setuid, { (long)getuid() } },
		{ "setresgid", SYS_setresgid, { -1, -1, -1 } },
		{ "chown", SYS_fchownat, { AT_FDCWD, 0, -1, -1 } },
		{ "mknod", SYS_mknodat, { AT_FDCWD, 0, S_IFCHR, 0 } },
		{ "setxattr", SYS_setxattr, { 0, 0, 0, 0 } },
		{ "connect", SYS_connect, { -1, 0, 0 } },
		{ "socket", SYS_socket, { AF_NETLINK, SOCK_RAW, 0 } },
		{ "socketpair", SYS_socketpair, { AF_INET, SOCK_STREAM, 0, 0 } },
		{ "add_key", SYS_add_key, { 0, 0, 0, 0 } },
		{ "bpf", SYS_bpf, { BPF_PROG_LOAD, 0, 0 } },
		{ "ioctl", SYS_ioctl, { -1, TIOCSTI, 0 } },
		{ "clone", SYS_clone, { CLONE_NEWUSER | CLONE_THREAD, 0, 0, 0 } },
		{ "mmap", SYS_mmap, { 0, PAGE, PROT_WRITE | PROT_EXEC, MAP_PRIVATE } },
		{ "mprotect",
		  SYS_mprotect,
		  { (long)page, PAGE, PROT_READ | PROT_EXEC } },
		{ "tgkill", SYS_tgkill, { getpid(), getpid(), 0 } },
		{ "kill", SYS_kill, { getpid(), SIGURG } },
		{ "prlimit64", SYS_prlimit64, { getppid(), 0, 0, 0 } },
		{ "settimeofday", SYS_settimeofday, { 0, 0 } },
		{ "reboot", SYS_reboot, { 0, 0, 0, 0 } },
		{ "swapoff", SYS_swapoff, { 0 } },
		{ "personality", SYS_personality, { 0xffffffff } },
		{ "io_uring_setup", SYS_io_uring_setup, { 0, 0 } },
		{ "userfaultfd", SYS_userfaultfd, { -1 } },
		{ "execveat", SYS_execveat, { -1, (long)"", (long)argv, 0 } },
		{ "execve", SYS_execve, { (long)program, (long)argv, 0 } },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		result(to, &calls[i]);
}

static void *wait_and_call(void *path)
{
	char part[4096], results[4096];
	FILE *to;

	while (access(path, F_OK))
		usleep(100000);
	snprintf(part, sizeof(part), "%s.part", (const char *)path);
	snprintf(results, sizeof(results), "%s.results", (const char *)path);
	to = fopen(part, "we");
	if (!to)
		return NULL;
	make_calls(to);
	fclose(to);
	(void)rename(part, results);
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	char *path = getenv("FORBIDDEN_CALLS");
	pthread_t thread;

	if (path && !pthread_create(&thread, NULL, wait_and_call, path))
		pthread_detach(thread);
}
