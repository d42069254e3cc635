/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fake_clock.c - preloaded into a command: shifts the time of day by the number of seconds in the
 * file that FAKE_CLOCK names. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long offset_s(void)
{
	FILE *f = fopen(getenv("FAKE_CLOCK"), "re");
	char text[32] = "";

	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	return strtol(text, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret_time);

	if (!r && clock == CLOCK_REALTIME)
		ret_time->tv_sec += offset_s();
	return r;
}
