/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_files.h - opens files through the recorded processes that still run (/proc/PID/root,
 * exe, map_files): files in a container, below a chroot, or deleted.
 * Layer: resolve. Only for recordings of the current boot of this machine. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"
#include "format/session/session.h"

struct live_files;

/* Returns whether the recording can be from the current boot of this machine. */
bool live_files_possible(const struct session_info *info);
/* Prepares the search for files of running processes. Returns 0 or -ENOMEM. `dict`, which may
 * grow, and `info` must outlive the object. */
int live_files_new(const struct dict *dict, const struct session_info *info,
		   struct live_files **ret_live);
void live_files_free(struct live_files *l); /* accepts NULL */
/* Opens the first file accepted by `is_it` among those that might be the image (kind FILE).
 * Returns 0: the caller owns *ret_fd and *ret_path (malloc'd); -ENOENT; or -ENOMEM. */
int live_files_open(struct live_files *l, const struct image *image, uint32_t number,
		    bool (*is_it)(int fd, const struct image *image), int *ret_fd,
		    char **ret_path);
