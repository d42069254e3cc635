/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hang.c - preloaded into a command: accesses to files with HANG_PATH in their path never return,
 * as on a dead file server. With HANG_STAT the same applies to stat(2) of exactly this name, unless
 * the caller does not ask the server; with HANG_MEMORY to reading the memory of other processes. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static _Noreturn void hang(void)
{
	for (;;)
		pause();
}

static void look(const char *path)
{
	const char *part = getenv("HANG_PATH");

	if (part && strstr(path, part))
		hang();
}

static int really_open_at(int at, const char *path, int flags, mode_t mode)
{
	int (*next)(int, const char *, int, mode_t);

	look(path);
	*(void **)&next = dlsym(RTLD_NEXT, "openat64");
	return next(at, path, flags, mode);
}

static int really_open(const char *path, int flags, mode_t mode)
{
	return really_open_at(AT_FDCWD, path, flags, mode);
}

static void look_at_stat(const char *path, int flags)
{
	const char *name = getenv("HANG_STAT");

	look(path);
	if (name && !(flags & AT_STATX_DONT_SYNC) && !strcmp(path, name))
		hang();
}

static int really_stat(const char *path, struct stat *ret_st)
{
	look_at_stat(path, 0);
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, ret_st, 0);
}

/* Defined under both names: a program calls one or the other depending on its _FILE_OFFSET_BITS.
 * The mode is read from its register, whether or not the caller passed it. */
int open_32(const char *path, int flags, mode_t mode) __asm__("open");
int open_64(const char *path, int flags, mode_t mode) __asm__("open64");
int openat_32(int at, const char *path, int flags, mode_t mode) __asm__("openat");
int openat_64(int at, const char *path, int flags, mode_t mode) __asm__("openat64");
int stat_32(const char *path, struct stat *ret_st) __asm__("stat");
int stat_64(const char *path, struct stat *ret_st) __asm__("stat64");

int open_32(const char *path, int flags, mode_t mode)
{
	return really_open(path, flags, mode);
}

int open_64(const char *path, int flags, mode_t mode)
{
	return really_open(path, flags, mode);
}

int openat_32(int at, const char *path, int flags, mode_t mode)
{
	return really_open_at(at, path, flags, mode);
}

int openat_64(int at, const char *path, int flags, mode_t mode)
{
	return really_open_at(at, path, flags, mode);
}

int stat_32(const char *path, struct stat *ret_st)
{
	return really_stat(path, ret_st);
}

int stat_64(const char *path, struct stat *ret_st)
{
	return really_stat(path, ret_st);
}

int fstatat_32(int at, const char *path, struct stat *ret_st,
	       int flags) __asm__("fstatat");
int fstatat_64(int at, const char *path, struct stat *ret_st,
	       int flags) __asm__("fstatat64");

int fstatat_32(int at, const char *path, struct stat *ret_st, int flags)
{
	look_at_stat(path, flags);
	return (int)syscall(SYS_newfstatat, at, path, ret_st, flags);
}

int fstatat_64(int at, const char *path, struct stat *ret_st, int flags)
{
	return fstatat_32(at, path, ret_st, flags);
}

int statx(int at, const char *restrict path, int flags, unsigned int mask,
	  struct statx *restrict ret_st)
{
	look_at_stat(path, flags);
	return (int)syscall(SYS_statx, at, path, flags, mask, ret_st);
}

/* The C library has no function for openat2(2), so callers use syscall(). */
long syscall(long nr, ...)
{
	long (*next)(long, ...);
	long args[6];
	va_list list;

	va_start(list, nr);
	for (size_t i = 0; i < sizeof(args) / sizeof(*args); i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (nr == SYS_openat2)
		look((const char *)args[1]);
	*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nr_local,
			 const struct iovec *remote, unsigned long nr_remote,
			 unsigned long flags)
{
	ssize_t (*next)(pid_t, const struct iovec *, unsigned long,
			const struct iovec *, unsigned long, unsigned long);

	if (getenv("HANG_MEMORY"))
		hang();
	*(void **)&next = dlsym(RTLD_NEXT, "process_vm_readv");
	return next(pid, local, nr_local, remote, nr_remote, flags);
}
