/* SPDX-License-Identifier: GPL-2.0-or-later */
/* save.c - stores the data that was read in the binary's index file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/io.h"
#include "base/log.h"
#include "resolve/find/index_cache.h"
#include "resolve/lines/later.h"
#include "resolve/lines/priv.h"

enum {
	/* The new data must be at least this fraction of the existing data to justify writing
	 * everything. Reading less again is as quick as using the index. */
	WORTH_PART = 8,
	/* A smaller index saves less time than writing it takes, and is not written. */
	WORTH_FILE = 4096,
	/* A smaller amount is written faster than a thread is started. */
	WORTH_THREAD = 1 << 16
};

static size_t count_kept(const struct line_directory *dir)
{
	size_t nr = 0;

	for (size_t i = 0; i < dir->units.nr; i++)
		nr += dir->units.at[i].keep &&
		      dir->units.at[i].state != LINE_UNIT_ABSENT &&
		      dir->units.at[i].state != LINE_UNIT_FAILED;
	return nr;
}

/* Returns whether another process has meanwhile written an index with more units than `dir`. */
static bool is_outdated(const struct lines *l, const struct line_directory *dir)
{
	struct line_directory theirs;
	struct line_index x;
	bool is_outdated;

	if (line_index_open(&x, l->index_path, &l->key, &theirs))
		return false;
	/* Ignore the index that we opened, because we might have found damage in it. */
	is_outdated = (x.ino != l->index.ino || x.dev != l->index.dev) &&
		      theirs.units.nr == dir->units.nr &&
		      count_kept(&theirs) > count_kept(dir);
	line_directory_done(&theirs);
	line_index_close(&x);
	return is_outdated;
}

/* Writes the content of `dir`, in addition to the content already in `w` (NULL: none). */
static int write_directory(struct lines *l, struct line_writer *w,
			   struct line_directory *dir)
{
	char *path = realpath(l->path, NULL);
	int r = w ? 0 : line_writer_open(l->index_path, &w);

	if (!r)
		r = line_writer_finish(w, &l->key, path ? path : l->path, dir);
	free(path);
	if (r)
		log_say(LOG_DEBUG, "'%s': index not written: %s", l->index_path,
			strerror(-r));
	else
		(void)index_cache_trim(l->cache_dir, index_cache_limit(), NULL);
	return r;
}

static void write_unless_outdated(struct lines *l, struct line_directory *dir)
{
	if (!is_outdated(l, dir) && !io_make_dirs(l->cache_dir, 0700))
		(void)write_directory(l, NULL, dir);
}

static void *write_index(void *arg)
{
	struct lines *l = arg;

	write_unless_outdated(l, &l->written);
	return NULL;
}

void lines_write(struct lines *l)
{
	write_unless_outdated(l, &l->dir);
	l->unsaved_bytes = 0;
}

static uint64_t kept_bytes(const struct lines *l)
{
	return l->index.map.len;
}

static bool copy_directory(struct lines *l)
{
	const struct line_directory *from = &l->dir;
	struct line_directory *to = &l->written;

	*to = (struct line_directory){ .symbols = from->symbols };
	if (!vec_reserve(&to->units, from->units.nr + 1) ||
	    !vec_reserve(&to->covers, from->covers.nr + 1)) {
		line_directory_done(to);
		return false;
	}
	if (to->units.at && from->units.nr)
		memcpy(to->units.at, from->units.at,
		       from->units.nr * sizeof(*to->units.at));
	if (to->covers.at && from->covers.nr)
		memcpy(to->covers.at, from->covers.at,
		       from->covers.nr * sizeof(*to->covers.at));
	to->units.nr = from->units.nr;
	to->covers.nr = from->covers.nr;
	return true;
}

static bool is_worth_writing(const struct lines *l)
{
	return l->index_path && !l->options.no_write &&
	       l->unsaved_bytes >= WORTH_FILE &&
	       l->unsaved_bytes >= kept_bytes(l) / WORTH_PART;
}

bool lines_leave(struct lines *l)
{
	struct line_later *later = l->options.later;

	l->options.later = NULL;
	return later && is_worth_writing(l) &&
	       line_later_take(later, l, l->unsaved_bytes + kept_bytes(l));
}

void lines_store(struct lines *l)
{
	bool in_thread;

	if (l->options.later || !is_worth_writing(l))
		return;
	lines_save_wait(l);
	if (!copy_directory(l))
		return;
	in_thread = l->unsaved_bytes >= WORTH_THREAD;
	l->unsaved_bytes = 0;
	/* Write while the caller looks up addresses. The blocks do not change any more. */
	l->writing = in_thread && !pthread_create(&l->writer, NULL, write_index, l);
	if (!l->writing) {
		write_index(l);
		line_directory_done(&l->written);
	}
}

void lines_save_wait(struct lines *l)
{
	if (!l->writing)
		return;
	pthread_join(l->writer, NULL);
	l->writing = false;
	line_directory_done(&l->written);
}

bool lines_is_partial(const struct lines *l)
{
	if (!l->grew || !l->index_path || l->options.no_write)
		return false;
	for (size_t i = 0; i < l->dir.covers.nr; i++) {
		uint32_t unit = l->dir.covers.at[i].unit;

		if (unit != LINE_NO_UNIT &&
		    l->dir.units.at[unit].state == LINE_UNIT_ABSENT)
			return true;
	}
	return false;
}

int lines_make_index(struct lines *l)
{
	int r;

	if (!l->index_path || l->options.no_write)
		return -ENOTSUP;
	lines_save_wait(l);
	if (!lines_list_absent(l))
		return 0;
	r = lines_need_source(l, NULL);
	/* The existing index may belong to another file. */
	if (r || !lines_list_absent(l))
		return r;
	if (l->options.symbols)
		(void)lines_need_symbols(l);
	r = io_make_dirs(l->cache_dir, 0700);
	if (!r)
		r = line_writer_open(l->index_path, &l->stream);
	if (r)
		return r;
	r = lines_build(l);
	if (r)
		line_writer_drop(l->stream);
	else
		r = write_directory(l, l->stream, &l->dir);
	l->stream = NULL;
	l->unsaved_bytes = 0;
	return r;
}
