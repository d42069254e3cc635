/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/source_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/make/collect.h"
#include "archive/make/out.h"
#include "base/containers/hash.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/path.h"
#include "base/log.h"
#include "format/archive/layout.h"
#include "format/archive/manifest.h"
#include "recordings/source_find.h"
#include "resolve/lines/lines.h"
#include "resolve/symbolize/lines.h"

enum {
	FRAMES_MAX = 256
};

struct archive_source_files {
	const struct archive_request *request;
	struct source_find find;
	struct map seen;
	size_t nr_missing;
	size_t nr_left_out;
	bool any_conflict; /* some names were in conflict; a warning was logged for each */
	/* The following fields refer to the current image. */
	const char *binary;
	bool local;
	struct err *err;
	struct line_frame frames[FRAMES_MAX];
};

int archive_source_files_new(const struct archive_request *request,
			     struct archive_source_files **ret_files, struct err *err)
{
	struct archive_source_files *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return err_set(err, -ENOMEM, "out of memory");
	f->request = request;
	r = source_find_init(
		&f->find,
		&(struct source_find_options){ .search_dirs = request->search_dirs,
					       .base_dirs = request->base_dirs,
					       .archive = request->locations.archive,
					       .root = request->locations.root },
		err);
	if (r) {
		archive_source_files_free(f);
		return r;
	}
	*ret_files = f;
	return 0;
}

void archive_source_files_free(struct archive_source_files *f)
{
	if (!f)
		return;
	source_find_done(&f->find);
	map_done(&f->seen);
	free(f);
}

/* ---- one source ---- */

static int archive_source_files_put(struct archive_source_files *f, const char *path,
				    int fd, const char *file)
{
	struct archive_out *out = f->request->out;
	int r = 0;

	if (fd == -EACCES) {
		log_say(f->nr_left_out < 10 ? LOG_WARNING : LOG_DEBUG,
			"source file '%s' is not archived: it is not readable by every user",
			file);
		f->nr_left_out++;
	} else if (fd < 0) {
		log_say(f->nr_missing < 10 ? LOG_WARNING : LOG_DEBUG,
			"source file '%s' not found", path);
		f->nr_missing++;
	} else if (out) {
		const struct archive_open open = { .fd = fd, .from = file };

		r = archive_out_add_open(out, &open, path + 1, f->err);
		f->any_conflict |= r == ARCHIVE_OUT_TAKEN;
	} else {
		f->request->list(file);
	}
	if (r > 0)
		return 0; /* the name is invalid in an archive, or the file is nearly all holes */
	return r < 0 || !out ? r : archive_out_source(out, fd >= 0, path, f->err);
}

static int archive_source_files_take(struct archive_source_files *f, const char *path)
{
	char *full = path_full(path, ""), *file;
	struct map_slot *slot;
	bool is_new;
	int r, fd;

	slot = full ? map_at(&f->seen, hash_bytes(full, strlen(full), 0), 0, &is_new)
		    : NULL;
	if (!slot) {
		free(full);
		return err_set(f->err, -ENOMEM, "out of memory");
	}
	slot->value_plus_1 = 1;
	/* Names such as "<artificial>" and "<built-in>" come from the compiler. */
	if (!is_new || strchr(full, '<') || !archive_name_ok(full + (full[0] == '/'))) {
		free(full);
		return 0;
	}
	if (archive_name_use(full + (full[0] == '/')) != ARCHIVE_NAME_PLAIN) {
		log_say(LOG_WARNING,
			"source file '%s' is not archived: archives reserve its path for another file",
			full);
		f->any_conflict = true;
		free(full);
		return 0;
	}
	fd = source_find_open(&f->find, full, f->local, f->binary, &file);
	r = archive_source_files_put(f, full, fd, file);
	if (fd >= 0)
		close(fd);
	free(file);
	free(full);
	return r;
}

/* ---- the hits of an image ---- */

/* Adds the source files of an address. *last is the file that was added last; it is not added
 * again, because consecutive addresses often share a file. */
static int take_at(struct archive_source_files *f, struct naming_lines *lines,
		   uint64_t addr, const char **last)
{
	size_t nr = naming_lines_find(lines, addr, f->frames, FRAMES_MAX);
	int r = 0;

	for (size_t i = 0; !r && i < nr; i++)
		if (f->frames[i].file && f->frames[i].file != *last) {
			*last = f->frames[i].file;
			r = archive_source_files_take(f, *last);
		}
	return r;
}

int archive_source_files_add(struct archive_source_files *f, struct naming_lines *lines,
			     const uint64_t *addrs, size_t nr,
			     const struct archive_source_binary *binary,
			     struct err *err)
{
	uint64_t *prepared = malloc((nr + 1) * sizeof(*prepared));
	const char *last = NULL;
	int r = 0;

	if (!prepared)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nr; i++)
		prepared[i] = addrs[i];
	f->binary = binary->path;
	f->local = binary->local;
	f->err = err;
	naming_lines_prepare(lines, prepared, nr);
	free(prepared);
	for (size_t i = 0; !r && i < nr; i++)
		r = take_at(f, lines, addrs[i], &last);
	return r;
}

bool archive_source_files_conflict(const struct archive_source_files *f)
{
	return f->any_conflict;
}

void archive_source_files_report(const struct archive_source_files *f)
{
	if (f->nr_missing)
		log_say(LOG_WARNING,
			"%zu source files were not found: give their directories with --search-dirs",
			f->nr_missing);
	if (f->nr_left_out)
		log_say(LOG_WARNING,
			"%zu source files are not archived: they are not readable by every user, and neither you nor the owner of the binary owns them; to include them, give their directories with --search-dirs",
			f->nr_left_out);
}
