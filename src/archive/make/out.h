/* SPDX-License-Identifier: GPL-2.0-or-later */
/* out.h - writes an archive: a folder, or a portable file (tar, packed with zstd), or
 * what `perf archive` would write.
 * What not every user can read is for its owner alone there: the file in a directory, or the whole.
 * Layer: archive. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "resolve/elf/needed.h"

struct archive_out;
struct err;

enum archive_form {
	ARCHIVE_FOLDER, /* made if it does not exist; keeps what it has */
	ARCHIVE_FILE,   /* comes into being at the end; so does this: */
	ARCHIVE_TAR     /* no manifest, and packed as its name says */
};
/* `path`: where to.  To be called before there are threads (base/files/scratch.h).  0, or a negative
 * errno with a line. */
int archive_out_new(const char *path, enum archive_form form,
		    struct archive_out **ret_out, struct err *err);
/* Whether there is a file of this name. */
bool archive_out_has(const struct archive_out *out, const char *name);
enum archive_out_skipped {
	ARCHIVE_OUT_NAME = 1, /* the name leads out of the archive */
	ARCHIVE_OUT_HOLLOW    /* the file is nearly all holes; a warning says so */
};
/* Copies the file `from` (a /proc file too) to `name`, once.  0; an archive_out_skipped: nothing was done;
 * a negative errno with a line. */
int archive_out_add(struct archive_out *out, const char *from, const char *name,
		    struct err *err);
/* A file that is open already. */
struct archive_open {
	int fd;
	const char *from; /* its path */
	/* Bytes that are replaced with zeros, joined: if there are any, the manifest has a row for
	 * it.  NULL: none. */
	const elf_spans *without;
};
int archive_out_add_open(struct archive_out *out, const struct archive_open *file,
			 const char *name, struct err *err);
/* The same from memory. */
struct archive_bytes {
	const void *bytes;
	size_t len;
	bool is_private; /* not every user can read what they come from */
};
int archive_out_add_bytes(struct archive_out *out, const struct archive_bytes *bytes,
			  const char *name, struct err *err);
/* Of a tar alone: a symbolic link, once. */
int archive_out_link(struct archive_out *out, const char *name, const char *target,
		     struct err *err);
/* How many files there are so far. */
size_t archive_out_files(const struct archive_out *out);
/* Notes a binary that was hit. */
int archive_out_image(struct archive_out *out, const char *build_id, bool found,
		      const char *name, struct err *err);
/* Notes a source, by its absolute path. */
int archive_out_source(struct archive_out *out, bool found, const char *name,
		       struct err *err);
/* The manifest, and the end. */
int archive_out_finish(struct archive_out *out, struct err *err);
/* An archive file that was not finished is removed.  NULL is fine. */
void archive_out_free(struct archive_out *out);
