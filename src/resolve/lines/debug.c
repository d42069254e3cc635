/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug.c - finds the separate debug file of a binary that is not part of a recording. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"
#include "resolve/find/debug_link.h"
#include "resolve/lines/lines.h"

enum {
	HEX_BYTES = 2 * BUILD_ID_MAX + 1
};

static int find_by_id(int fd, int *ret_fd, char **ret_path)
{
	struct build_id id;
	struct build_id found;
	char hex[HEX_BYTES];
	char *path;
	int debug;

	if (elf_build_id_fd(fd, &id, NULL))
		return -ENOENT;
	build_id_to_hex(&id, hex);
	if (asprintf(&path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2) < 0)
		return -ENOMEM;
	debug = elf_open_regular(path);
	if (debug >= 0 && !elf_build_id_fd(debug, &found, NULL) &&
	    build_id_equal(&id, &found)) {
		*ret_fd = debug;
		*ret_path = path;
		return 0;
	}
	if (debug >= 0)
		close(debug);
	free(path);
	return -ENOENT;
}

static int lines_debug_find_by_link(struct elf_file *f, const char *path, int *ret_fd,
				    char **ret_path)
{
	struct debug_link link;
	char *real;
	int r = debug_link_read(f, &link);

	if (r)
		return r == -ENOMEM ? r : -ENOENT;
	real = realpath(path, NULL);
	if (!real)
		return -ENOENT;
	r = debug_link_find(&link, f->fd, "", real, ret_fd, ret_path);
	free(real);
	return r;
}

int lines_debug_file(int fd, const char *path, int *ret_fd, char **ret_path)
{
	struct elf_file f;
	int r = elf_file_init_fd(&f, fd, NULL);

	if (r)
		return r;
	r = elf_file_sections(&f, NULL);
	if (!r && (elf_file_find_section(&f, ".debug_info") ||
		   elf_file_find_section(&f, ".zdebug_info")))
		r = -ENOENT;
	if (!r) {
		r = find_by_id(fd, ret_fd, ret_path);
		if (r == -ENOENT)
			r = lines_debug_find_by_link(&f, path, ret_fd, ret_path);
	}
	elf_file_done(&f);
	return r;
}
