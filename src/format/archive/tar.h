/* tar.h - tar files, packed or not: members in their order, read and written as a
 * stream.
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
	TAR_NAME_MAX = 4095 /* bytes of a name; a longer one is refused */
};

enum tar_kind {
	TAR_FILE,
	TAR_FOLDER,
	TAR_LINK,   /* hard or symbolic */
	TAR_DEVICE, /* also a FIFO */
	TAR_UNKNOWN
};

struct tar_member {
	const char
		*name; /* as it is there: not to be trusted; good until the next one */
	enum tar_kind kind;
	uint64_t bytes; /* of content; 0 of all but a file */
};

/* Where the bytes come from: like read(2), a negative errno for an error. */
struct tar_source {
	ssize_t (*read)(void *ctx, void *bytes, size_t len);
	void *ctx;
};

/* That of a descriptor; `ctx` points to it. */
ssize_t tar_source_fd(void *ctx, void *bytes, size_t len);

/* `max_bytes`: more than that, unpacked, is refused (-EFBIG).  0 or -ENOMEM. */
int tar_reader_new(struct tar_source source, uint64_t max_bytes,
		   struct tar_reader **ret_tar);
void tar_reader_free(struct tar_reader *t); /* NULL is fine */
/* The next member.  0; 1: the end; -EBADMSG, -EFBIG, or what the source said, with a line. */
int tar_reader_next(struct tar_reader *t, struct tar_member *ret_member,
		    struct err *err);
/* Content of the member: how many bytes, 0 at its end, or as above. */
ssize_t tar_reader_get(struct tar_reader *t, void *bytes, size_t len, struct err *err);

/* Writes to `fd`, which stays the caller's.  0, -EOPNOTSUPP (a build without this packing) or
 * -ENOMEM. */
int tar_writer_new(int fd, enum packing packing, struct tar_writer **ret_tar);
void tar_writer_free(struct tar_writer *t); /* NULL is fine */
/* A file, then exactly `bytes` bytes of it in any pieces, then its end.  `mtime`: seconds.
 * 0, or a negative errno. */
int tar_writer_begin(struct tar_writer *t, const char *name, uint64_t bytes,
		     uint64_t mtime);
/* Whether the files to come are for their owner alone: modes 0600 and 0644. */
void tar_writer_private(struct tar_writer *t, bool is_private);
int tar_writer_put(struct tar_writer *t, const void *bytes, size_t len);
int tar_writer_end(struct tar_writer *t);
/* A symbolic link. */
int tar_writer_link(struct tar_writer *t, const char *name, const char *target);
/* The end of the archive. */
int tar_writer_finish(struct tar_writer *t);
