/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.h - finds the files in which JIT compilers describe their code: the maps
 * /tmp/perf-PID.map, and the jitdump files that processes map (docs/jit.md).
 * Layer: resolve. Thread-safe. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Returns whether a file name (without directories) can be a jitdump's; N.dump is one of
 * OProfile's. */
bool jit_is_dump_name(const char *name);
/* Returns the file name in the path of a jitdump, jit-NUMBER.dump, or NULL for any other path. */
const char *jit_dump_name(const char *path);
/* Opens a regular file for reading, without following a symbolic link: another user can own the
 * directory, and a link there could copy any file of this machine into an archive. `inode` is
 * the required inode, 0: any. Returns the descriptor or a negative errno. */
int jit_open(const char *path, uint64_t inode);
/* Like jit_open(), for a session's copy. Returns -ENOENT if it is damaged, which is reported. */
int jit_open_kept(const char *path);
/* Returns the pid of a process in its own namespace: the last number of "NSpid:" in proc(5);
 * `pid` itself if the process has exited. */
int32_t jit_own_pid(int32_t pid);
/* Returns the user id with which a process creates files ("Uid:" in proc(5)); -1 if it has
 * exited. */
int64_t jit_uid(int32_t pid);
/* Returns whether an open file may be used for a process of user `uid` (-1: unknown): it must
 * belong to that user, to the caller or to root. Any user can write /tmp/perf-PID.map for
 * another user's process. */
bool jit_is_of(int fd, int64_t uid);
/* Returns whether the file may also be copied: all users may read it, or it belongs to `uid` or
 * (unless that is root) to the caller. */
bool jit_may_be_copied(int fd, int64_t uid);

/* The locations of a recording's files. */
struct jit_locations {
	const char *session_dir; /* a session that stores copies; "": none */
	const char *root;        /* archive, or other root, of the files; "": none */
	bool here;               /* without `root`: recorded on this machine */
	uint64_t since_wall_ns;  /* older files belong to another process; 0: unknown */
	/* End of the recording: newer files can belong to another process, if this one has
	 * exited; 0: unknown. */
	uint64_t until_wall_ns;
};
/* Returns the end of a recording for jit_locations: the modification time of its file. Returns 0
 * if it is not a regular file. */
uint64_t jit_recorded_until(const char *path);
/* Opens the map of process `pid`. Returns 0: the caller owns *ret_fd and *ret_path (malloc'd),
 * its location; -ENOENT or -ENOMEM. */
int jit_open_map(const struct jit_locations *locations, int32_t pid, int *ret_fd,
		 char **ret_path);
/* Like jit_open_map(), for a jitdump that process `pid` mapped from `path` with that inode. */
int jit_open_dump(const struct jit_locations *locations, int32_t pid, const char *path,
		  uint64_t inode, int *ret_fd, char **ret_path);
