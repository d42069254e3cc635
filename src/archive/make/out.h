/* SPDX-License-Identifier: GPL-2.0-or-later */
/* out.h - writes an archive: a directory, a portable file (tar compressed with zstd), or the same
 * output as `perf archive`.
 * Files that not every user can read stay private to the owner: in a directory, each such file;
 * otherwise, the whole archive.
 * Layer: archive. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "resolve/elf/needed.h"

struct archive_out;
struct err;

enum archive_form {
	ARCHIVE_FOLDER, /* a directory, created if missing; files that it already contains stay */
	ARCHIVE_FILE, /* a portable file, which appears when it is complete */
	/* A tar without a manifest, compressed according to its name; also appears when
	 * complete. */
	ARCHIVE_TAR
};
/* Creates an archive at `path`. Call it before starting threads (base/files/scratch.h). Returns 0,
 * or a negative errno with a message in *err. */
int archive_out_new(const char *path, enum archive_form form,
		    struct archive_out **ret_out, struct err *err);
/* Returns whether the archive already has a file of this name. */
bool archive_out_has(const struct archive_out *out, const char *name);
/* Returns whether a file other than `st` has the name, or a name above or below it in the
 * directory tree. */
bool archive_out_conflicts(const struct archive_out *out, const char *name,
			   const struct stat *st);
enum archive_out_skipped {
	ARCHIVE_OUT_NAME = 1, /* the name would escape the archive */
	ARCHIVE_OUT_HOLLOW,   /* the file is nearly all holes; a warning was logged */
	ARCHIVE_OUT_TAKEN     /* another file has the name; a warning was logged */
};
/* Copies the file `from` (which may be in /proc) to `name`, unless it is already there. Returns 0;
 * an archive_out_skipped if nothing was copied; or a negative errno with a message in *err. */
int archive_out_add(struct archive_out *out, const char *from, const char *name,
		    struct err *err);
/* An already open file, for archive_out_add_open(), which works like archive_out_add(). */
struct archive_open {
	int fd;
	const char *from; /* path of the file, for messages */
	/* Spans to replace with zeros, sorted and without overlaps. If there are any, the manifest
	 * marks the file as reduced. NULL: none. */
	const elf_spans *without;
};
int archive_out_add_open(struct archive_out *out, const struct archive_open *file,
			 const char *name, struct err *err);
/* The contents of a file in memory, for archive_out_add_bytes(), which works like
 * archive_out_add(). */
struct archive_bytes {
	const void *bytes;
	size_t len;
	bool is_private; /* not every user can read the source of the bytes */
};
int archive_out_add_bytes(struct archive_out *out, const struct archive_bytes *bytes,
			  const char *name, struct err *err);
/* Adds a symbolic link unless it is already there; only for ARCHIVE_TAR. Returns 0 or a negative
 * errno with a message in *err, like the functions below. */
int archive_out_link(struct archive_out *out, const char *name, const char *target,
		     struct err *err);
/* Returns the number of files in the archive so far. */
size_t archive_out_files(const struct archive_out *out);
/* Adds a binary with hits to the manifest. */
int archive_out_image(struct archive_out *out, const char *build_id, bool found,
		      const char *name, struct err *err);
/* Adds a source file to the manifest, by its absolute path. */
int archive_out_source(struct archive_out *out, bool found, const char *name,
		       struct err *err);
/* Writes the manifest and completes the archive. */
int archive_out_finish(struct archive_out *out, struct err *err);
/* Frees `out`, and removes an archive file that is not finished. NULL is allowed. */
void archive_out_free(struct archive_out *out);
