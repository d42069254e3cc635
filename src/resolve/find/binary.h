/* binary.h - the file on this machine that an image was, and proof that it still is.
 * Layer: resolve.
 * What counts as proof, best first: the build-id; without one device, inode, mtime and size
 * as recorded.  A file that fails its proof is never used. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "format/session/dict.h"
#include "resolve/find/debuginfod.h"
#include "resolve/find/naming_status.h"

struct err;
struct file_index;
struct live_files;

/* A search goes through these, one by one, until one finds the binary. */
enum binary_stage {
	BINARY_HERE,  /* where it was, and where copies are kept by build-id */
	BINARY_INDEX, /* by its name in the folders of --image-path */
	BINARY_FETCH, /* from debuginfod servers, by build-id */
	BINARY_STAGES
};

/* Where to look. */
struct binary_places {
	enum binary_stage stage;
	const char *session_dir;        /* "" for none */
	const char *root;               /* put before recorded paths; "" for none */
	const char *debug_dir;          /* perf's cache; NULL or "" for none */
	const struct file_index *index; /* of --image-path; NULL: none */
	const struct file_index
		*modules;        /* where kernel modules are installed; NULL: none */
	struct live_files *live; /* of processes of the recording; NULL: none */
	uint32_t number;         /* of the image in the dict, for `live` */
	struct debuginfod *debuginfod; /* NULL: no servers */
	/* Not NULL: what servers are to be asked for is added here, and none is asked. */
	debuginfod_wants *wants;
	bool cached_only; /* of what servers have, only what was fetched before */
	bool lines;       /* a debug file is for lines, too, not only for symbols */
	const struct naming_trace *trace; /* NULL: none */
	bool foreign; /* recorded elsewhere: a path of this machine proves nothing */
	bool host_unknown; /* `foreign`, as far as is known */
	bool archive; /* `root` is an archive: who made it had the proof that inodes give */
};

struct binary {
	int fd;       /* of the file, -1 none */
	char *path;   /* NULL none */
	int debug_fd; /* separate debug file, proven by build-id or CRC; -1 none */
	char *debug_path;
	enum naming_status
		status; /* OK or UNVERIFIED if there is a file, else why not */
	const struct naming_trace *trace; /* of the search */
};

/* Looks for an image of kind FILE or VDSO, in one stage: the copy the session keeps, then
 * (FILE) the recorded path below the root, then perf's cache, then what processes of the
 * recording see that still live; or files of that name in the
 * index; or asks servers; and for its separate debug file in perf's cache, else by build-id
 * under ROOT/usr/lib/debug, else by .gnu_debuglink, else servers, if the binary itself has
 * no symbols.  docs/finding-binaries.md says all of it.  `name` is the
 * image's.  Several files of the name in the index, none of which a build-id proves, are
 * none: NAMING_AMBIGUOUS.
 * 0 (ret_binary->status tells what came of it; binary_close() it) or -ENOMEM. */
int binary_find(const struct binary_places *places, const struct image *image,
		const char *name, struct binary *ret_binary);
/* Path of the copy that a session keeps of an image of kind FILE or VDSO, if it keeps one, malloc'd;
 * NULL when memory is short. */
char *binary_copy_path(const char *session_dir, const struct image *image);
/* A kernel module's file, perhaps packed, in one stage: in perf's cache, where modules or their
 * debug files are installed; in the index, with this build-id
 * (length 0: unknown, then the only one of its name); or from servers.  Sets fd, path and status as above. */
int binary_find_module(const struct binary_places *places, const char *module,
		       const struct build_id *id, struct binary *ret_binary);
/* The next kernel file with this build-id among the places where distributions have one for
 * kernel `release`, from the *place-th (0 at first) on.  0: *ret_fd and *ret_path (malloc'd)
 * are the caller's, and *place is the next one; -ENOENT: no more; -ENOMEM. */
int binary_find_vmlinux(const struct binary_places *places, const struct build_id *id,
			const char *release, size_t *place, int *ret_fd,
			char **ret_path);
/* A file of this build-id from a server, or from those that came from one.  0: *ret_fd and
 * *ret_path (malloc'd) are the caller's; -ENOENT; -ENOMEM. */
int binary_fetch(const struct binary_places *places, const struct build_id *id,
		 enum debuginfod_kind kind, int *ret_fd, char **ret_path);
void binary_close(struct binary *b);
/* Whether the file at `fd` is what `image` was: OK, UNVERIFIED, OTHER_FILE, UNREADABLE. */
enum naming_status binary_verify(int fd, const struct image *image);
