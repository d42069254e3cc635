/* SPDX-License-Identifier: GPL-2.0-or-later */
/* charge.h - stores which user is charged for a file that the daemon's user owns.
 * Layer: base. The user id is in an extended attribute of the file, "user.oprofile.uid". */
#pragma once
#include <stdint.h>

enum {
	/* The file has no such attribute, or its file system does not support attributes. */
	CHARGE_UNKNOWN = 0xffffffff
};

/* charge_set() stores the user of a file, and returns 0 or a negative errno. charge_get() returns
 * the user, or CHARGE_UNKNOWN. Neither follows links. */
int charge_set(const char *path, uint32_t uid);
uint32_t charge_get(const char *path);
