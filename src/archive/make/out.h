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
	ARCHIVE_FOLDER, /* created if missing; existing files stay */
	ARCHIVE_FILE,   /* the file appears when it is complete; likewise: */
	ARCHIVE_TAR     /* without a manifest, compressed according to its name */
};
/* `path`: the output.  Call before starting threads (base/files/scratch.h).  Returns 0, or a
 * negative errno with a message in *err. */
int archive_out_new(const char *path, enum archive_form form,
		    struct archive_out **ret_out, struct err *err);
/* Returns whether the archive already has a file of this name. */
bool archive_out_has(const struct archive_out *out, const char *name);
/* Returns whether another file has the name, or is above or below it. */
bool archive_out_conflicts(const struct archive_out *out, const char *name,
			   const struct stat *st);
enum archive_out_skipped {
	ARCHIVE_OUT_NAME = 1, /* the name would escape the archive */
	ARCHIVE_OUT_HOLLOW,   /* the file is nearly all holes; logged a warning */
	ARCHIVE_OUT_TAKEN     /* another file has the name; logged a warning */
};
/* Copies the file `from` (which may be in /proc) to `name`, once.  Returns 0; an
 * archive_out_skipped if nothing was copied; or a negative errno with a message in *err. */
int archive_out_add(struct archive_out *out, const char *from, const char *name,
		    struct err *err);
/* An already open file. */
struct archive_open {
	int fd;
	const char *from; /* its path */
	/* Spans to replace with zeros, merged.  If there are any, the manifest lists the file as
	 * reduced.  NULL: none. */
	const elf_spans *without;
};
int archive_out_add_open(struct archive_out *out, const struct archive_open *file,
			 const char *name, struct err *err);
/* Likewise, from memory. */
struct archive_bytes {
	const void *bytes;
	size_t len;
	bool is_private; /* not every user can read their source */
};
int archive_out_add_bytes(struct archive_out *out, const struct archive_bytes *bytes,
			  const char *name, struct err *err);
/* Adds a symbolic link, once; only for a tar. */
int archive_out_link(struct archive_out *out, const char *name, const char *target,
		     struct err *err);
/* Returns the number of files so far. */
size_t archive_out_files(const struct archive_out *out);
/* Adds a binary with hits to the manifest. */
int archive_out_image(struct archive_out *out, const char *build_id, bool found,
		      const char *name, struct err *err);
/* Adds a source file to the manifest, by its absolute path. */
int archive_out_source(struct archive_out *out, bool found, const char *name,
		       struct err *err);
/* Writes the manifest and completes the archive. */
int archive_out_finish(struct archive_out *out, struct err *err);
/* Removes an unfinished archive file.  NULL is allowed. */
void archive_out_free(struct archive_out *out);
