/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/series.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "recordings/outline.h"
#include "recordings/sources.h"

static int series_is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Adds dir/name if it is a recording. */
static int series_add(struct recording_series *s, const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	if (!report_source_is(path)) {
		free(path);
		return 0;
	}
	if (vec_push(&s->paths, path))
		return 0;
	free(path);
	return -ENOMEM;
}

int recording_series_find(const char *dir, struct recording_series *ret,
			  struct err *err)
{
	struct dirent **entries;
	int nr = scandir(dir, &entries, series_is_visible, versionsort);
	int r = 0;

	*ret = (struct recording_series){ 0 };
	if (nr < 0)
		return err_sys(err, -errno, "cannot read the directory '%s'", dir);
	for (int i = 0; i < nr; i++) {
		if (!r)
			r = series_add(ret, dir, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return r ? err_set(err, r, "out of memory") : 0;
}

void recording_series_done(struct recording_series *s)
{
	for (size_t i = 0; i < s->paths.nr; i++)
		free(s->paths.at[i]);
	vec_done(&s->paths);
}

uint64_t recording_start_ns(const char *path, const struct report_sources *sources,
			    const struct recording_outline *o)
{
	/* Samples of converted profiles can have made-up times, which only give the order. */
	const uint64_t length = sources->made ? 0 : o->last_ns - o->first_ns;
	uint64_t end;
	struct stat st;

	if (o->start_wall_ns)
		return o->start_wall_ns;
	if (stat(path, &st))
		return 0;
	end = clock_ns(st.st_mtim);
	return end > length ? end - length : 0;
}
