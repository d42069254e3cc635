/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slow_disk.c - preloaded: while the file that SLOW_DISK names exists, fsync() by a thread of
 * the lowest priority (daemon/upkeep/segment_merge.h) takes five seconds. It creates
 * SLOW_DISK.begun when it starts to wait. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	SLOW_SECONDS = 5,
	LOWEST_PRIORITY = 19
};

int fsync(int fd)
{
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
	const char *name = getenv("SLOW_DISK");
	char begun[4096];

	if (name && !access(name, F_OK) &&
	    getpriority(PRIO_PROCESS, (id_t)gettid()) == LOWEST_PRIORITY) {
		snprintf(begun, sizeof(begun), "%s.begun", name);
		close(open(begun, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
		sleep(SLOW_SECONDS);
	}
	return next(fd);
}
