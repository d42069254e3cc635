/* checksums.h - checksums of a session's side files: kallsyms, modules, vdso, images, jit.
 * Layer: format.  Any thread; several processes may write.
 *
 * Each directory with such files has a text file `checksums`, one line per file, in the form of
 * `xxhsum -H3`:
 *   XXH3_HASH  NAME
 * A file may have several lines: it is good if one of them matches.  A line is appended before the file gets its
 * new contents, so that a crash at any time leaves a file that matches a line, and again afterwards: from then on
 * the file is missed if it is not there.
 * docs/format.md, section 9. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

#define CHECKSUMS_NAME "checksums"

enum checksum {
	CHECKSUM_GOOD,
	CHECKSUM_UNKNOWN, /* no line has its name: written by an older version */
	CHECKSUM_BAD
};

/* Adds a line for what `path` is about to hold; to be called again when it has its name.  0 or a negative errno. */
int checksums_add(const char *path, const void *bytes, size_t len);
/* io_write_file(), with a line for what is written.  0 or a negative errno. */
int checksums_write_file(const char *path, const void *bytes, size_t len, mode_t mode);
/* io_copy(), likewise. */
int checksums_copy(int from, const char *path, uint64_t bytes, const atomic_bool *stop);
/* Removes a file, and adds a line so that nobody misses it.  Likewise a directory that is empty but for its list.
 * 0 or a negative errno. */
int checksums_remove(const char *path);
int checksums_remove_directory(const char *dir);
/* Makes the list of a directory shorter if it is long: only the lines of removed files go.  0 or a negative errno. */
int checksums_compact(const char *dir);
/* Appends a list and a null to `text`; nothing if it does not exist.  What is wrong with it is reported.  0 or a
 * negative errno. */
int checksums_read_list(const char *list, struct buf *text);
/* The lines of the file at `from` also count for `to`, a link to it or a copy.  0, also if there are
 * none, or a negative errno. */
int checksums_take(const char *from, const char *to);
/* Compares the whole of the open file `fd` with its lines; `path` led to it.  0, or a negative errno if
 * either could not be read. */
int checksums_verify(int fd, const char *path, enum checksum *ret_state);
/* The same of contents that were read before. */
int checksums_verify_bytes(const char *path, const void *bytes, size_t len,
			   enum checksum *ret_state);
/* io_read_file() of a side file.  -EBADMSG: it is damaged.  What is wrong with a file that exists is reported
 * (base/files/faults.h), and nothing is appended. */
int checksums_read_file(const char *path, struct buf *out, size_t max);
/* Whether the contents may be used.  If not, the reason is reported (base/files/faults.h).  The answer for a file is
 * kept, so that a large one is read once. */
bool checksums_usable(int fd, const char *path);
/* Reports damage of the file at `path`, for those that copy it as it is. */
void checksums_report(const char *path);
