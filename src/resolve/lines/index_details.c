/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/lines/index_details.h"

#include "resolve/find/index_cache.h"
#include "resolve/lines/index.h"
#include "resolve/unwind/cache.h"

void index_details_read(struct index_cache_entry *e)
{
	struct line_directory dir;
	struct line_index index;

	if (e->is_unwind) {
		e->path_of = unwind_cache_path_of(e->path);
		return;
	}
	if (line_index_open(&index, e->path, NULL, &dir))
		return;
	e->path_of = index.path_of;
	index.path_of = NULL;
	e->nr_units = dir.units.nr;
	for (size_t i = 0; i < dir.units.nr; i++)
		e->nr_kept += dir.units.at[i].state != LINE_UNIT_ABSENT;
	line_directory_done(&dir);
	line_index_close(&index);
}
