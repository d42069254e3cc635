/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copy_list.h - lists the files to copy into a session when a recording ends: replaced binaries,
 * and the files in which JIT compilers describe their code.  A copy is charged to the user whose
 * program was sampled with the file.
 * Layer: record.  Used by one thread at a time: the recorder builds the list, and makes the
 * copies itself or passes the list to another thread. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/shares.h"
#include "base/containers/vec.h"

struct copy_job {
	int fd;         /* the file, open for reading */
	char *path;     /* path of the copy */
	char *what;     /* description of the file, for a warning */
	bool is_binary; /* false: a file that grows, whose copy must be updated */
	uint64_t bytes; /* size and modification time of a binary at its first sample */
	uint64_t mtime_ns;
	uint64_t waiting; /* number of bytes to copy, set by copy_list_take() */
	uint32_t user; /* the user whose program used the file; UINT32_MAX: unknown */
};

struct copy_list {
	VEC(struct copy_job) jobs;
	uint64_t max_bytes;  /* limit of the bytes to copy; 0: no limit */
	struct shares bytes; /* bytes to copy, for each user */
	/* Number of files to copy, for each user. */
	struct shares files;
	/* Limit of the bytes to copy for each user except the user of this process, including
	 * copies that were made already; 0: no limit. */
	uint64_t max_of_user;
	/* Bytes of all files that were requested for each user, for max_of_user. */
	struct shares taken;
};

/* `max_of_user` for recordings that are never deleted automatically: a user can have large files,
 * and one file can have many names. */
#define COPY_LIST_OF_USER_MAX (1ULL << 30)

/* Adds a job, unless there is an up-to-date copy, and takes ownership of the descriptor. Ignores a
 * binary that was modified since its first sample, and files that are larger than a gigabyte or
 * consist almost entirely of holes. When the list exceeds `max_bytes` or 4096 files, drops the
 * last file of the user who has the most, with a log message. Ignores files of a user above
 * `max_of_user`, with one log message per user. */
void copy_list_take(struct copy_list *l, const struct copy_job *job);
/* Makes the copies in order, and logs failures.  Returns false if `*stop` (NULL: never) was set
 * before the end; the remaining jobs stay in the list. */
bool copy_list_make(struct copy_list *l, const atomic_bool *stop);
/* Appends the jobs of `later` to `l`, and empties `later`.  If memory is short, logs the loss. */
void copy_list_append(struct copy_list *l, struct copy_list *later);
void copy_list_done(struct copy_list *l);

/* Copies a growing file to `path` immediately, and replaces an outdated copy there. Returns 0 or a
 * negative errno (-EFBIG: it is too large, or nearly all holes). */
int copy_list_grown(int fd, const char *path);
