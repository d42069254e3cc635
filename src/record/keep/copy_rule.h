/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copy_rule.h - decides which files named by a recording may be copied to where other users can
 * read them.
 * Layer: record.  A binary names the paths of its sources and debug files.  Its builder, who may
 * be any sampled user, chooses these paths, and root could read all of them. */
#pragma once
#include <stdbool.h>

/* Returns whether the open file `fd`, found at `path`, may be copied.  It may if every user can
 * read it; or if it belongs to the caller or to the owner of `binary`, unless that is root; or if
 * it is root's, the caller is root, and `binary` is root's own program in the same private
 * directory.  `binary` is the path of the file that contains the name, NULL: unknown. */
bool copy_rule_allows(int fd, const char *path, const char *binary);
/* Returns whether the file at the path is missing or not readable for every user. */
bool copy_rule_is_private(const char *path);
