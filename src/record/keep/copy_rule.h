/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copy_rule.h - which files a recording may name that are copied to where others read them.
 * Layer: record.  A binary, and so the user who built it and was sampled, chooses the paths of its
 * sources and debug files; root could read all of them. */
#pragma once
#include <stdbool.h>

/* Whether the open file `fd`, to which `path` led, may be copied: every user can read it; or it belongs
 * to the caller or to the owner of `binary`, who is not root; or it is root's, the caller is root,
 * and `binary` is root's own program in the same private directory.  `binary` is the path of
 * the file that named it, NULL: unknown. */
bool copy_rule_allows(int fd, const char *path, const char *binary);
/* Whether not every user can read the file that has this path, or it is not there.  */
bool copy_rule_is_private(const char *path);
