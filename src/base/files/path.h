/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path.h - handles paths as text, without accessing the file system.
 * Layer: base. */
#pragma once

/* Returns the absolute path without "." and ".." components, so that equal paths are spelled
 * equally. A relative path starts at `dir`. The caller frees it. Returns NULL if memory is
 * short. */
char *path_full(const char *path, const char *dir);
/* Returns the part of `path` after the last slash, or all of it if that part is empty ("/",
 * "dir/"). */
const char *path_base(const char *path);
