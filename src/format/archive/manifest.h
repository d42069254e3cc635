/* SPDX-License-Identifier: GPL-2.0-or-later */
/* manifest.h - the table of contents of an archive of a recording.
 * Layer: format.
 *
 * A text file with one entry per line. The first line is "oparchive 1", the last one "end".
 *   file HASH BYTES MTIME NAME    XXH3 (16 hex digits), size, time in ns, path in the archive
 *   image BUILDID STATE NAME      a binary with samples: BUILDID is hex or "-", STATE "found"
 *                                 or "missing", NAME as recorded
 *   parts NAME                    the binary in this file has zeros wherever no report reads it
 *   source STATE NAME             a source file of lines with samples, as an absolute path; if
 *                                 STATE is "found", the archive has it under this path without
 *                                 the leading slash
 * Readers skip lines that begin otherwise: a later version wrote them.  docs/archive.md. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"

struct err;

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
	/* text of all rows except "file"; not filled when parsing */
	struct buf images;
};

/* Returns true if the path cannot escape the directory in which it is extracted: relative,
 * without empty, "." and ".." components, without control characters, not too long. */
bool archive_name_ok(const char *name);
/* Each of these functions adds a row. The name must be valid (archive_name_ok()). They return 0
 * or -ENOMEM. */
int archive_manifest_file(struct archive_manifest *m, const struct archive_file *file);
int archive_manifest_image(struct archive_manifest *m, const char *build_id, bool found,
			   const char *name);
int archive_manifest_parts(struct archive_manifest *m, const char *name);
int archive_manifest_source(struct archive_manifest *m, bool found, const char *name);
/* Appends the text of the manifest. Sets out->failed if memory is short. */
void archive_manifest_put(const struct archive_manifest *m, struct buf *out);
/* Parses a manifest. Returns 0, -EBADMSG with a message in *err, or -ENOMEM. Call
 * archive_manifest_done() in any case. */
int archive_manifest_parse(const char *text, size_t len, struct archive_manifest *ret_m,
			   struct err *err);
void archive_manifest_done(struct archive_manifest *m);
