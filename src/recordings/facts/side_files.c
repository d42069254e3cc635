/* SPDX-License-Identifier: GPL-2.0-or-later */
/* side_files.c - compares the side files of a session with their checksums. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/tree.h"
#include "format/session/checksums.h"
#include "recordings/facts/info.h"

struct side_files {
	uint64_t nr, nr_unverified, nr_damaged;
};

static void info_side_files_look_at(struct side_files *files, const char *path)
{
	int fd = io_open_regular(path, O_NOFOLLOW);
	enum checksum state = CHECKSUM_UNKNOWN;
	int r = fd < 0 ? fd : checksums_verify(fd, path, &state);

	if (fd >= 0)
		close(fd);
	fault_unreadable(path, r);
	files->nr++;
	files->nr_unverified += !r && state == CHECKSUM_UNKNOWN;
	files->nr_damaged += !r && state == CHECKSUM_BAD;
}

static int visit(void *ctx, const struct tree_entry *entry)
{
	static const char segment[] = "segment-";

	if (entry->name[0] == '.')
		return TREE_SKIP;
	if (S_ISREG(entry->st.st_mode) && strcmp(entry->name, CHECKSUMS_NAME) != 0 &&
	    strncmp(entry->name, segment, sizeof(segment) - 1) != 0)
		info_side_files_look_at(ctx, entry->path);
	return 0;
}

int info_read_side_files(struct info *info, const char *dir, struct err *err)
{
	struct side_files files = { 0 };
	uint64_t nr_missing = 0;
	int r = tree_walk(dir, visit, &files, err);

	if (r)
		return r;
	r = side_files_check(dir, info->trust, &nr_missing);
	if (r)
		return err_sys(err, r, "cannot check '%s'", dir);
	fact_count(&info->facts, "side_files", files.nr);
	fact_count(&info->facts, "unverified_side_files", files.nr_unverified);
	fact_count(&info->damage, "damaged_side_files", files.nr_damaged);
	fact_count(&info->damage, "missing_side_files", nr_missing);
	return 0;
}
