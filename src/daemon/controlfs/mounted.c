/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mounted.c - detects mounted control files, and cleans up the mount of a server that has exited.
 */
#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "daemon/controlfs/controlfs.h"

bool controlfs_is_mounted(const char *dir)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *m;
	bool found = false;

	while (mounts && !found && (m = getmntent(mounts)))
		found = !strcmp(m->mnt_dir, dir) && strstr(m->mnt_type, "oprofilefs");
	if (mounts)
		endmntent(mounts);
	return found;
}

void controlfs_unmount_stale(const char *dir)
{
	struct stat st;

	if (stat(dir, &st) && errno == ENOTCONN && controlfs_is_mounted(dir))
		(void)umount2(dir, MNT_DETACH);
}
