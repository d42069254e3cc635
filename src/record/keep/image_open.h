/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image_open.h - opens the files of binaries, which can be on a server that does not answer. The
 * caller waits for at most half a second, and not at all while an earlier request for the same user
 * and device hangs.
 * Layer: record. Uses base/async_call.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "format/session/dict.h"

/* The location of a mapped file, as seen by a process. */
struct image_location {
	const char *path;
	int32_t pid; /* 0 or less: no process */
	uint64_t start;
	uint64_t end;
	/* The search order. False: first the path in our mount namespace, then in that of the
	 * process. True: the reverse, for a container, whose path can name another file in our
	 * namespace. */
	bool inside;
	bool by_process; /* search only in the namespace of the process */
};

struct image_opened {
	int fd;
	struct stat st;
	uint32_t inode_gen;       /* inode generation; 0: the file system has none */
	struct build_id build_id; /* read from the file; len 0: none */
};

/* Opens the mapped file, which `image` identifies by build-id, or else by inode, or else by its
 * path alone. Returns 0 and *ret, whose descriptor the caller owns, or a negative errno: -ESTALE if
 * the paths lead to other files now. */
int image_open(const struct image_location *location, const struct image *image,
	       struct image_opened *ret);
/* Calls stat() for a path that was on device `dev`, without waiting long. Returns 0 or a negative
 * errno: -EBUSY and -ETIMEDOUT mean that the state is unknown. */
int image_stat(const char *path, uint64_t dev, struct stat *ret_st);
