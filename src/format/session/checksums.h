/* SPDX-License-Identifier: GPL-2.0-or-later */
/* checksums.h - checksums of a session's side files: kallsyms, modules, vdso, images, jit.
 * Layer: format.  Thread safe; several processes can write.
 *
 * Each directory with such files has a text file `checksums`, with one line per file in the
 * format of `xxhsum -H3`:
 *   XXH3_HASH  NAME
 * A file can have several lines and is valid if one of them matches. One line is appended
 * before the file gets its new contents, so that it matches a line even after a crash. The same
 * line is appended again afterwards; from then on the file is reported as missing if it does
 * not exist.
 * docs/format.md, section 9. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/files/trust.h"

struct buf;

#define CHECKSUMS_NAME "checksums"

enum checksum {
	CHECKSUM_GOOD,
	CHECKSUM_UNKNOWN, /* no line for this file: an older version wrote it */
	CHECKSUM_BAD
};

/* Ensures that session directory `dir` has a list that is not empty. Segments that are created
 * later record that the list must exist. Returns 0 or a negative errno. */
int checksums_begin(const char *dir);
/* Returns whether the directory of `path` has a checksum list. */
bool checksums_has_list(const char *path);
/* Adds a line for the contents that `path` will get. Call it before writing the file, and again
 * after the file has its final name. Returns 0 or a negative errno. */
int checksums_add(const char *path, const void *bytes, size_t len);
/* Writes a file like io_write_file(), and adds its lines to the list of checksums. Returns 0 or a
 * negative errno. */
int checksums_write_file(const char *path, const void *bytes, size_t len, mode_t mode);
/* Copies a file like io_copy(), and adds lines for the copy to the list of checksums. */
int checksums_copy(int from, const char *path, uint64_t bytes, const atomic_bool *stop);
/* Remove a file, or a directory that is empty except for its list, and add a line, so that it is
 * not reported as missing. Return 0 or a negative errno. */
int checksums_remove(const char *path);
int checksums_remove_directory(const char *dir);
/* If the list of a directory is long, drops the lines of removed files. Returns 0 or a negative
 * errno. */
int checksums_compact(const char *dir);
/* Reads a list: appends its text and a NUL to `text`, or nothing if the list does not exist.
 * Reports errors (base/files/faults.h). Returns 0 or a negative errno. */
int checksums_read_list(const char *list, struct buf *text);
/* Adds lines for `to`, which is a link to the file `from` or a copy of it, with all hashes in
 * the lines for `from`. Returns 0, even if there are none, or a negative errno. */
int checksums_take(const char *from, const char *to);
/* Compares the contents of the open file `fd`, which is at `path`, with the file's lines in the
 * list. Returns 0 and stores the result, or returns a negative errno if the file or the list
 * could not be read. */
int checksums_verify(int fd, const char *path, enum checksum *ret_state);
/* Like checksums_verify(), for contents that were already read. */
int checksums_verify_bytes(const char *path, const void *bytes, size_t len,
			   enum checksum *ret_state);
/* Like io_read_file(), but also returns -EBADMSG if the checksum does not match. On an error,
 * nothing is appended. Reports errors (base/files/faults.h) except for a missing file. */
int checksums_read_file(const char *path, struct buf *out, size_t max);
/* Returns whether the contents of the open file match a checksum or have none. If not, reports the
 * reason (base/files/faults.h). The result is cached, so that a large file is read only once. */
bool checksums_usable(int fd, const char *path);
/* Verifies the file at `path` and reports damage; for callers that copy the file unchanged. */
void checksums_report(const char *path);
/* Counts and reports (base/files/faults.h) the files and directories that the lists in session
 * `dir` promise but that are missing, and lists that its segments or other lists promise but
 * that are missing or empty. Returns 0 or a negative errno. */
int side_files_check(const char *dir, enum trust trust, uint64_t *ret_nr_missing);
