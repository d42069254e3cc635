/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/events/pfm/pfm_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/hash.h"
#include "base/files/io.h"
#include "capture/events/catalog_priv.h"

enum {
	FIRST_PAGE_BYTES = 4096
};

/* A table, and the indexes of its first rows. */
struct event_pfm_tables_place {
	const struct pfm_table *table;
	const struct pfm_table_event *events;
	const struct pfm_table_mask *masks;
};

static const char *event_pfm_tables_text_of(uint32_t offset)
{
	return event_pfm_tables.texts + offset;
}

static bool event_pfm_tables_find_table(const char *pmu,
					struct event_pfm_tables_place *ret_place)
{
	struct event_pfm_tables_place p = { .events = event_pfm_tables.events,
					    .masks = event_pfm_tables.masks };

	for (size_t i = 0; i < event_pfm_tables.nr_tables; i++) {
		p.table = &event_pfm_tables.tables[i];
		if (!strcmp(event_pfm_tables_text_of(p.table->pmu), pmu)) {
			*ret_place = p;
			return true;
		}
		p.events += p.table->nr_events;
		p.masks += p.table->nr_masks;
	}
	return false;
}

bool event_pfm_table_has(const char *pmu)
{
	struct event_pfm_tables_place p;

	return event_pfm_tables_find_table(pmu, &p);
}

static struct catalog_event event_pfm_tables_event_of(const struct pfm_table_event *row)
{
	return (struct catalog_event){
		.name = event_pfm_tables_text_of(row->name),
		.about = event_pfm_tables_text_of(row->about),
		.code = row->code,
		.config = row->config[0],
		.config1 = row->config[1],
		.same_as = row->same_as ? event_pfm_tables_text_of(row->same_as) : NULL,
		.min_count = row->min_count,
		.precise = row->is & PFM_IS_PRECISE,
		.known = row->is & PFM_IS_KNOWN,
		.refused = row->is & PFM_IS_REFUSED,
		.from_pfm = true,
	};
}

static struct catalog_mask event_pfm_tables_mask_of(const struct pfm_table_mask *row)
{
	return (struct catalog_mask){
		.name = event_pfm_tables_text_of(row->name),
		.about = event_pfm_tables_text_of(row->about),
		.value = row->value,
		.config = row->config[0],
		.config1 = row->config[1],
		.precise = row->is & PFM_IS_PRECISE,
		.is_default = row->is & PFM_IS_DEFAULT,
		.known = row->is & PFM_IS_KNOWN,
	};
}

int event_pfm_table_add(struct event_catalog *c, const char *pmu)
{
	struct event_pfm_tables_place p;

	if (!event_pfm_tables_find_table(pmu, &p))
		return -ENOENT;
	if (!vec_reserve(&c->events, c->events.nr + p.table->nr_events) ||
	    !vec_reserve(&c->masks, c->masks.nr + p.table->nr_masks))
		return -ENOMEM;
	c->nr_counters = p.table->nr_counters;
	for (uint32_t i = 0; i < p.table->nr_events; i++) {
		const struct catalog_event event =
			event_pfm_tables_event_of(&p.events[i]);

		if (event_catalog_add(c, &event))
			return -ENOMEM;
		for (uint32_t k = 0; k < p.events[i].nr_masks; k++) {
			const struct catalog_mask mask =
				event_pfm_tables_mask_of(p.masks++);

			if (event_catalog_add_mask(c, &mask))
				return -ENOMEM;
		}
	}
	return 0;
}

uint64_t event_pfm_file_id(const char *path)
{
	int fd = io_open(path, O_RDONLY, 0);
	uint8_t page[FIRST_PAGE_BYTES];
	uint64_t id = 0;
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return 0;
	n = io_pread_full(fd, page, sizeof(page), 0);
	if (n > 0 && fstat(fd, &st) == 0)
		id = hash_bytes(page, (size_t)n, (uint64_t)st.st_size);
	close(fd);
	return id;
}
