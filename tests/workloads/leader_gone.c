/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leader_gone.c SECONDS - a process whose first thread has ended while another thread works for
 * SECONDS: /proc shows such a process as a zombie without mappings. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "work.h"

WORK_FUNCTION(left_alone)

static double seconds;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void *work(void *unused)
{
	double end = now() + seconds;

	(void)unused;
	while (now() < end)
		left_alone(1000000);
	exit(0);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	seconds = argc > 1 ? atof(argv[1]) : 1;
	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	pthread_exit(NULL);
}
