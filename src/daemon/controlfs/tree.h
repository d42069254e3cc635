/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.h - presents the daemon's keys as a tree of files, and reads and writes them.
 * Layer: daemon.  Thread-safe.  Functions return negative errnos, as a file system does. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "daemon/server/control_client.h"

struct controlfs_tree;

/* Creates the tree for the daemon in `run_dir` (borrowed), which need not run yet.  Returns 0 or
 * -ENOMEM. */
int controlfs_tree_new(const char *run_dir, struct controlfs_tree **ret_tree);
void controlfs_tree_free(struct controlfs_tree *t); /* NULL is allowed */

/* Paths begin with / and do not end with one, except "/" itself.
 * Stores the mode of a file or directory, with S_IFREG or S_IFDIR.  Returns 0 or -ENOENT. */
int controlfs_tree_mode(struct controlfs_tree *t, const char *path, mode_t *ret_mode);
/* Calls `add` once for each name in a directory.  Returns 0, -ENOENT or -ENOTDIR. */
int controlfs_tree_names(struct controlfs_tree *t, const char *path,
			 void (*add)(void *ctx, const char *name), void *ctx);
/* Stores the content of a file, with a newline at its end, in *ret_text (malloc'd). Returns 0, or
 * -ENOENT, -EACCES or another negative errno. */
int controlfs_tree_read(struct controlfs_tree *t, const char *path, char **ret_text);
/* Writes a value; ignores blanks and newlines at its end. Returns 0 or a negative errno. After
 * -EINVAL, the file last_error contains the reason. */
int controlfs_tree_write(struct controlfs_tree *t, const char *path, const char *text,
			 size_t len);
/* Call for a text that cannot be a value, such as half of one. Returns -EINVAL, and the daemon
 * writes the reason to the file last_error. */
int controlfs_tree_refuse(struct controlfs_tree *t, const char *path, const char *text,
			  size_t len);
/* Returns whether the path is the stream of samples, /buffer. Readers call
 * controlfs_tree_stream(), which opens a separate connection for each of them. */
bool controlfs_tree_is_stream(const char *path);
int controlfs_tree_stream(struct controlfs_tree *t, struct control_client *ret_client);
