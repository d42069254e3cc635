/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output.h - opens files that the user names for output.
 * Layer: base.  In a directory such as /tmp, where others can write, a link or file of another user may have been
 * put there for whoever writes to that name.  The kernel refuses both if its protected_symlinks and
 * protected_regular are set; these functions do so on every system. */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct err;

/* Opens `path` for writing, and makes it with `mode` if missing; O_TRUNC or O_APPEND may be in `flags`.  Links
 * are followed.  A descriptor, or a negative errno with a text: -EPERM if in a sticky directory that others can
 * write there is a link, or a file, of another user, or a file with more hard links. */
int output_open(const char *path, int flags, mode_t mode, struct err *err);
/* The same as an empty stream. */
int output_open_stream(const char *path, FILE **ret_stream, struct err *err);
/* The mode, before the umask, of a file that shows what is in a recording, binary or source: if that is private,
 * which public_file() and public_file_recording() decide, for the owner alone.  For a directory likewise. */
mode_t output_mode(bool is_private);
mode_t output_dir_mode(bool is_private);
/* Why a stream whose error flag is set, or whose fflush() failed, cannot be written, a negative errno.  stdio
 * forgets the reason: one more byte is tried where that does no harm.  -EIO if it stays unknown. */
int output_failure(FILE *stream);
/* The path of the file that a rename is to replace, so that a link to it stays: what the link leads to, else
 * `path` itself; malloc'd.  NULL with 0: it cannot be replaced, as /dev/stdout.  A link of another user is refused
 * in every directory: the name may be one that the user has not given, as gmon.out. */
int output_target(const char *path, char **ret_target, struct err *err);
/* Opens a directory in which much is to be written: a descriptor for openat(2) and its kind (O_PATH).  No link of
 * another user is followed, wherever it is: it would lead all of that elsewhere.  output_make_dir() makes missing
 * directories with `mode`.  Else a negative errno with a text: -EPERM of such a link. */
int output_open_dir(const char *path, struct err *err);
int output_make_dir(const char *path, mode_t mode, struct err *err);
