/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_index.h - an index by name of the files below given directories, for --image-path.
 * Layer: resolve. Built once, then read-only. */
#pragma once
#include <stddef.h>

struct file_index;

enum {
	FILE_INDEX_DEPTH_MAX = 40,
	FILE_INDEX_FILES_MAX = 4 << 20
};

/* Indexes the directories (NULL-terminated list) and everything below them. Does not follow
 * links to directories, and skips what it cannot read. The caller owns *ret_index. Returns 0 or
 * -ENOMEM. */
int file_index_new(const char *const *folders, struct file_index **ret_index);
void file_index_free(struct file_index *index); /* accepts NULL */
/* Returns the path of the n-th file called `name`, or NULL if there are fewer. The index owns
 * it. */
const char *file_index_get(const struct file_index *index, const char *name, size_t n);
/* Like file_index_get(), for a kernel module's file: "ext4" finds "ext4.ko". '-', '_' and ',' are
 * treated as the same character, because build tools, modprobe and the kernel use different
 * ones. */
const char *file_index_module(const struct file_index *index, const char *module,
			      size_t n);
