/* lines_save.c - keeps what was read in the binary's index file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/log.h"
#include "resolve/line_cache.h"
#include "resolve/lines_priv.h"

enum {
	/* What is new must be this part of what is kept already, or it is not worth the
	 * writing of all of it: it will be read again, which is as quick. */
	WORTH_PART = 8
};

static void *write_index(void *arg)
{
	struct lines *l = arg;
	char *path = realpath(l->path, NULL);
	int r = io_make_dirs(l->cache_dir, 0700);

	if (!r)
		r = line_index_write(l->index_path, &l->key, path ? path : l->path,
				     &l->written);
	free(path);
	if (r)
		log_say(LOG_DEBUG, "%s: index not written: %s", l->index_path,
			strerror(-r));
	else
		(void)line_cache_trim(l->cache_dir, line_cache_limit(), NULL);
	return NULL;
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

void lines_store(struct lines *l)
{
	if (!l->index_path || l->options.no_write || !l->unsaved_bytes)
		return;
	if (l->unsaved_bytes < kept_bytes(l) / WORTH_PART)
		return;
	lines_save_wait(l);
	if (!copy_directory(l))
		return;
	l->unsaved_bytes = 0;
	/* While the caller looks things up.  The blocks do not change any more. */
	l->writing = true;
	if (pthread_create(&l->writer, NULL, write_index, l)) {
		write_index(l);
		l->writing = false;
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
