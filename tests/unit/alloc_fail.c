/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "alloc_fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>

/* With the linker's --wrap, calls of malloc() go to __wrap_malloc(), and __real_malloc() is
 * that of the C library. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t len);
int __real_vasprintf(char **ret_text, const char *format, va_list args);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t len);
int __wrap_vasprintf(char **ret_text, const char *format, va_list args);
int __wrap_asprintf(char **ret_text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The C library calls these two for asprintf() and vasprintf() under _FORTIFY_SOURCE. */
int __wrap___vasprintf_chk(char **ret_text, int flag, const char *format, va_list args);
int __wrap___asprintf_chk(char **ret_text, int flag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static unsigned long calls_left; /* 0: nothing is armed */
static bool did_fail;

static bool fails_now(void)
{
	if (!calls_left || --calls_left)
		return false;
	calls_left = 1; /* the next one also fails */
	did_fail = true;
	errno = ENOMEM;
	return true;
}

void alloc_fail_at(unsigned long n)
{
	calls_left = n;
	did_fail = false;
}

bool alloc_fail_off(void)
{
	calls_left = 0;
	return did_fail;
}

void *__wrap_malloc(size_t size)
{
	return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails_now() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails_now() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *s)
{
	return fails_now() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t len)
{
	return fails_now() ? NULL : __real_strndup(s, len);
}

int __wrap_vasprintf(char **ret_text, const char *format, va_list args)
{
	return fails_now() ? -1 : __real_vasprintf(ret_text, format, args);
}

int __wrap_asprintf(char **ret_text, const char *format, ...)
{
	va_list args;
	int r;

	if (fails_now())
		return -1;
	va_start(args, format);
	r = __real_vasprintf(ret_text, format, args);
	va_end(args);
	return r;
}

int __wrap___vasprintf_chk(char **ret_text, int flag, const char *format, va_list args)
{
	(void)flag;
	return __wrap_vasprintf(ret_text, format, args);
}

int __wrap___asprintf_chk(char **ret_text, int flag, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = __wrap___vasprintf_chk(ret_text, flag, format, args);
	va_end(args);
	return r;
}
