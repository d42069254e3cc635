/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copy_list.h - files that are to be copied into a session when a recording ends: binaries that were
 * replaced, and what JIT compilers tell of their code.  A copy is charged to the user whose program
 * was sampled with the file.
 * Layer: record.  Of one thread at a time: who records makes the list, and makes the copies of it or hands
 * it to who has the time. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/shares.h"
#include "base/containers/vec.h"

struct copy_job {
	int fd;         /* of the file, open for reading */
	char *path;     /* of its copy */
	char *what;     /* it is, for a warning */
	bool is_binary; /* else it grows, and its copy grows with it */
	uint64_t
		bytes; /* of a binary, and when it was changed: as it was when it was hit */
	uint64_t mtime_ns;
	uint64_t waiting; /* bytes, set by the list */
	uint32_t user;    /* whose program used the file; UINT32_MAX if unknown */
};

struct copy_list {
	VEC(struct copy_job) jobs;
	uint64_t max_bytes;  /* that wait; 0: no bound */
	struct shares bytes; /* that wait, of each user */
	struct shares files;
};

/* Notes it, if there is no such copy yet, and takes over the descriptor.  There is none of a binary that was
 * changed since, nor of files of more than a gigabyte or nearly all holes.  With more than `max_bytes`
 * or 4096 files, the last one of the user who has the most is dropped, which is logged. */
void copy_list_take(struct copy_list *l, const struct copy_job *job);
/* Makes the copies, in order, and logs which could not be made.  False: `*stop` (NULL: nobody stops it)
 * was set before the end; what is not made is still in the list. */
bool copy_list_make(struct copy_list *l, const atomic_bool *stop);
/* Puts what is in `later` behind what is in `l`, in any case: without memory it is logged. */
void copy_list_append(struct copy_list *l, struct copy_list *later);
void copy_list_done(struct copy_list *l);

/* A copy of a file that grows, at once, in place of one that it has outgrown.  0 or a negative errno
 * (-EFBIG: it is too large, or nearly all holes). */
int copy_list_grown(int fd, const char *path);
