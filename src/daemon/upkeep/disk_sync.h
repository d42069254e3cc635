/* SPDX-License-Identifier: GPL-2.0-or-later */
/* disk_sync.h - periodically syncs files to disk, so that a machine crash loses only the data
 * written since then.
 * Layer: daemon.  Single-threaded except for an internal thread, the only one that waits for the
 * disk. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/containers/vec.h"

struct disk_sync_file {
	char *path;
	bool with_folder; /* also sync its directory with everything below, and the parent */
};

struct disk_sync_list {
	VEC(struct disk_sync_file) files;
};

struct disk_sync {
	struct disk_sync_list asked;
	struct disk_sync_list under_way; /* owned by the thread while it runs */
	bool runs;
	pthread_t thread;
	time_t since; /* directories: files that were last modified before are already synced */
	_Atomic(bool) is_done;
};

/* Requests a sync of the file at `path` (copied) when the thread starts next; two requests for
 * one file cause one sync.  If memory is short, leaves the file to the kernel. */
void disk_sync_add(struct disk_sync *s, const char *path, bool with_folder);
/* Starts the thread for the requested syncs unless it runs already. */
void disk_sync_poll(struct disk_sync *s);
/* Waits for all requested syncs.  Zero-initialize the struct; this zeroes it again. */
void disk_sync_done(struct disk_sync *s);
