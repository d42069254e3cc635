/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tar.h - reads and writes tar files as a stream of members, compressed or not.
 * Layer: format.
 * Source of the format: POSIX.1-2017, pax(1), "ustar Interchange Format" and "pax Extended
 * Header"; GNU tar's manual for the member 'L'. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/archive/pack.h"

struct err;
struct tar_reader;
struct tar_writer;

enum {
	TAR_NAME_MAX = 4095 /* bytes of a name; longer ones are rejected */
};

enum tar_kind {
	TAR_FILE,
	TAR_FOLDER,
	TAR_LINK,   /* hard or symbolic */
	TAR_DEVICE, /* also a FIFO */
	TAR_UNKNOWN
};

struct tar_member {
	/* Name as stored in the file, untrusted; valid until the next call. */
	const char *name;
	enum tar_kind kind;
	uint64_t bytes; /* size of the content; 0 except for files */
};

/* The input of a reader. `read` works like read(2), but returns a negative errno on an error. */
struct tar_source {
	ssize_t (*read)(void *ctx, void *bytes, size_t len);
	void *ctx;
};

/* A `read` function that reads from the file descriptor to which `ctx` (an int *) points. */
ssize_t tar_source_fd(void *ctx, void *bytes, size_t len);

/* Creates a reader that fails with -EFBIG after `max_bytes` unpacked bytes. Returns 0 or
 * -ENOMEM. */
int tar_reader_new(struct tar_source source, uint64_t max_bytes,
		   struct tar_reader **ret_tar);
void tar_reader_free(struct tar_reader *t); /* accepts NULL */
/* Reads the header of the next member. Returns 0; 1 at the end; -EBADMSG, -EFBIG, or the error
 * of the source, with a message in *err. */
int tar_reader_next(struct tar_reader *t, struct tar_member *ret_member,
		    struct err *err);
/* Reads the rest of the input after the last member, which may contain only padding. Returns 0;
 * -EBADMSG with a message if other data follows, for example a second archive; or another error
 * as for tar_reader_next(). */
int tar_reader_end(struct tar_reader *t, struct err *err);
/* Reads up to `len` bytes of the content of the current member. Returns the number of bytes, 0
 * at the end of the content, or a negative errno as for tar_reader_next(). */
ssize_t tar_reader_get(struct tar_reader *t, void *bytes, size_t len, struct err *err);

/* Creates a writer to `fd`; the caller closes `fd` later. Returns 0, -EOPNOTSUPP (built without
 * this compression) or -ENOMEM. */
int tar_writer_new(int fd, enum packing packing, struct tar_writer **ret_tar);
void tar_writer_free(struct tar_writer *t); /* accepts NULL */
/* To write a file: begin, put exactly `bytes` bytes in any number of calls, end. `mtime` is in
 * seconds. These functions return 0 or a negative errno. */
int tar_writer_begin(struct tar_writer *t, const char *name, uint64_t bytes,
		     uint64_t mtime);
/* Sets whether only the owner can read the following files: mode 0600 instead of 0644. */
void tar_writer_private(struct tar_writer *t, bool is_private);
int tar_writer_put(struct tar_writer *t, const void *bytes, size_t len);
int tar_writer_end(struct tar_writer *t);
/* Adds a symbolic link. */
int tar_writer_link(struct tar_writer *t, const char *name, const char *target);
/* Ends the archive. */
int tar_writer_finish(struct tar_writer *t);
