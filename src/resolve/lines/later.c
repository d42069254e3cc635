/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/lines/later.h"

#include <errno.h>
#include <string.h>

#include "base/files/io.h"
#include "resolve/lines/lines.h"
#include "resolve/lines/priv.h"
#include "resolve/lines/writers.h"

static const uint64_t bytes_max = 64 << 20;

bool line_later_take(struct line_later *later, struct lines *l, uint64_t bytes)
{
	if (bytes > bytes_max - later->bytes || !vec_push(&later->kept, l))
		return false;
	l->later_bytes = bytes;
	later->bytes += bytes;
	return true;
}

static bool line_later_is_same(const struct index_key *a, const struct index_key *b)
{
	return a->is_build_id == b->is_build_id && a->len == b->len &&
	       !memcmp(a->bytes, b->bytes, a->len);
}

struct lines *line_later_give(struct line_later *later, const struct index_key *key)
{
	for (size_t i = 0; i < later->kept.nr; i++) {
		struct lines *l = later->kept.at[i];

		if (!line_later_is_same(&l->key, key))
			continue;
		later->kept.at[i] = later->kept.at[--later->kept.nr];
		later->bytes -= l->later_bytes;
		return l;
	}
	return NULL;
}

bool line_later_any(const struct line_later *later)
{
	return later->kept.nr != 0;
}

int line_later_announce(const struct line_later *later)
{
	int fd = -ENOENT;

	for (size_t i = 0; i < later->kept.nr; i++) {
		const struct lines *l = later->kept.at[i];

		/* A command has only one cache directory. */
		if (fd < 0 && !io_make_dirs(l->cache_dir, 0700))
			fd = line_writers_open(l->cache_dir);
		if (fd >= 0)
			line_writers_add(fd, &l->key);
	}
	return fd;
}

void line_later_write(struct line_later *later)
{
	for (size_t i = 0; i < later->kept.nr; i++)
		lines_write(later->kept.at[i]);
}

void line_later_done(struct line_later *later)
{
	for (size_t i = 0; i < later->kept.nr; i++) {
		/* line_later_write() or another process has written it. */
		later->kept.at[i]->unsaved_bytes = 0;
		lines_free(later->kept.at[i]);
	}
	vec_done(&later->kept);
	later->bytes = 0;
}
