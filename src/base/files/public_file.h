/* SPDX-License-Identifier: GPL-2.0-or-later */
/* public_file.h - checks whether other users can read a file by its path, and who controls a
 * path.
 * Layer: base.  Only considers the permission bits for others, not groups and ACLs. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

/* Returns whether every user can read the file that is open as `fd` and is at `path`: its mode
 * permits it, and others can search each directory above it. Returns false if a directory cannot
 * be examined. */
bool public_file(int fd, const char *path);
/* Like public_file(), for a recording or archive: a file, or a directory with all its contents. "-"
 * is the standard input. Returns true for a pipe, whose origin is unknown, and false on an
 * error. */
bool public_file_recording(const char *path);
/* Returns whether the file open as `fd`, at `path`, is below a directory that other users cannot
 * search, and the file `other` is below the outermost such directory also. */
bool public_file_same_private(int fd, const char *path, const char *other);
/* Returns true if only root and `uid` control which file has this path: all directories and
 * links on it belong to one of them, and others cannot write there, except in sticky
 * directories. */
bool public_file_path_is_of(const char *path, uid_t uid);
