/* SPDX-License-Identifier: GPL-2.0-or-later */
/* charge.h - the user to whom a file is charged if another user, such as the daemon's, owns it.
 * Layer: base.  Stored in an extended attribute of the file, "user.oprofile.uid". */
#pragma once
#include <stdint.h>

enum {
	CHARGE_UNKNOWN =
		0xffffffff /* the file has no such attribute, or the file system does not
                            * support it */
};

/* charge_set() returns 0 or a negative errno. Neither function follows links. */
int charge_set(const char *path, uint32_t uid);
uint32_t charge_get(const char *path);
