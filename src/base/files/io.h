/* SPDX-License-Identifier: GPL-2.0-or-later */
/* io.h - complete reads and writes, and files in memory.
 * Layer: base.  All file descriptors are opened with O_CLOEXEC. */
#pragma once
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "base/buf.h"

/* Permissions of recordings. Other users must not read them: they contain kernel addresses, and
 * the processes and commands of every user. */
enum {
	RECORDING_DIR_MODE = 0750,
	RECORDING_FILE_MODE = 0640
};

/* Opens a file. Returns a file descriptor or a negative errno. Like every function here that has a
 * path, it does not follow links below a guarded directory (base/files/guard.h). */
int io_open(const char *path, int flags, mode_t mode);
enum {
	/* Returned instead of a negative errno; base/files/faults.h reports it as "not a
	 * regular file". */
	IO_NOT_REGULAR = -EMEDIUMTYPE
};

/* Opens a file for reading if it is a regular file on a file system that stores files. `flags`
 * can be 0 or O_NOFOLLOW. Does not wait for a FIFO or open a device, and refuses /proc and
 * /sys, where a read can consume data, as with /proc/kmsg. Returns a file descriptor,
 * IO_NOT_REGULAR or another negative errno. */
int io_open_regular(const char *path, int flags);
/* Like stat(2), but never waits for a file system that another user serves, because it follows no
 * link into the files of another process. Returns 0 or a negative errno. */
struct stat;
int io_stat(const char *path, struct stat *ret_st);
/* Opens a file for flock(2), and creates it if missing. Only the owner can open the file, so only
 * the owner can lock it. Does not follow a link, and rejects a file with more hard links
 * (-EMLINK). Returns a file descriptor or a negative errno. */
int io_open_lock(const char *path);
/* Creates a file with a unique name: replaces the "XXXXXX" before the suffix of `template`. Like
 * mkostemps(3), but the file gets `mode`. Returns a file descriptor for reading and writing, or a
 * negative errno. */
int io_open_temp(char *template, size_t suffix_len, mode_t mode);
/* Creates a directory with a unique name in the open directory `at`, for its owner only.
 * `template` ends in "XXXXXX". Returns 0 or a negative errno. */
int io_make_temp_dir(int at, char *template);
/* Like rename(2). io_rename_new() returns -EEXIST instead of overwriting. These and the
 * following functions return 0 or a negative errno. */
int io_rename(const char *from, const char *to);
int io_rename_new(const char *from, const char *to);
int io_link(const char *from, const char *to);
int io_unlink(const char *path);
int io_rmdir(const char *path);
int io_mkdir(const char *path, mode_t mode);
/* Sets the group of a new directory for recordings to the caller's, and removes its ACLs: a
 * directory inherits both from a parent with the set-group-ID bit or a default ACL. If the group
 * cannot be changed, only the owner gets access. io_mkdir() does this if `mode` is
 * RECORDING_DIR_MODE. */
int io_own_group(int at, const char *name);
/* Sets the access and modification times of a file or link. NULL: now. */
int io_set_times(const char *path, const struct timespec times[2]);
/* Sets the mode of a file that the caller can read. Does not follow a link. */
int io_set_mode(const char *path, mode_t mode);
/* Opens a directory like opendir(3). Returns 0, or a negative errno. */
int io_open_dir(const char *path, DIR **ret_dir);
/* Writes all bytes, retrying after short writes and EINTR. Returns 0 or a negative errno. */
int io_write_all(int fd, const void *bytes, size_t len);
/* Reads up to `len` bytes at `off`. Returns how many (fewer only at the end of the file), or a
 * negative errno. */
ssize_t io_pread_full(int fd, void *bytes, size_t len, uint64_t off);
/* Stores the next `len` bytes of a pipe or file without consuming them. Waits until that many are
 * available or the input ends. Returns their number or a negative errno (-EINVAL if it is neither
 * a pipe nor a file). */
ssize_t io_peek(int fd, void *bytes, size_t len);
/* Appends a whole file to `out`, at most `max` bytes. Also works for /proc files, whose size is
 * reported as 0. Returns 0, -EFBIG if there was more, or another negative errno. */
int io_read_file(const char *path, struct buf *out, size_t max);
int io_read_fd(int fd, struct buf *out, size_t max);
/* Stores the id of the mount of an open file (O_PATH is enough), as in /proc/PID/mountinfo. Does
 * not wait for the file system. Returns false if the id is unknown. */
bool io_mount_of(int fd, uint64_t *ret_mount);
/* Like io_read_file(), for a file that io_open_regular() can open. */
int io_read_regular(const char *path, struct buf *out, size_t max);
/* Returns a stream that appends to `text`, or NULL. Unlike with open_memstream(3), all writes fail
 * after one write was lost because memory was short. */
FILE *io_open_memory(struct buf *text);
/* Closes the stream and appends a NUL that is not counted in the length. Returns 0, or -ENOMEM
 * if `text` is incomplete. */
int io_close_memory(FILE *memory, struct buf *text);
/* Writes a new file in the directory of `path` and renames it to `path`. Returns 0 or a
 * negative errno. */
int io_write_file(const char *path, const void *bytes, size_t len, mode_t mode);
/* Like io_write_file(), but syncs it to disk before the rename, so that after a crash of the
 * machine either the old or the new contents are there. */
int io_write_file_to_disk(const char *path, const void *bytes, size_t len, mode_t mode);
/* Copies the first `bytes` bytes of `from` to a new file in the directory of `path` and renames it
 * to `path`. Other users can read the copy only if they can read `from`. Holes are kept. Returns
 * 0, or a negative errno (-ECANCELED: `*stop`, if not NULL, was set meanwhile), and then nothing
 * has changed. */
int io_copy(int from, const char *path, uint64_t bytes, const atomic_bool *stop);
/* Like io_copy(), but copies into the empty open file `to`. After an error, `to` can contain a
 * part of the data. */
int io_copy_to(int from, int to, uint64_t bytes, const atomic_bool *stop);
/* Returns true if a large file consists almost only of holes, so that a copy would use far more
 * space. */
bool io_is_hollow(int fd);
/* Returns the offset of the next data, not a hole, at or after `at`; returns `end` if only holes
 * follow. */
uint64_t io_next_data(int fd, uint64_t at, uint64_t end);
/* Returns how many bytes to read of a text or log file that another user can have written: `size`,
 * or the bytes before the first hole if the file consists almost only of holes. */
uint64_t io_solid_bytes(int fd, uint64_t size);
/* Writes like io_write_all(), but leaves holes for zeros. After the last block, io_end_holes()
 * sets the size of the file. Both return 0 or a negative errno. */
int io_write_holes(int fd, const void *bytes, size_t len);
int io_end_holes(int fd);
/* Creates a directory and its missing parents, like mkdir -p. Returns 0 or a negative errno. */
int io_make_dirs(const char *path, mode_t mode);
/* rm -r. Does not follow links. Returns 0, also if the path does not exist, or a negative
 * errno. */
int io_remove_tree(const char *path);
/* Like io_remove_tree(), for `name` in the directory `at`. */
int io_remove_tree_at(int at, const char *name);
