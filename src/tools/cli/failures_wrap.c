/* failures_wrap.c - notes each allocation, and each call on a file, that fails (tools/cli/failures.h).
 * The program is linked with --wrap for these names: calls of malloc() reach __wrap_malloc(), and
 * __real_malloc() is the C library's. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cli/failures.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t len);
int __real_vasprintf(char **ret_text, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t len);
int __wrap_vasprintf(char **ret_text, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
int __wrap_asprintf(char **ret_text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The C library's names for these two under _FORTIFY_SOURCE. */
int __wrap___vasprintf_chk(char **ret_text, int flag, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));
int __wrap___asprintf_chk(char **ret_text, int flag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void *noted(void *memory)
{
	if (__builtin_expect(!memory, 0))
		failures_note_memory();
	return memory;
}

static int noted_length(int len)
{
	if (__builtin_expect(len < 0, 0))
		failures_note_memory();
	return len;
}

void *__wrap_malloc(size_t size)
{
	return noted(__real_malloc(size));
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return noted(__real_calloc(nr, size));
}

void *__wrap_realloc(void *old, size_t size)
{
	return noted(__real_realloc(old, size));
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return noted(__real_aligned_alloc(align, size));
}

char *__wrap_strdup(const char *s)
{
	return noted(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t len)
{
	return noted(__real_strndup(s, len));
}

int __wrap_vasprintf(char **ret_text, const char *format, va_list args)
{
	return noted_length(__real_vasprintf(ret_text, format, args));
}

int __wrap_asprintf(char **ret_text, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = noted_length(__real_vasprintf(ret_text, format, args));
	va_end(args);
	return len;
}

int __wrap___vasprintf_chk(char **ret_text, int flag, const char *format, va_list args)
{
	(void)flag;
	return noted_length(__real_vasprintf(ret_text, format, args));
}

int __wrap___asprintf_chk(char **ret_text, int flag, const char *format, ...)
{
	va_list args;
	int len;

	(void)flag;
	va_start(args, format);
	len = noted_length(__real_vasprintf(ret_text, format, args));
	va_end(args);
	return len;
}

/* Calls with a path and no descriptor: noted with the path. */
#define NOTED_PATH(type, failed, name, path, parameters, arguments)                    \
	type __real_##name parameters;                                                 \
	type __wrap_##name parameters;                                                 \
	type __wrap_##name parameters                                                  \
	{                                                                              \
		type result = __real_##name arguments;                                 \
                                                                                       \
		if (result == (failed))                                                \
			failures_note_path(AT_FDCWD, path, errno);                     \
		return result;                                                         \
	}

/* Calls on an open file. */
#define NOTED_FD(type, failed, name, fd, parameters, arguments)                        \
	type __real_##name parameters;                                                 \
	type __wrap_##name parameters;                                                 \
	type __wrap_##name parameters                                                  \
	{                                                                              \
		type result = __real_##name arguments;                                 \
                                                                                       \
		if (result == (failed))                                                \
			failures_note_fd(fd, errno);                                   \
		return result;                                                         \
	}

NOTED_PATH(DIR *, NULL, opendir, path, (const char *path), (path))
NOTED_PATH(FILE *, NULL, fopen64, path, (const char *path, const char *mode),
	   (path, mode))
NOTED_PATH(int, -1, stat64, path, (const char *path, struct stat *st), (path, st))
NOTED_PATH(int, -1, lstat64, path, (const char *path, struct stat *st), (path, st))
NOTED_PATH(int, -1, __open64_2, path, (const char *path, int flags), (path, flags))
NOTED_FD(int, -1, fstat64, fd, (int fd, struct stat *st), (fd, st))
NOTED_FD(ssize_t, -1, read, fd, (int fd, void *to, size_t len), (fd, to, len))
NOTED_FD(ssize_t, -1, __read_chk, fd, (int fd, void *to, size_t len, size_t size),
	 (fd, to, len, size))
NOTED_FD(ssize_t, -1, pread64, fd, (int fd, void *to, size_t len, off_t at),
	 (fd, to, len, at))
NOTED_FD(ssize_t, -1, __pread64_chk, fd,
	 (int fd, void *to, size_t len, off_t at, size_t size), (fd, to, len, at, size))
NOTED_FD(DIR *, NULL, fdopendir, fd, (int fd), (fd))
NOTED_FD(void *, MAP_FAILED, mmap64, fd,
	 (void *at, size_t len, int prot, int flags, int fd, off_t offset),
	 (at, len, prot, flags, fd, offset))

/* Streams that allocate. */
FILE *__real_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode);
FILE *__real_fopencookie(void *cookie, const char *mode,
			 cookie_io_functions_t functions);
FILE *__wrap_fopencookie(void *cookie, const char *mode,
			 cookie_io_functions_t functions);

FILE *__wrap_fdopen(int fd, const char *mode)
{
	return noted(__real_fdopen(fd, mode));
}

FILE *__wrap_fopencookie(void *cookie, const char *mode,
			 cookie_io_functions_t functions)
{
	return noted(__real_fopencookie(cookie, mode, functions));
}

/* Streams keep the error until they are closed. */
size_t __real_fread(void *to, size_t size, size_t nr, FILE *in);
size_t __wrap_fread(void *to, size_t size, size_t nr, FILE *in);
ssize_t __real___getdelim(char **line, size_t *cap, int end, FILE *in);
ssize_t __wrap___getdelim(char **line, size_t *cap, int end, FILE *in);

size_t __wrap_fread(void *to, size_t size, size_t nr, FILE *in)
{
	size_t got = __real_fread(to, size, nr, in);

	if (got < nr && ferror(in))
		failures_note_fd(fileno(in), errno == EINTR ? EIO : errno);
	return got;
}

ssize_t __wrap___getdelim(char **line, size_t *cap, int end, FILE *in)
{
	ssize_t len = __real___getdelim(line, cap, end, in);

	/* Without memory it has no error. */
	if (len < 0 && !feof(in))
		failures_note_fd(fileno(in), errno == EINTR ? EIO : errno);
	return len;
}

/* These have a descriptor of the directory, or arguments that depend on others. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_openat64(int dir, const char *path, int flags, ...);
int __wrap_openat64(int dir, const char *path, int flags, ...);
int __real_fstatat64(int dir, const char *path, struct stat *st, int flags);
int __wrap_fstatat64(int dir, const char *path, struct stat *st, int flags);
int __real_statx(int dir, const char *path, int flags, unsigned int mask,
		 struct statx *st);
int __wrap_statx(int dir, const char *path, int flags, unsigned int mask,
		 struct statx *st);
struct dirent *__real_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir);

static mode_t mode_argument(int flags, va_list args)
{
	bool has_mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;

	return has_mode ? va_arg(args, mode_t) : 0;
}

int __wrap_open64(const char *path, int flags, ...)
{
	va_list args;
	int fd;

	va_start(args, flags);
	fd = __real_open64(path, flags, mode_argument(flags, args));
	va_end(args);
	if (fd < 0)
		failures_note_path(AT_FDCWD, path, errno);
	return fd;
}

int __wrap_openat64(int dir, const char *path, int flags, ...)
{
	va_list args;
	int fd;

	va_start(args, flags);
	fd = __real_openat64(dir, path, flags, mode_argument(flags, args));
	va_end(args);
	if (fd < 0)
		failures_note_path(dir, path, errno);
	return fd;
}

int __wrap_fstatat64(int dir, const char *path, struct stat *st, int flags)
{
	int r = __real_fstatat64(dir, path, st, flags);

	if (r)
		failures_note_path(dir, path, errno);
	return r;
}

int __wrap_statx(int dir, const char *path, int flags, unsigned int mask,
		 struct statx *st)
{
	int r = __real_statx(dir, path, flags, mask, st);

	if (r)
		failures_note_path(dir, path, errno);
	return r;
}

struct dirent *__wrap_readdir64(DIR *dir)
{
	int error = errno;
	struct dirent *entry;

	errno = 0;
	entry = __real_readdir64(dir);
	if (!entry && errno)
		failures_note_fd(dirfd(dir), errno);
	else
		errno = error;
	return entry;
}
