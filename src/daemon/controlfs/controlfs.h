/* SPDX-License-Identifier: GPL-2.0-or-later */
/* controlfs.h - the control files: a file system whose files are what oprofiled is asked and told.
 * Layer: daemon. */
#pragma once
#include <stdbool.h>

struct err;

struct controlfs_config {
	const char *mountpoint;
	const char *run_dir; /* absolute; the daemon's */
	bool foreground;
};

/* The version of libfuse3 that the build knows, NULL where it has none. */
const char *controlfs_version(void);
/* Whether the control files are mounted at `dir` (absolute, without links in it), served or not. */
bool controlfs_is_mounted(const char *dir);
/* Unmounts them there if who served them has died: each access is ENOTCONN then. */
void controlfs_unmount_stale(const char *dir);
/* Mounts, and serves until it is unmounted or a signal ends it; without `foreground` in a process
 * of its own, and this one ends (as fuse_main(3)).  0; or a negative errno with a line. */
int controlfs_serve(const struct controlfs_config *config, struct err *err);
