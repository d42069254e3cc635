/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/keep/lasting_mounts.h"

#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/files/io.h"
#include "base/parse.h"

enum {
	MOUNTINFO_MAX = 64 << 20
};

/* Returns the number at the start of `text`, or MOUNT_UNKNOWN.  0 is valid: the kernel's first
 * mount. */
static uint64_t leading_number(const char *text)
{
	char digits[24] = { 0 };
	size_t len = strspn(text, "0123456789");
	uint64_t number = MOUNT_UNKNOWN;

	if (len < sizeof(digits)) {
		memcpy(digits, text, len);
		(void)parse_u64(digits, &number);
	}
	return number;
}

/* Reads a file of /proc as a string; free it with buf_done().  Returns false if it cannot be
 * read. */
static bool lasting_mounts_read_text(const char *path, size_t max, struct buf *text)
{
	if (io_read_file(path, text, max))
		return false;
	buf_put_u8(text, 0);
	return !text->failed;
}

uint64_t lasting_mounts_of(int fd)
{
	uint64_t mount;

	return io_mount_of(fd, &mount) ? mount : MOUNT_UNKNOWN;
}

static bool lasting_mounts_has_number(const uint64_t *numbers, size_t nr,
				      uint64_t number)
{
	for (size_t i = 0; i < nr; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

bool lasting_mounts_has(const struct lasting_mounts *m, uint64_t mount)
{
	return lasting_mounts_has_number(m->lasting.at, m->lasting.nr, mount);
}

bool lasting_mounts_was_there(const struct lasting_mounts *m, uint64_t mount)
{
	return lasting_mounts_has_number(m->first.at, m->first.nr, mount);
}

bool lasting_mounts_is_root_of(uint64_t mount, int32_t pid)
{
	char path[64];
	bool is_root;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	fd = io_open(path, O_PATH, 0);
	if (fd < 0)
		return false;
	is_root = mount != MOUNT_UNKNOWN && lasting_mounts_of(fd) == mount;
	close(fd);
	return is_root;
}

/* Adds the mount of an open file. Takes ownership of the descriptor; does nothing if it is
 * negative. */
static void add_mount_of(struct lasting_mounts *m, int fd)
{
	uint64_t mount = fd < 0 ? MOUNT_UNKNOWN : lasting_mounts_of(fd);

	if (mount != MOUNT_UNKNOWN && !lasting_mounts_has(m, mount))
		(void)vec_push(&m->lasting, mount);
	if (fd >= 0)
		close(fd);
}

static void add_path(struct lasting_mounts *m, const char *path)
{
	add_mount_of(m, io_open(path, O_PATH, 0));
}

static int add_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	/* The program's entry has an empty name, and the vdso's is not a path. */
	if (info->dlpi_name && info->dlpi_name[0] == '/')
		add_path(ctx, info->dlpi_name);
	return 0;
}

static void add_first(struct lasting_mounts *m)
{
	struct buf text = { 0 };

	if (lasting_mounts_read_text("/proc/self/mountinfo", MOUNTINFO_MAX, &text))
		for (const char *line = (const char *)text.data; *line;) {
			uint64_t mount = leading_number(line);
			const char *end = strchr(line, '\n');

			if (mount != MOUNT_UNKNOWN)
				(void)vec_push(&m->first, mount);
			line = end ? end + 1 : "";
		}
	buf_done(&text);
}

void lasting_mounts_init(struct lasting_mounts *m, const char *dir)
{
	static const char *const paths[] = {
		"/",
		"/usr",
		/* A service has a private mount namespace, in which these mounts have other
		 * numbers. */
		"/proc/1/root",
		"/proc/1/root/usr/",
		".",
		"/proc/self/exe",
	};

	for (size_t i = 0; i < COUNT_OF(paths); i++)
		add_path(m, paths[i]);
	add_path(m, dir);
	(void)dl_iterate_phdr(add_library, m);
	add_mount_of(m, memfd_create("mount", MFD_CLOEXEC));
	add_first(m);
}

void lasting_mounts_done(struct lasting_mounts *m)
{
	vec_done(&m->lasting);
	vec_done(&m->first);
}
