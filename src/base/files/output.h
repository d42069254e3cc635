/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output.h - opens output files that the user names.
 * Layer: base. In a directory such as /tmp, where every user can write, another user may have
 * created a link or file at the output path. The kernel refuses both if protected_symlinks and
 * protected_regular are set; these functions do so on every system. */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct err;

/* Opens `path` for writing, and creates it with `mode` if it is missing. `flags` can contain
 * O_TRUNC or O_APPEND. Follows links. Returns a file descriptor, or a negative errno with a
 * message: -EPERM if the path is a FIFO of another user, or, in a sticky directory that other users
 * can write, a link or file of another user or a file with several hard links. */
int output_open(const char *path, int flags, mode_t mode, struct err *err);
/* Like output_open(), but truncates the file and returns a stream. */
int output_open_stream(const char *path, FILE **ret_stream, struct err *err);
/* Returns the mode, before the umask, for a file that shows the contents of a recording, binary
 * or source: readable only by the owner if that is private (public_file() and
 * public_file_recording() decide this). The second function does the same for a directory. */
mode_t output_mode(bool is_private);
mode_t output_dir_mode(bool is_private);
/* Call for a stream whose error flag is set or whose fflush() failed. Returns the reason as a
 * negative errno. stdio does not keep the reason, so this tries to write one more byte where that
 * is harmless. Returns -EIO if the reason stays unknown. */
int output_failure(FILE *stream);
/* Returns the path of the file that a rename should replace, so that a link to it is kept: the
 * target of the link, else `path` itself. The caller frees it. Returns 0 with NULL if it cannot
 * be replaced, such as /dev/stdout. Refuses another user's link in every directory, because the
 * name can be a default such as gmon.out, which the user did not choose. */
int output_target(const char *path, char **ret_target, struct err *err);
/* Opens a directory in which many files will be written. Returns a file descriptor for the *at()
 * functions (O_PATH). Never follows a link of another user, who could redirect all files with it.
 * output_make_dir() also creates missing directories with `mode`. On an error returns a negative
 * errno with a message: -EPERM for such a link. */
int output_open_dir(const char *path, struct err *err);
int output_make_dir(const char *path, mode_t mode, struct err *err);
