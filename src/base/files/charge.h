/* charge.h - to which user the room of a file is charged that another user, such as the daemon, owns.
 * Layer: base.  Kept in an extended attribute of the file, "user.oprofile.uid". */
#pragma once
#include <stdint.h>

enum {
	CHARGE_UNKNOWN =
		0xffffffff /* nobody has said so, or the file system keeps no attributes */
};

/* 0 or a negative errno.  Neither follows links. */
int charge_set(const char *path, uint32_t uid);
uint32_t charge_get(const char *path);
