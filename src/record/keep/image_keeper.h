/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image_keeper.h - what a recording finds out about a binary at its first sample, and the
 * copies of those that were deleted or replaced before its end.
 * Layer: record.  Keeps a descriptor of each binary that was hit, and reads nothing but its headers while the
 * workload runs.  On a mount that could go away a descriptor would prevent that: a private copy is held
 * instead (docs/decisions/0016). */
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
	struct held_file held; /* fd negative: nothing, or it is being copied */
	uint32_t user;         /* of the first process that was sampled in it */
	struct image image;    /* as completed */
	struct image_place at; /* `path` borrowed from above */
};

struct found_image {
	struct held_file held;
	struct build_id build_id; /* the file's own; len 0: none */
};

/* A binary that a container mapped, open before its first hit. */
struct early_image {
	struct found_image found; /* fd negative: it was hit, or nothing is held */
	uint64_t key;             /* in early_by */
	uint32_t user;            /* of the process */
};

/* One that was hit, and could not be opened: the process had ended. */
struct wanted_image {
	char *path;
	struct image image;
	bool is_found; /* of another process since */
};

struct image_keeper {
	/* Of a full list, the user with the most entries loses the last one. */
	VEC(struct kept_image) kept;
	struct shares kept_by; /* number, by user */
	VEC(struct early_image) early;
	struct shares early_of;
	struct map early_by; /* hash of the identity -> early */
	VEC(struct wanted_image) wanted;
	struct map wanted_by;                /* the same -> wanted */
	const struct containers *containers; /* borrowed; NULL: there are none */
	struct file_holder holder;
	struct build_id kernel_build_id;
	const struct session_dir *dir; /* where vdso images and copies go; borrowed */
};

void image_keeper_init(struct image_keeper *k, const struct session_dir *dir,
		       const struct build_id *kernel_build_id);
/* What struct resolver_ops' first_hit asks for. */
void image_keeper_first_hit(struct image_keeper *k, const char *path, int32_t pid,
			    uint64_t map_start, uint64_t map_end, struct image *image);
/* What its is_rewritten() asks for. */
bool image_keeper_is_rewritten(const char *path, const struct image *image);
/* A process has mapped a file.  In a container it is opened now, once for each file: both may be
 * gone when it is hit; and anywhere if it was hit before and could not be opened. */
void image_keeper_mapped(struct image_keeper *k, const struct record_mmap *m);
/* Closes files of containers whose processes had ended at the last look already, and copies those that were hit.
 * To be called after a drain of the rings. */
void image_keeper_look(struct image_keeper *k);
/* Another descriptor of the file that an image was completed by at its first hit, or a negative errno: it is not
 * there any more.  *copy: whether a private copy will do; then, whether it is one.  Else the
 * descriptor may keep a mount busy: it is to be closed soon. */
int image_keeper_open(const struct image_keeper *k, const struct image *image,
		      bool *copy);
/* What is no longer at its path is to be copied into session_dir/images/; for the end of a recording. */
void image_keeper_save_lost(struct image_keeper *k, struct copy_list *copies);
void image_keeper_done(struct image_keeper *k);
