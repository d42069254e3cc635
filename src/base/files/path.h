/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path.h - paths as text: nothing is looked up in a file system.
 * Layer: base. */
#pragma once

/* The absolute path, without "." and "..", so that a file has one name; one that is not absolute
 * is below `dir`.  malloc'd; NULL: out of memory. */
char *path_full(const char *path, const char *dir);
/* What is behind the last slash, in `path`; all of it where that is nothing ("/", "dir/"). */
const char *path_base(const char *path);
