/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copy_rule.h - decides whether a source or debug file may be copied to a location that other users
 * can read.
 * Layer: record. A binary contains the paths of its sources and debug files. Its builder can be
 * any sampled user and chooses these paths, and root could read all of them. */
#pragma once
#include <stdbool.h>

/* Returns whether the open file `fd`, found at `path`, may be copied. It may be copied in any of
 * these cases: every user can read it; a user other than root owns it, and this user is the caller
 * or the owner of `binary`; or the owner and the caller are root, the mode lets others read the
 * file, and the private directory that protects it also contains `binary`, a program of root.
 * `binary` is the path of the binary that contains the file's name; NULL: unknown. */
bool copy_rule_allows(int fd, const char *path, const char *binary);
/* Returns whether the file at the path is missing or not readable for every user. */
bool copy_rule_is_private(const char *path);
