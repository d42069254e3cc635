/* binary.h - the file on this machine that an image was, and proof that it still is.
 * Layer: resolve.
 * What counts as proof, best first: the build-id; without one device, inode, mtime and size
 * as recorded.  A file that fails its proof is never used. */
#pragma once
#include "format/dict.h"
#include "resolve/naming.h"

struct err;

struct binary {
	int fd;       /* of the file, -1 none */
	char *path;   /* NULL none */
	int debug_fd; /* separate debug file with the same build-id, -1 none */
	char *debug_path;
	enum naming_status
		status; /* OK or UNVERIFIED if there is a file, else why not */
};

/* Looks for an image of kind FILE or VDSO: the copy the session keeps, then (FILE) the
 * recorded path, and what is installed for it under /usr/lib/debug.  `name` is the image's.
 * 0 (ret_binary->status tells what came of it; binary_close() it) or -ENOMEM. */
int binary_find(const char *session_dir, const struct image *image, const char *name,
		struct binary *ret_binary);
void binary_close(struct binary *b);
/* Whether the file at `fd` is what `image` was: OK, UNVERIFIED, OTHER_FILE, UNREADABLE. */
enum naming_status binary_verify(int fd, const struct image *image);
