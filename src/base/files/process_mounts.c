/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/process_mounts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/files/io.h"
#include "base/files/process_facts.h"
#include "base/files/trust.h"

enum {
	MOUNTINFO_MAX = 64 << 20,
	PATH_BYTES = 64
};

static bool process_mounts_is_own(int32_t pid)
{
	int64_t user = process_status_number(pid, "Uid:", STATUS_FIRST);

	return user >= 0 && trust_is_own((uid_t)user);
}

/* Returns whether the process has our mount namespace, or one whose user namespace was created by
 * the caller or root. */
static bool process_mounts_are_trusted(int32_t pid)
{
	struct stat ours, theirs;
	char path[PATH_BYTES];
	int mounts, users = -1;
	uid_t owner;
	bool are;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	mounts = io_open(path, O_RDONLY | O_NONBLOCK, 0);
	if (mounts < 0)
		return false;
	are = !fstat(mounts, &theirs) && !stat("/proc/self/ns/mnt", &ours) &&
	      theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
	if (!are)
		users = ioctl(mounts, NS_GET_USERNS);
	if (users >= 0) {
		are = !ioctl(users, NS_GET_OWNER_UID, &owner) && trust_is_own(owner);
		close(users);
	}
	close(mounts);
	return are;
}

bool process_mounts_may_search(int32_t pid)
{
	return process_mounts_is_own(pid) || process_mounts_are_trusted(pid);
}

/* Types of file systems on disks and in memory, which always answer. */
static const char *const quiet[] = {
	"bcachefs",  "btrfs",   "erofs", "exfat",    "ext2",  "ext3", "ext4", "f2fs",
	"hugetlbfs", "iso9660", "ramfs", "squashfs", "tmpfs", "vfat", "xfs",  "zfs",
};

/* Returns whether a line of mountinfo, "ID PARENT ... - TYPE SOURCE OPTIONS", has one of these
 * types. Blanks in names are escaped there. */
static bool process_mounts_is_quiet(const char *line)
{
	const char *end = strchrnul(line, '\n');
	const char *type = strstr(line, " - ");
	size_t len;

	if (!type || type > end)
		return false;
	type += strlen(" - ");
	len = strcspn(type, " \n");
	for (size_t i = 0; i < COUNT_OF(quiet); i++)
		if (strlen(quiet[i]) == len && !memcmp(type, quiet[i], len))
			return true;
	return false;
}

/* Returns whether a mount is in the mount namespace of the process ("self": ours). `only_quiet`:
 * and has one of the types above. */
static bool process_mounts_have(const char *pid, uint64_t mount, bool only_quiet)
{
	char path[PATH_BYTES], start[PATH_BYTES];
	struct buf text = { 0 };
	const char *line = NULL;
	bool have;

	snprintf(path, sizeof(path), "/proc/%s/mountinfo", pid);
	snprintf(start, sizeof(start), "\n%" PRIu64 " ", mount);
	buf_put_u8(&text, '\n');
	if (!io_read_file(path, &text, MOUNTINFO_MAX)) {
		buf_put_u8(&text, 0);
		line = text.failed ? NULL : strstr((const char *)text.data, start);
	}
	have = line && (!only_quiet || process_mounts_is_quiet(line + 1));
	buf_done(&text);
	return have;
}

bool process_mounts_may_follow(int32_t pid, const char *link)
{
	char number[PATH_BYTES];
	uint64_t mount;
	bool is_known;
	int fd;

	if (process_mounts_is_own(pid))
		return true;
	/* Opening with O_PATH and querying the mount id do not wait for the file system. */
	fd = io_open(link, O_PATH, 0);
	if (fd < 0)
		return false;
	is_known = io_mount_of(fd, &mount);
	close(fd);
	if (!is_known)
		return false;
	snprintf(number, sizeof(number), "%d", pid);
	return process_mounts_have("self", mount, false) ||
	       process_mounts_have(number, mount, !process_mounts_are_trusted(pid));
}
