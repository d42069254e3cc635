/* SPDX-License-Identifier: GPL-2.0-or-later */
/* refuse_perf - preloaded: refuses perf_event_open(2), like a kernel with a
 * perf_event_paranoid above 2. With REFUSE=cgroup in the environment, it refuses only what a
 * kernel without CONFIG_CGROUP_PERF refuses. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

long syscall(long number, ...);

static int refused(const struct perf_event_attr *a)
{
	const char *what = getenv("REFUSE");

	errno = EACCES;
	if (!what || strcmp(what, "cgroup") != 0)
		return 1;
	errno = EINVAL;
	return a->cgroup || a->sample_type & PERF_SAMPLE_CGROUP;
}

long syscall(long number, ...)
{
	long arguments[6], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open &&
	    refused((const struct perf_event_attr *)arguments[0]))
		return -1;
#ifdef __x86_64__
	register long r10 __asm__("r10") = arguments[3];
	register long r8 __asm__("r8") = arguments[4];
	register long r9 __asm__("r9") = arguments[5];

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(arguments[0]), "S"(arguments[1]),
			   "d"(arguments[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	if (result < 0 && result >= -4095) {
		errno = (int)-result;
		return -1;
	}
	return result;
#else
	(void)arguments;
	(void)result;
	errno = ENOSYS;
	return -1;
#endif
}
