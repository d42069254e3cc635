/* SPDX-License-Identifier: GPL-2.0-or-later */
/* disk_sync.h - files that are put to the disk now and then, so that a crash of the machine costs no
 * more than that.
 * Layer: daemon.  Single-threaded but for a thread of its own, which waits for the disk: nobody else
 * does. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/containers/vec.h"

struct disk_sync_file {
	char *path;
	bool with_folder; /* and all that is beside it and below, and their names */
};

struct disk_sync_list {
	VEC(struct disk_sync_file) files;
};

struct disk_sync {
	struct disk_sync_list asked;
	struct disk_sync_list under_way; /* the thread's while it runs */
	bool runs;
	pthread_t thread;
	time_t since; /* what is in a folder has been put to the disk up to then */
	_Atomic(bool) is_done;
};

/* The file at `path`, which is copied, is put to the disk when there is a thread for it next; of two that
 * ask for one file it is done once.  Without memory it is left to the kernel. */
void disk_sync_add(struct disk_sync *s, const char *path, bool with_folder);
/* Begins with what was asked for, if nothing is under way. */
void disk_sync_turn(struct disk_sync *s);
/* Waits for all that was asked for.  It starts as zeros, and is that again. */
void disk_sync_done(struct disk_sync *s);
