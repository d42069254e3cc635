/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failures_wrap.c - records each allocation that fails (base/memory/failures.h).
 * The program is linked with --wrap for these names: calls of malloc() reach __wrap_malloc(), and
 * __real_malloc() is the C library's. */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/memory/failures.h"

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
/* With _FORTIFY_SOURCE, these are the names of vasprintf() and asprintf() in the C library. */
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

/* Streams allocate inside the C library, whose own calls of malloc() are not wrapped. */
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
ssize_t __real___getdelim(char **line, size_t *cap, int end, FILE *in);
ssize_t __wrap___getdelim(char **line, size_t *cap, int end, FILE *in);
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

/* Records a failed call only if memory was short; callers report all other errors of file
 * operations. */
static void *noted_if_memory(void *stream)
{
	if (!stream && errno == ENOMEM)
		failures_note_memory();
	return stream;
}

DIR *__wrap_opendir(const char *path)
{
	return noted_if_memory(__real_opendir(path));
}

DIR *__wrap_fdopendir(int fd)
{
	return noted_if_memory(__real_fdopendir(fd));
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	return noted_if_memory(__real_fopen64(path, mode));
}

ssize_t __wrap___getdelim(char **line, size_t *cap, int end, FILE *in)
{
	ssize_t len = __real___getdelim(line, cap, end, in);

	if (len < 0 && !feof(in) && errno == ENOMEM)
		failures_note_memory();
	return len;
}
