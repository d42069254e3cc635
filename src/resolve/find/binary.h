/* SPDX-License-Identifier: GPL-2.0-or-later */
/* binary.h - finds the file of an image on this machine and verifies that it is the recorded
 * one.
 * Layer: resolve.
 * A build-id is the best proof; without one, the recorded device, inode, mtime and size are
 * compared. A file that fails the check is never used. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "format/session/dict.h"
#include "resolve/find/debuginfod.h"
#include "resolve/find/naming_status.h"

struct err;
struct file_index;
struct live_files;

/* A search runs through these stages until one of them finds the binary. */
enum binary_stage {
	BINARY_HERE,    /* at its recorded path, or in a cache of copies */
	BINARY_INDEX,   /* by name in the directories of --image-path */
	BINARY_FETCH,   /* from debuginfod servers, by build-id */
	BINARY_CHANGED, /* another file that is now at the recorded path */
	BINARY_STAGES
};

/* The locations to search, and the settings of the search. */
struct binary_locations {
	enum binary_stage stage;
	const char *session_dir;        /* "": none */
	const char *root;               /* prefix for recorded paths; "": none */
	const char *debug_dir;          /* perf's cache; NULL or "": none */
	const struct file_index *index; /* of --image-path; NULL: none */
	/* The directories of installed kernel modules; NULL: none. */
	const struct file_index *modules;
	struct live_files *live;       /* files of the recorded processes; NULL: none */
	uint32_t number;               /* index of the image in the dict, for `live` */
	struct debuginfod *debuginfod; /* NULL: no servers */
	/* If not NULL, files that would be fetched are added here, and no server is contacted. */
	debuginfod_wants *wants;
	bool cached_only; /* do not contact servers; use only files fetched earlier */
	bool lines;       /* the debug file must have line numbers, not only symbols */
	const struct naming_trace *trace; /* NULL: none */
	/* Recorded on another machine: a path of this machine proves nothing. */
	bool foreign;
	/* `foreign` is an assumption: the recording names no machine */
	bool host_unknown;
	/* `root` is an archive, whose creator has already verified the inodes */
	bool archive;
};

struct binary {
	int fd;       /* the file; -1: none */
	char *path;   /* NULL: none */
	int debug_fd; /* separate debug file, verified by build-id or CRC; -1: none */
	char *debug_path;
	enum naming_status
		status; /* OK or UNVERIFIED if a file was found, else the reason */
	const struct naming_trace *trace; /* receives the steps of the search */
};

/* Searches for an image of kind FILE or VDSO, in one stage.
 * BINARY_HERE: the session's copy, the recorded path below the root (FILE), perf's cache, the
 * files of recorded processes that still run (FILE). BINARY_INDEX: the index, by name; if
 * several files have the name and there is no build-id, none is used (NAMING_AMBIGUOUS).
 * BINARY_FETCH: debuginfod servers. BINARY_CHANGED: the file at the recorded path without any
 * check; its status is then NAMING_OTHER_FILE.
 * If the binary itself has no symbols, also searches for its separate debug file: in perf's
 * cache, by build-id below ROOT/usr/lib/debug, by .gnu_debuglink, on servers. All details are
 * in docs/finding-binaries.md. `name` is the image's name.
 * Returns 0 or -ENOMEM. After 0, ret_binary->status is the result, and the caller calls
 * binary_close(). */
int binary_find(const struct binary_locations *locations, const struct image *image,
		const char *name, struct binary *ret_binary);
/* The kind of file that a copy in a session was made from. */
enum binary_copy_of {
	BINARY_COPY_SHARED, /* of a file of the recording user or root, for all files with its
			     * build-id; also any copy made by an earlier version */
	BINARY_COPY_OF_FILE, /* of the file with the device, inode, time and size of the image */
	BINARY_COPIES
};

/* Returns the path (malloc'd) at which a session stores a copy of this kind of an image (FILE or
 * VDSO), whether or not the copy exists; NULL if out of memory. */
char *binary_copy_path(const char *session_dir, const struct image *image,
		       enum binary_copy_of of);
/* Searches for the file of a kernel module, which may be compressed, in one stage: in perf's cache
 * and in the directories where modules or their debug files are installed; in the index; or on
 * servers. Requires the build-id `id`; if its length is 0 (unknown), uses a file only if no other
 * has the name. Sets fd, path and status, and returns the same, as binary_find() does. */
int binary_find_module(const struct binary_locations *locations, const char *module,
		       const struct build_id *id, struct binary *ret_binary);
/* Searches the locations where distributions install the vmlinux of kernel `release` for a file
 * with this build-id, starting at location *location (0 at first). Returns 0: the caller owns
 * *ret_fd and *ret_path (malloc'd), and *location is the next location; -ENOENT if there are no
 * more; or -ENOMEM. */
int binary_find_vmlinux(const struct binary_locations *locations,
			const struct build_id *id, const char *release,
			size_t *location, int *ret_fd, char **ret_path);
/* Gets the file with this build-id from a server, or from the cache of fetched files. Returns
 * 0: the caller owns *ret_fd and *ret_path (malloc'd); -ENOENT; or -ENOMEM. */
int binary_fetch(const struct binary_locations *locations, const struct build_id *id,
		 enum debuginfod_kind kind, int *ret_fd, char **ret_path);
void binary_close(struct binary *b);
/* Checks that the file at `fd` is the recorded `image`. Returns NAMING_OK, NAMING_UNVERIFIED,
 * NAMING_OTHER_FILE or NAMING_UNREADABLE. */
enum naming_status binary_verify(int fd, const struct image *image);
