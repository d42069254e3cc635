/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copy_rule.h - decides whether a source or debug file may be copied to a location that other users
 * can read. Layer: record. A binary contains the paths of its sources and debug files. Its builder
 * can be any sampled user and chooses these paths, and root could read all of them. */
#pragma once
#include <stdbool.h>

/* Returns whether the open file `fd`, found at `path`, may be copied. It may if every user can
 * read it; or if it belongs to the caller or to the owner of `binary`, unless that is root; or if
 * root owns it, the caller is root, and `binary` is a program of root in the same private
 * directory. `binary` is the path of the binary that contains the file's name; NULL: unknown. */
bool copy_rule_allows(int fd, const char *path, const char *binary);
/* Returns whether the file at the path is missing or not readable for every user. */
bool copy_rule_is_private(const char *path);
