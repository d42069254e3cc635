/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image_open.h - the files of binaries, which may lie where a server does not answer: who asks for
 * them waits half a second, and for the next one on the same device not at all.
 * Layer: record.  Like base/errand.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "format/session/dict.h"

/* Where a process has it mapped. */
struct image_place {
	const char *path;
	int32_t pid; /* 0 or less: of no process */
	uint64_t start;
	uint64_t end;
	/* In which order: its path here, then as the process sees it; the other way round for one in a
	 * container, whose path may be another file's here. */
	bool inside;
	bool by_process; /* only as the process sees it */
};

struct image_opened {
	int fd;
	struct stat st;
	struct build_id build_id; /* the file's own; len 0: none */
};

/* Opens what was mapped: by build-id, else by inode, else on trust.  0 and *ret, whose descriptor is
 * the caller's, or a negative errno: -ESTALE if other files are there now. */
int image_open(const struct image_place *place, const struct image *image,
	       struct image_opened *ret);
/* stat() of a path that was on the device.  0 or a negative errno: -EBUSY and -ETIMEDOUT if it is not known
 * whether there is one. */
int image_stat(const char *path, uint64_t dev, struct stat *ret_st);
