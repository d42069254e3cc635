/* live_files.h - files as the processes of a recording see them, while these still live: in a
 * container, below a chroot, or deleted since (/proc/PID/root, exe, map_files).
 * Layer: resolve.  For recordings of this machine's present boot alone. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"
#include "format/session/session.h"

struct live_files;

/* Whether the recording is of this boot of this machine, as far as it tells. */
bool live_files_possible(const struct session_info *info);
/* 0 or -ENOMEM.  `dict`, which may grow, and `info` outlive it. */
int live_files_new(const struct dict *dict, const struct session_info *info,
		   struct live_files **ret_live);
void live_files_free(struct live_files *l); /* NULL is fine */
/* Opens the first file that `is_it` takes, of those that may be the image (kind FILE).  0:
 * *ret_fd and *ret_path (malloc'd) are the caller's; -ENOENT; -ENOMEM. */
int live_files_open(struct live_files *l, const struct image *image, uint32_t number,
		    bool (*is_it)(int fd, const struct image *image), int *ret_fd,
		    char **ret_path);
