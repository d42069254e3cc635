/* SPDX-License-Identifier: GPL-2.0-or-later */
/* checksum_list.h - parses the lines of a checksum list, and finds the files it promises.
 * Layer: format.  docs/format.md, section 9. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* Hash value in the line of a file or directory that was removed deliberately, and in the
 * placeholder line of a list without files. */
#define CHECKSUM_REMOVED UINT64_C(0)
/* Hash value in the line of a directory, whose name ends with a slash: the hash of zero bytes. */
#define CHECKSUM_DIRECTORY UINT64_C(0x2d06800538d394c2)

struct checksum_line {
	uint64_t hash;
	const char *name; /* contains no slash, except at the end */
};

/* Stores the next line of text[0..len), in which it terminates the name with a NUL. *at is 0 at
 * first and is advanced. A last line without a newline was cut off by a crash and is ignored.
 * Returns 1, 0 at the end, or -EBADMSG for a malformed line. */
int checksum_list_next(char *text, size_t len, size_t *at,
		       struct checksum_line *ret_line);
/* Appends a line. */
void checksum_list_put(struct buf *out, uint64_t hash, const char *name);

/* Calls `fn` once for each name that must exist, in the order of first lines: a directory, or a
 * file with two equal lines in a row, the second of which was added after it got its name; but
 * not if a later line records its removal. Skips malformed lines. If `fn` returns nonzero,
 * stops and returns that value. Otherwise returns 0 or -ENOMEM. */
int checksum_list_promised(char *text, size_t len,
			   int (*fn)(void *ctx, const char *name), void *ctx);
/* Appends to `out` all lines except those of files that were removed. Returns 0 or -ENOMEM. */
int checksum_list_compact(char *text, size_t len, struct buf *out);
