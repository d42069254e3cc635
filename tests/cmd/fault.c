/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fault.c - preloaded into a command: FAULT_CALL (open, read or mmap) on the file FAULT_PATH (an
 * absolute path, or the end of a path) fails with the error number FAULT_ERRNO. stat(2) fails
 * together with open(2), as on a broken disk. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int is_faulty(const char *call, const char *path)
{
	const char *wanted = getenv("FAULT_CALL"), *end = getenv("FAULT_PATH");
	size_t len = strlen(path);

	if (!wanted || !end || strcmp(call, wanted) != 0)
		return 0;
	if (*end == '/')
		return !strcmp(path, end);
	return len >= strlen(end) && !strcmp(path + len - strlen(end), end);
}

static int fails(const char *call, const char *path)
{
	if (!is_faulty(call, path))
		return 0;
	errno = atoi(getenv("FAULT_ERRNO"));
	return 1;
}

/* Stores the path of a file descriptor. Returns 0 if there is none. */
static int path_of(int fd, char *path)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	path[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

static int fails_fd(const char *call, int fd)
{
	char path[PATH_MAX];

	return fd >= 0 && path_of(fd, path) && fails(call, path);
}

static int fails_at(const char *call, int at, const char *name)
{
	char path[2 * PATH_MAX];

	if (at == AT_FDCWD || *name == '/' || !path_of(at, path))
		return fails(call, name);
	snprintf(path + strlen(path), PATH_MAX, "/%s", name);
	return fails(call, path);
}

/* Defined under both names: a program calls one or the other depending on its _FILE_OFFSET_BITS.
 * The mode is read from its register, whether or not the caller passed it. */
int open_32(const char *path, int flags, mode_t mode) __asm__("open");
int open_64(const char *path, int flags, mode_t mode) __asm__("open64");
int open_64_2(const char *path, int flags) __asm__("__open64_2");
int openat_32(int at, const char *path, int flags, mode_t mode) __asm__("openat");
int openat_64(int at, const char *path, int flags, mode_t mode) __asm__("openat64");
int openat_64_2(int at, const char *path, int flags) __asm__("__openat64_2");
int stat_32(const char *path, struct stat *ret_st) __asm__("stat");
int stat_64(const char *path, struct stat *ret_st) __asm__("stat64");
ssize_t read_plain(int fd, void *bytes, size_t len) __asm__("read");
ssize_t pread_32(int fd, void *bytes, size_t len, off_t at) __asm__("pread");
ssize_t pread_64(int fd, void *bytes, size_t len, off_t at) __asm__("pread64");
ssize_t read_chk(int fd, void *bytes, size_t len, size_t room) __asm__("__read_chk");
ssize_t pread_chk(int fd, void *bytes, size_t len, off_t at,
		  size_t room) __asm__("__pread64_chk");
void *mmap_32(void *at, size_t len, int prot, int flags, int fd,
	      off_t offset) __asm__("mmap");
void *mmap_64(void *at, size_t len, int prot, int flags, int fd,
	      off_t offset) __asm__("mmap64");

static int open_any(int at, const char *path, int flags, mode_t mode)
{
	int (*next)(int, const char *, int, mode_t);

	if (fails_at("open", at, path))
		return -1;
	*(void **)&next = dlsym(RTLD_NEXT, "openat64");
	return next(at, path, flags, mode);
}

int open_32(const char *path, int flags, mode_t mode)
{
	return open_any(AT_FDCWD, path, flags, mode);
}

int open_64(const char *path, int flags, mode_t mode)
{
	return open_any(AT_FDCWD, path, flags, mode);
}

int open_64_2(const char *path, int flags)
{
	return open_any(AT_FDCWD, path, flags, 0);
}

int openat_32(int at, const char *path, int flags, mode_t mode)
{
	return open_any(at, path, flags, mode);
}

int openat_64(int at, const char *path, int flags, mode_t mode)
{
	return open_any(at, path, flags, mode);
}

int openat_64_2(int at, const char *path, int flags)
{
	return open_any(at, path, flags, 0);
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
	if (nr == SYS_openat2 && fails_at("open", (int)args[0], (const char *)args[1]))
		return -1;
	*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
}

static int stat_any(const char *path, struct stat *ret_st)
{
	return fails("open", path) ? -1 : fstatat(AT_FDCWD, path, ret_st, 0);
}

int stat_32(const char *path, struct stat *ret_st)
{
	return stat_any(path, ret_st);
}

int stat_64(const char *path, struct stat *ret_st)
{
	return stat_any(path, ret_st);
}

static ssize_t pread_any(int fd, void *bytes, size_t len, off_t at)
{
	ssize_t (*next)(int, void *, size_t, off_t);

	if (fails_fd("read", fd))
		return -1;
	*(void **)&next = dlsym(RTLD_NEXT, "pread64");
	return next(fd, bytes, len, at);
}

ssize_t read_plain(int fd, void *bytes, size_t len)
{
	ssize_t (*next)(int, void *, size_t);

	if (fails_fd("read", fd))
		return -1;
	*(void **)&next = dlsym(RTLD_NEXT, "read");
	return next(fd, bytes, len);
}

ssize_t read_chk(int fd, void *bytes, size_t len, size_t room)
{
	(void)room;
	return read_plain(fd, bytes, len);
}

ssize_t pread_32(int fd, void *bytes, size_t len, off_t at)
{
	return pread_any(fd, bytes, len, at);
}

ssize_t pread_64(int fd, void *bytes, size_t len, off_t at)
{
	return pread_any(fd, bytes, len, at);
}

ssize_t pread_chk(int fd, void *bytes, size_t len, off_t at, size_t room)
{
	(void)room;
	return pread_any(fd, bytes, len, at);
}

static void *mmap_any(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	void *(*next)(void *, size_t, int, int, int, off_t);

	if (fails_fd("mmap", fd))
		return (void *)-1;
	*(void **)&next = dlsym(RTLD_NEXT, "mmap64");
	return next(at, len, prot, flags, fd, offset);
}

void *mmap_32(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	return mmap_any(at, len, prot, flags, fd, offset);
}

void *mmap_64(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	return mmap_any(at, len, prot, flags, fd, offset);
}
