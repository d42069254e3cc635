/* checksum_list.h - the lines of a list of checksums, and which files it promises.
 * Layer: format.  docs/format.md, section 9. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* Instead of a hash: the file or directory was removed on purpose. */
#define CHECKSUM_REMOVED UINT64_C(0)
/* Of a directory, whose name ends with a slash: that of no bytes. */
#define CHECKSUM_DIRECTORY UINT64_C(0x2d06800538d394c2)

struct checksum_line {
	uint64_t hash;
	const char *name; /* without a slash, except at the end */
};

/* Takes the next line of text[0..len), in which it is ended with a null; *at, first 0, is advanced.  A last line
 * without a newline was cut off by a crash, and is none.  1; 0 at the end; -EBADMSG of a malformed line. */
int checksum_list_next(char *text, size_t len, size_t *at,
		       struct checksum_line *ret_line);
/* Appends a line. */
void checksum_list_put(struct buf *out, uint64_t hash, const char *name);

/* Calls `fn` for each name that must be there, once, in the order of its first line: a directory; a file with two
 * lines in a row, the second one added when it had its name.  Not if a later line reports its removal.
 * Malformed lines are skipped.  What `fn` returns unless 0, which ends it; 0 or -ENOMEM. */
int checksum_list_promised(char *text, size_t len,
			   int (*fn)(void *ctx, const char *name), void *ctx);
/* Appends to `out` the lines that are still needed: those of no removed file.  0 or -ENOMEM. */
int checksum_list_compact(char *text, size_t len, struct buf *out);
