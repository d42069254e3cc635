/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page/process_cpu.h"

#include <time.h>

#include "base/clock.h"

uint64_t process_cpu_ns(pid_t pid)
{
	clockid_t clock;

	return pid > 0 && !clock_getcpuclockid(pid, &clock) ? clock_now_ns(clock) : 0;
}
