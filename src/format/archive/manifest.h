/* manifest.h - the table of contents of an archive of a recording.
 * Layer: format.
 *
 * Text, one row a line; the first line is "oparchive 1", the last one "end".
 *   file HASH BYTES MTIME NAME    XXH3 (16 hex digits), size, time in ns, path in the archive
 *   image BUILDID STATE NAME      a binary that was hit: BUILDID is hex or "-", STATE "found"
 *                                 or "missing", NAME as recorded
 *   parts NAME                    the file of this name is a binary that has zeros where no
 *                                 report reads it
 *   source STATE NAME             a source of lines that were hit, an absolute path; if "found",
 *                                 it is the file of this name without the first slash
 * A row that begins otherwise is of a later version, and is skipped.  docs/archive.md. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"

struct err;

#define ARCHIVE_MANIFEST_NAME "manifest"
#define ARCHIVE_UNFINISHED_NAME "unfinished" /* in a folder that is being written */

enum {
	ARCHIVE_NAME_MAX = 4095,
	ARCHIVE_FILES_MAX = 1 << 20
};

struct archive_file {
	char *name;
	uint64_t hash;
	uint64_t bytes;
	uint64_t mtime_ns;
};

struct archive_manifest {
	VEC(struct archive_file) files;
	struct buf images; /* finished rows; not read back */
};

/* Whether this is a path that stays below where it is put: relative, without empty, "." and
 * ".." parts, without control characters, not too long. */
bool archive_name_ok(const char *name);
/* Adds a row, of a good name.  0 or -ENOMEM. */
int archive_manifest_file(struct archive_manifest *m, const struct archive_file *file);
int archive_manifest_image(struct archive_manifest *m, const char *build_id, bool found,
			   const char *name);
int archive_manifest_parts(struct archive_manifest *m, const char *name);
int archive_manifest_source(struct archive_manifest *m, bool found, const char *name);
/* The text; out->failed tells of a lack of memory. */
void archive_manifest_put(const struct archive_manifest *m, struct buf *out);
/* Reads a text back.  0, -EBADMSG with a line, or -ENOMEM; archive_manifest_done() in any
 * case. */
int archive_manifest_parse(const char *text, size_t len, struct archive_manifest *ret_m,
			   struct err *err);
void archive_manifest_done(struct archive_manifest *m);
