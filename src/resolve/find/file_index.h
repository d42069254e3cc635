/* file_index.h - the files below some folders, by name: where --image-path has binaries
 * look for.
 * Layer: resolve.  Built once, then read-only. */
#pragma once
#include <stddef.h>

struct file_index;

enum {
	FILE_INDEX_DEPTH_MAX = 40,
	FILE_INDEX_FILES_MAX = 4 << 20
};

/* Walks the folders (a list that ends with NULL) and all below them; links to folders are
 * not followed, and what cannot be read is left out.  The caller owns *ret_index.
 * 0 or -ENOMEM. */
int file_index_new(const char *const *folders, struct file_index **ret_index);
void file_index_free(struct file_index *index); /* NULL is fine */
/* The path of the n-th file called `name`, NULL if there are not as many.  Borrowed. */
const char *file_index_get(const struct file_index *index, const char *name, size_t n);
/* The same for a kernel module's file: "ext4" finds "ext4.ko", and '-', '_' and ',' are one
 * character (build tools, modprobe and the kernel do not agree on it). */
const char *file_index_module(const struct file_index *index, const char *module,
			      size_t n);
