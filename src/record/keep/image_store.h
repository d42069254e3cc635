/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image_store.h - examines each binary at its first sample, and copies binaries that are deleted
 * or replaced before the recording ends.
 * Layer: record.  Holds a descriptor of each sampled binary, and reads only its headers while the
 * workload runs.  A descriptor would prevent unmounting, so on removable mounts it holds a
 * private copy (docs/decisions/0016). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/shares.h"
#include "base/containers/vec.h"
#include "format/session/dict.h"
#include "record/keep/held_file.h"
#include "record/keep/image_open.h"

struct containers;
struct copy_list;
struct record_mmap;
struct session_dir;

struct kept_image {
	char *path;
	struct held_file
		held;  /* fd negative: holds nothing, or the file is being copied */
	uint32_t user; /* user of the first process with samples in the file */
	struct image image;       /* the image as it is stored in the session */
	struct image_location at; /* `path` is borrowed from above */
};

struct found_image {
	struct held_file held;
	struct build_id build_id; /* read from the file; len 0: none */
	uint32_t inode_gen;       /* see struct image_opened */
};

/* A binary that a container mapped, opened before its first sample. */
struct early_image {
	/* held.fd negative: the file was sampled since, or could not be held. */
	struct found_image found;
	uint64_t key;  /* key of this entry in `early_by` */
	uint32_t user; /* user of the process that mapped it */
};

/* A binary that was sampled but could not be opened because the process had ended. */
struct wanted_image {
	char *path;
	struct image image;
	bool is_found; /* it was opened through another process since then */
};

struct image_store {
	/* When a list is full, the user with the most entries loses the last one. */
	VEC(struct kept_image) kept;
	struct shares kept_by; /* number of kept binaries of each user */
	bool has_warned;       /* already logged that two files have one build-id */
	VEC(struct early_image) early;
	struct shares early_of;
	struct map early_by; /* hash of the identity -> early */
	VEC(struct wanted_image) wanted;
	struct map wanted_by;                /* hash of the identity -> wanted */
	const struct containers *containers; /* borrowed; NULL: not tracked */
	struct file_holder holder;
	struct build_id kernel_build_id;
	const struct session_dir
		*dir; /* destination of vdso images and copies; borrowed */
};

void image_store_init(struct image_store *k, const struct session_dir *dir,
		      const struct build_id *kernel_build_id);
/* Implements first_hit of struct resolver_ops. */
void image_store_first_hit(struct image_store *k, const char *path, int32_t pid,
			   uint64_t map_start, uint64_t map_end, struct image *image);
/* Implements is_rewritten() of struct resolver_ops. */
bool image_store_is_rewritten(const char *path, const struct image *image);
/* Implements is_memory() of struct resolver_ops. */
bool image_store_is_memory(const struct image_store *k, const struct record_mmap *m);
/* Processes a mapping of a file.  Opens a container's file at once, because file and process may
 * no longer exist at the first sample.  Opens other files only if they were sampled before and
 * could not be opened. */
void image_store_mapped(struct image_store *k, const struct record_mmap *m);
/* Closes files of containers whose processes had already ended at the last check, and copies
 * those that were sampled.  Call after draining the rings. */
void image_store_look(struct image_store *k);
/* Returns a new descriptor of the file that was opened at the image's first sample, or a negative
 * errno if it no longer exists. On input, *copy says whether a private copy suffices; on output,
 * whether the descriptor is one. Close the descriptor soon if it is not, because it may keep a
 * mount busy. */
int image_store_open(const struct image_store *k, const struct image *image,
		     bool *copy);
/* Call at the end of a recording. Adds to `copies` the sampled files that are no longer at their
 * paths, for copying into session_dir/images/. */
void image_store_save_lost(struct image_store *k, struct copy_list *copies);
void image_store_done(struct image_store *k);
