/* SPDX-License-Identifier: GPL-2.0-or-later */
/* controlfs.h - the control files: a file system that maps reads and writes to requests to
 * oprofiled.
 * Layer: daemon. */
#pragma once
#include <stdbool.h>

struct err;

struct controlfs_config {
	const char *mountpoint;
	const char *run_dir; /* the daemon's run directory, absolute */
	bool foreground;
};

/* Returns the version of libfuse3 used by the build, or NULL if it has none. */
const char *controlfs_version(void);
/* Returns whether the control files are mounted at `dir` (absolute, without links in it), even if
 * their server has exited. */
bool controlfs_is_mounted(const char *dir);
/* Unmounts the control files from `dir` if their server has exited. Until then, every access to
 * the mount fails with ENOTCONN. */
void controlfs_unmount_stale(const char *dir);
/* Mounts the files and serves them until they are unmounted or a signal arrives.  Without
 * `foreground`, a child process serves and this one exits (as fuse_main(3) does).  Returns 0 or a
 * negative errno with a message in *err. */
int controlfs_serve(const struct controlfs_config *config, struct err *err);
