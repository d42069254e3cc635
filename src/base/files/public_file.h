/* SPDX-License-Identifier: GPL-2.0-or-later */
/* public_file.h - whether other users can read a file by its path, and whose path it is.
 * Layer: base.  Only the permission bits for others count, not groups and ACLs. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

/* Whether every user can read the open file `fd`: its mode allows it, and others can search each
 * directory above it.  `path` led to it.  If its directory cannot be looked at: false. */
bool public_file(int fd, const char *path);
/* The same of a recording or archive: a file, or a directory with all that is in it.  "-" is the standard input.
 * True of a pipe, whose origin is unknown; false if the answer cannot be found out. */
bool public_file_recording(const char *path);
/* Whether a directory that others cannot search has both the open file `fd`, to which `path` led,
 * and the file `other` in it: the outermost one above `fd` counts. */
bool public_file_same_private(int fd, const char *path, const char *other);
/* Whether nobody but root and `uid` decides which file has this path: all directories and links
 * on it belong to one of them, and others cannot write there but in sticky directories. */
bool public_file_path_is_of(const char *path, uid_t uid);
