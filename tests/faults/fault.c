/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fault.c - preloaded: the n-th call of one kind fails, as in SQLite's tests.
 *
 * FAULT_CALL is the kind (call_kinds[] below, "close" or "malloc"); FAULT_STATE is a file that
 * starts with a struct fault_state, which the driver fills in and reads back (faults.py).
 *
 * The kernel intercepts system calls (SECCOMP_RET_USER_NOTIF), so calls that the C library makes
 * internally (readdir, fread, the output of printf) also fail.  A separate process answers the
 * notifications: it lets calls proceed, or makes them fail without effect.  A close() that fails
 * has closed the descriptor, and malloc() is not a system call: these two are replaced in the
 * process.
 *
 * Counting starts before main(), after the dynamic loader.  Children before exec() are affected,
 * programs that the process executes are not. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MAX_CALLS = 8, /* system calls of a kind */
	MAX_FILTER = 32,
	FAILED_SETUP = 99 /* exit status: this kernel cannot intercept calls */
};

/* All members are in the machine's byte order. */
struct fault_state {
	_Atomic uint64_t is_armed; /* calls are counted while it is not 0 */
	_Atomic uint64_t n;        /* the number of the call that fails; 0: none */
	_Atomic uint64_t error;    /* its errno */
	_Atomic uint64_t keeps;    /* not 0: all calls after it also fail */
	_Atomic uint64_t traps;    /* not 0: the thread gets SIGTRAP, for a debugger */
	_Atomic uint64_t nr_calls;
	_Atomic uint64_t nr_failed;
};

struct call_kind {
	const char *name;
	int calls[MAX_CALLS]; /* -1 ends the list */
	/* The calls have a directory descriptor: only calls with AT_FDCWD count, or only calls
	 * with another descriptor. */
	bool is_at_cwd;
	bool is_at_fd;
	bool is_not_stderr; /* calls on standard error do not count, so that the process can print
			     * its messages */
};

static const struct call_kind call_kinds[] = {
	{ .name = "open",
	  .calls = { SYS_openat, SYS_openat2, -1 },
	  .is_at_cwd = true },
	{ .name = "openat",
	  .calls = { SYS_openat, SYS_openat2, -1 },
	  .is_at_fd = true },
	{ .name = "read", .calls = { SYS_read, SYS_readv, -1 } },
	{ .name = "pread", .calls = { SYS_pread64, SYS_preadv, -1 } },
	{ .name = "mmap", .calls = { SYS_mmap, -1 } },
	{ .name = "fstat",
	  .calls = { SYS_fstat,
#ifdef SYS_newfstatat
		     SYS_newfstatat,
#endif
		     SYS_statx, -1 } },
	{ .name = "getdents", .calls = { SYS_getdents64, -1 } },
	{ .name = "rename",
	  .calls = {
#ifdef SYS_rename
		  SYS_rename,
#endif
#ifdef SYS_renameat
		  SYS_renameat,
#endif
		  SYS_renameat2, SYS_linkat, -1 } },
	{ .name = "fsync", .calls = { SYS_fsync, SYS_fdatasync, SYS_syncfs, -1 } },
	{ .name = "write",
	  .calls = { SYS_write, SYS_writev, SYS_pwrite64, SYS_pwritev, SYS_sendfile,
		     SYS_copy_file_range, -1 },
	  .is_not_stderr = true },
};

static struct fault_state *state;
static bool fails_close;
static bool fails_malloc;

/* Counts a call of a thread. Returns the errno with which it must fail, or 0. */
static int count_call(pid_t thread)
{
	uint64_t n;
	uint64_t wanted;

	if (!state->is_armed)
		return 0;
	n = atomic_fetch_add(&state->nr_calls, 1) + 1;
	wanted = state->n;
	if (!wanted || (state->keeps ? n < wanted : n != wanted))
		return 0;
	if (!state->nr_failed++ && state->traps)
		syscall(SYS_tkill, thread, SIGTRAP);
	return (int)state->error;
}

static void set_up_failed(const char *what)
{
	dprintf(STDERR_FILENO, "fault: %s: %s\n", what, strerror(errno));
	_exit(FAILED_SETUP);
}

/* Writes the filter instructions for a system call: they notify, or continue with the next call.
 * Returns their number. */
static size_t filter_call(const struct call_kind *kind, int call,
			  struct sock_filter *to)
{
	size_t nr = 0;
	bool has_dir = kind->is_at_cwd || kind->is_at_fd;
	bool has_check =
		has_dir || (kind->is_not_stderr && call != SYS_copy_file_range);
	uint32_t value = has_dir ? (uint32_t)AT_FDCWD : STDERR_FILENO;

