/* SPDX-License-Identifier: GPL-2.0-or-later */
/* io.h - whole reads and writes, and files in memory.
 * Layer: base.  All descriptors are opened with O_CLOEXEC. */
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

/* Permissions of what a recording writes.  Other users must not read it: it holds the kernel's
 * addresses, and the processes and commands of every user. */
enum {
	RECORDING_DIR_MODE = 0750,
	RECORDING_FILE_MODE = 0640
};

/* Opens; a descriptor or a negative errno.  Below a guarded directory (base/files/guard.h) a file is not written
 * through a link; so it is with all functions that take a path. */
int io_open(const char *path, int flags, mode_t mode);
enum {
	/* Instead of a negative errno; base/files/faults.h reports it as "not a regular file". */
	IO_NOT_REGULAR = -EMEDIUMTYPE
};

/* Opens a file for reading if it is a regular file on a file system that stores files; `flags` can be 0 or
 * O_NOFOLLOW.  It neither waits for a FIFO nor opens a device, and refuses /proc and /sys, where a read can
 * consume data, as from /proc/kmsg.  A descriptor, IO_NOT_REGULAR or another negative errno. */
int io_open_regular(const char *path, int flags);
/* A file for flock(2), made if missing, that its owner alone can open, and so lock; it is not
 * reached through a link, and has no second name (-EMLINK).  A descriptor or a negative errno. */
int io_open_lock(const char *path);
/* Makes a new file of a name that no other has: before the suffix `template` has "XXXXXX", which is replaced.
 * Like mkostemps(3), but with `mode`.  A descriptor, for reading and writing, or a negative errno. */
int io_open_temp(char *template, size_t suffix_len, mode_t mode);
/* Makes a directory in the one that is open as `at`, for its owner alone, under a name that no other has;
 * `template` ends in "XXXXXX".  0 or a negative errno. */
int io_make_temp_dir(int at, char *template);
/* Like rename(2); io_rename_new() writes over nothing: -EEXIST.  0 or a negative errno, also below. */
int io_rename(const char *from, const char *to);
int io_rename_new(const char *from, const char *to);
int io_link(const char *from, const char *to);
int io_unlink(const char *path);
int io_rmdir(const char *path);
int io_mkdir(const char *path, mode_t mode);
/* Sets the times of access and change of a file, or link; NULL: now. */
int io_set_times(const char *path, const struct timespec times[2]);
/* chmod(2) of a file that the caller can read, not of what a link leads to. */
int io_set_mode(const char *path, mode_t mode);
/* Like opendir(3). */
int io_open_dir(const char *path, DIR **ret_dir);
/* Writes all of it, through short writes and EINTR.  0 or a negative errno. */
int io_write_all(int fd, const void *bytes, size_t len);
/* Reads up to `len` bytes at `off`; returns how many (short only at the end of the file)
 * or a negative errno. */
ssize_t io_pread_full(int fd, void *bytes, size_t len, uint64_t off);
/* What the next read of a pipe or of a file will give, up to `len` bytes: nothing is taken.  Waits for
 * them; fewer come only before the end.  A negative errno, -EINVAL of what is neither. */
ssize_t io_peek(int fd, void *bytes, size_t len);
/* Appends the whole of a file (a /proc file too, whose size says 0) to `out`, at most
 * `max` bytes.  0, -EFBIG if there was more, or another negative errno. */
int io_read_file(const char *path, struct buf *out, size_t max);
int io_read_fd(int fd, struct buf *out, size_t max);
/* The same of a file that io_open_regular() opens. */
int io_read_regular(const char *path, struct buf *out, size_t max);
/* A stream that appends to `text`, or NULL.  Unlike open_memstream(3) it does not continue after a part of the text
 * was lost for want of memory. */
FILE *io_open_memory(struct buf *text);
/* Closes it, and puts a 0 after the text, which its length does not count.  0, or -ENOMEM and `text` is not
 * complete. */
int io_close_memory(FILE *memory, struct buf *text);
/* Writes a new file beside `path` and renames it over it.  0 or a negative errno. */
int io_write_file(const char *path, const void *bytes, size_t len, mode_t mode);
/* The same, on the disk before it has its name: behind a crash of the machine it is the old one or the
 * new one. */
int io_write_file_to_disk(const char *path, const void *bytes, size_t len, mode_t mode);
/* Writes the first `bytes` of what `from` has to a new file beside `path`, and renames it over it:
 * readable by others only if `from` is; its holes stay holes.  0, or a negative errno (-ECANCELED: `*stop`, if not NULL, was set
 * meanwhile), and all is as it was. */
int io_copy(int from, const char *path, uint64_t bytes, const atomic_bool *stop);
/* The same into an open file that is empty.  0 or a negative errno: the file has a part then. */
int io_copy_to(int from, int to, uint64_t bytes, const atomic_bool *stop);
/* Whether a large file is nearly all holes: a copy would take far more room than it does. */
bool io_is_hollow(int fd);
/* The offset at or after `at` where the file has data again, not a hole; `end` if there is none before. */
uint64_t io_next_data(int fd, uint64_t at, uint64_t end);
/* For a text or a log that another user may have written: the bytes of it to read, `size` or less.  One that is
 * nearly all holes ends at its first hole. */
uint64_t io_solid_bytes(int fd, uint64_t size);
/* Writes like io_write_all(), but leaves a hole where all is zero; after the last piece io_end_holes() sets the
 * size of the file.  Both: 0 or a negative errno. */
int io_write_holes(int fd, const void *bytes, size_t len);
int io_end_holes(int fd);
/* mkdir -p.  0 or a negative errno. */
int io_make_dirs(const char *path, mode_t mode);
/* rm -r; 0 also if nothing was there, else a negative errno.  Follows no links. */
int io_remove_tree(const char *path);
/* The same of `name` in the folder `at`. */
int io_remove_tree_at(int at, const char *name);
