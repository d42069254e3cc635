/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/taken.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "archive/make/collect.h"
#include "archive/make/place.h"
#include "base/log.h"
#include "record/keep/copy_rule.h"
#include "recordings/images.h"
#include "resolve/elf/file.h"
#include "resolve/find/binary.h"

/* Returns whether the file has the recorded inode. The modification time was not recorded, so it
 * cannot be compared. */
static bool is_same_inode(const struct image *image, const struct stat *st)
{
	return image->dev && image->inode && st->st_dev == image->dev &&
	       st->st_ino == image->inode;
}

/* Returns whether the open file is proven to be the binary that ran, or its debug file; by now,
 * the path can lead to another file. A debug file found by a debug link is never proven, because
 * whoever built the binary chose the checksum in the link. */
static bool is_proven(const struct source_image *at, const struct archive_taken *t,
		      const struct archive_opened *file)
{
	bool is_binary = at->image->kind == IMAGE_FILE || at->image->kind == IMAGE_VDSO;
	enum naming_status status;

	if (!strcmp(t->step, NAMING_STEP_DEBUG_LINK))
		return false;
	if (!is_binary || archive_taken_debug(at, t) ||
	    !strcmp(t->step, NAMING_STEP_COPY))
		return t->proven;
	status = binary_verify(file->fd, at->image);
	return status == NAMING_OK ||
	       (status == NAMING_UNVERIFIED && is_same_inode(at->image, &file->st));
}

/* Returns whether the file may be archived. `binary` is the path of the binary to which a debug
 * file belongs. */
static bool may_take(const struct source_image *at, const struct archive_taken *t,
		     const struct archive_opened *file, const char *binary)
{
	return is_proven(at, t, file) ||
	       copy_rule_allows(file->fd, t->path,
				archive_taken_debug(at, t) ? binary : NULL);
}

bool archive_taken_open(const struct archive_request *q, const struct source_image *at,
			const struct archive_taken *t, const char *binary,
			struct archive_opened *ret_file)
{
	struct archive_opened file = { elf_open_regular(t->path), t->path, { 0 } };
	/* Accept every file in a directory that the user named. */
	bool named = q->locations.archive || !strcmp(t->step, NAMING_STEP_INDEX);

	if (file.fd < 0 || fstat(file.fd, &file.st)) {
		log_say(LOG_WARNING, "%s is not archived: %s", t->path,
			strerror(file.fd < 0 ? -file.fd : errno));
	} else if (!named && !may_take(at, t, &file, binary)) {
		log_say(LOG_WARNING,
			"%s is not archived: it is not readable by every user, and %s",
			t->path,
			archive_taken_debug(at, t)
				? "it belongs neither to you nor to the owner of the binary"
				: "nothing proves that it is the file that ran");
	} else {
		*ret_file = file;
		return true;
	}
	if (file.fd >= 0)
		close(file.fd);
	return false;
}