	to[nr++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						(uint32_t)call, 0, has_check ? 4 : 1);
	if (has_check) {
		to[nr++] = (struct sock_filter)BPF_STMT(
			BPF_LD | BPF_W | BPF_ABS,
			offsetof(struct seccomp_data, args[0]));
		to[nr++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							value, kind->is_at_cwd ? 1 : 0,
							kind->is_at_cwd ? 0 : 1);
		to[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							SECCOMP_RET_ALLOW);
	}
	to[nr++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	return nr;
}

/* Installs the filter. Returns the descriptor of its notifications. */
static int filter_install(const struct call_kind *kind)
{
	struct sock_filter code[MAX_FILTER + MAX_CALLS * 5];
	struct sock_fprog program = { .filter = code };
	size_t nr = 0;
	int fd;

	code[nr++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						  offsetof(struct seccomp_data, nr));
	for (size_t i = 0; kind->calls[i] != -1; i++)
		nr += filter_call(kind, kind->calls[i], code + nr);
	code[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)nr;
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			  SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (fd < 0 && errno == EACCES && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				  SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (fd < 0)
		set_up_failed("seccomp");
	return fd;
}

static void descriptor_send(int socket, int fd)
{
	char byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(socket, &message, 0) != 1)
		set_up_failed("sendmsg");
}

static int descriptor_receive(int socket)
{
	char byte;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	int fd;

	if (recvmsg(socket, &message, 0) != 1)
		_exit(0); /* the process is gone */
	c = CMSG_FIRSTHDR(&message);
	if (!c)
		_exit(0);
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Returns whether the task still runs the first program. */
static bool is_same_program(pid_t task, const char *program)
{
	char link[64];
	char found[4096];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)task);
	len = readlink(link, found, sizeof(found) - 1);
	if (len < 0)
		return false;
	found[len] = '\0';
	return !strcmp(found, program);
}

/* Answers notifications until no task has the filter any more. */
static void calls_answer(int fd, const char *program)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	struct seccomp_notif call;
	struct seccomp_notif_resp answer;
	int error;

	for (;;) {
		if (poll(&wait, 1, -1) < 0 && errno != EINTR)
			return;
		if (wait.revents & (POLLHUP | POLLERR) && !(wait.revents & POLLIN))
			return;
		memset(&call, 0, sizeof(call));
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &call))
			continue; /* the task was killed meanwhile */
		error = is_same_program((pid_t)call.pid, program)
				? count_call((pid_t)call.pid)
				: 0;
		answer = (struct seccomp_notif_resp){ .id = call.id, .error = -error };
		if (!error)
			answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

/* Starts the process that answers; its parent ends at once, so that the program has no child it
 * does not know. */
static void answerer_start(int socket)
{
	char program[4096];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	pid_t child;

	if (len < 0)
		set_up_failed("/proc/self/exe");
	program[len] = '\0';
	child = fork();
	if (child < 0)
		set_up_failed("fork");
	if (child) {
		waitpid(child, NULL, 0);
		return;
	}
	if (fork())
		_exit(0);
	/* Closes all descriptors, so that readers of the program's output do not wait for this
	 * process. */
	dup2(socket, 0);
	syscall(SYS_close_range, 1U, ~0U, 0U);
	calls_answer(descriptor_receive(0), program);
	_exit(0);
}

static void calls_intercept(const struct call_kind *kind)
{
	int sockets[2];
	int fd;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		set_up_failed("socketpair");
	answerer_start(sockets[1]);
	close(sockets[1]);
	fd = filter_install(kind);
	descriptor_send(sockets[0], fd);
	close(fd);
	close(sockets[0]);
}

static struct fault_state *state_map(const char *path)
{
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map;

	if (fd < 0)
		set_up_failed("FAULT_STATE");
	map = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		set_up_failed("FAULT_STATE");
	close(fd);
	return (struct fault_state *)map;
}

__attribute__((constructor)) static void fault_begin(void)
{
	const char *name = getenv("FAULT_CALL");

	if (!name)
		return;
	state = state_map(getenv("FAULT_STATE"));
	for (size_t i = 0; i < sizeof(call_kinds) / sizeof(*call_kinds); i++) {
		if (!strcmp(call_kinds[i].name, name))
			calls_intercept(&call_kinds[i]);
	}
	fails_close = !strcmp(name, "close");
	fails_malloc = !strcmp(name, "malloc");
	unsetenv("LD_PRELOAD");
	unsetenv("FAULT_CALL");
	unsetenv("FAULT_STATE");
}

static int close_result(int r)
{
	int error = fails_close ? count_call(gettid()) : 0;

	if (!error)
		return r;
	errno = error;
	return -1;
}

int close(int fd)
{
	return close_result((int)syscall(SYS_close, fd));
}

int fclose(FILE *stream)
{
	int (*next)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fclose");

	return close_result(next(stream));
}

int closedir(DIR *dir)
{
	int (*next)(DIR *) = (int (*)(DIR *))dlsym(RTLD_NEXT, "closedir");

	return close_result(next(dir));
}

static bool fails_allocation(void)
{
	if (!fails_malloc || !count_call(gettid()))
		return false;
	errno = ENOMEM;
	return true;
}

/* The allocation functions of the C library, under names that do not need dlsym(), which
 * allocates. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

void *malloc(size_t size)
{
	return fails_allocation() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails_allocation() ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *old, size_t size)
{
	return fails_allocation() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails_allocation() ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **ret_memory, size_t align, size_t size)
{
	void *memory = fails_allocation() ? NULL : __libc_memalign(align, size);

	if (!memory)
		return ENOMEM;
	*ret_memory = memory;
	return 0;
}
