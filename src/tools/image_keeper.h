/* image_keeper.h - what a recording finds out about a binary at its first sample, and the
 * copies of those that were deleted or replaced before its end.
 * Layer: tools.  Keeps a descriptor of each binary that was hit; nothing is read of it but
 * headers while the workload runs. */
#pragma once
#include <stdint.h>

#include "base/vec.h"
#include "format/dict.h"

struct session_dir;

struct kept_image {
	char *path;
	int fd;
	struct image image; /* as completed */
};

struct image_keeper {
	VEC(struct kept_image) kept;
	struct build_id kernel_build_id;
	const struct session_dir *dir; /* where vdso images and copies go; borrowed */
};

void image_keeper_init(struct image_keeper *k, const struct session_dir *dir,
		       const struct build_id *kernel_build_id);
/* What struct resolver_ops' first_hit asks for. */
void image_keeper_first_hit(struct image_keeper *k, const char *path, int32_t pid,
			    uint64_t map_start, uint64_t map_end, struct image *image);
/* Copies what is no longer at its path into session_dir/images/. */
void image_keeper_save_lost(struct image_keeper *k);
void image_keeper_done(struct image_keeper *k);
