/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.h - the daemon's keys as a tree of files, and what is read and written there.
 * Layer: daemon.  All may be called from several threads.  Results are negative errnos, as a file
 * system gives them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "daemon/server/control_client.h"

struct controlfs_tree;

/* Of the daemon in `run_dir` (borrowed), which need not run yet: 0 or -ENOMEM. */
int controlfs_tree_new(const char *run_dir, struct controlfs_tree **ret_tree);
void controlfs_tree_free(struct controlfs_tree *t); /* NULL is fine */

/* Paths begin with / and have none at the end, but for "/" itself.
 * Mode of a file or folder, with S_IFREG or S_IFDIR; -ENOENT. */
int controlfs_tree_mode(struct controlfs_tree *t, const char *path, mode_t *ret_mode);
/* Calls `add` for each name in a folder, once; -ENOENT, -ENOTDIR. */
int controlfs_tree_names(struct controlfs_tree *t, const char *path,
			 void (*add)(void *ctx, const char *name), void *ctx);
/* What a file says, malloc'd, with a newline at its end. */
int controlfs_tree_read(struct controlfs_tree *t, const char *path, char **ret_text);
/* Blanks and newlines at the end do not count.  -EINVAL: the file last_error says why. */
int controlfs_tree_write(struct controlfs_tree *t, const char *path, const char *text,
			 size_t len);
/* What is no value at all: -EINVAL, and last_error says so. */
int controlfs_tree_refuse(struct controlfs_tree *t, const char *path, const char *text,
			  size_t len);
/* Whether it is the stream of events; then a connection of its own for who opens it. */
bool controlfs_tree_is_stream(const char *path);
int controlfs_tree_stream(struct controlfs_tree *t, struct control_client *ret_client);
