/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pfm_tables.h - libpfm4's events as of build time, so that loading the library, which takes
 * milliseconds, is rarely necessary. The build writes these arrays
 * (capture/events/pfm/make_pfm_tables.c); without libpfm4 they are empty.
 * Layer: capture, private to event_pfm*.c, that program and tests. Strings are offsets, so that
 * nothing has to be relocated when the program starts. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_catalog;

enum {
	PFM_IS_PRECISE = 1,
	PFM_IS_DEFAULT = 2,
	/* The row contains its config words; otherwise query the library. */
	PFM_IS_KNOWN = 4,
	PFM_IS_REFUSED = 8 /* an event that the library encodes only with masks */
};

struct pfm_table_event {
	uint64_t code;
	uint64_t config[2];
	uint32_t name; /* offset in the texts, as are the next two */
	uint32_t about;
	uint32_t same_as; /* 0: no alternative name */
	uint32_t min_count;
	uint32_t nr_masks;
	uint32_t is; /* PFM_IS_... */
};

struct pfm_table_mask {
	uint64_t value;
	uint64_t config[2];
	uint32_t name;
	uint32_t about;
	uint32_t is;
};

/* One of libpfm's tables. Its rows follow those of the previous table. */
struct pfm_table {
	uint32_t pmu; /* offset of its name */
	uint32_t nr_counters;
	uint32_t nr_events;
	uint32_t nr_masks;
};

struct pfm_tables {
	/* the library file from which they were made, as found by dlopen(3) */
	const char *library;
	uint64_t library_id; /* event_pfm_file_id() of that file */
	const char *texts;
	const struct pfm_table *tables;
	size_t nr_tables;
	const struct pfm_table_event *events;
	const struct pfm_table_mask *masks;
};

extern const struct pfm_tables event_pfm_tables;

/* Returns true if there is a table of that PMU. */
bool event_pfm_table_has(const char *pmu);
/* Adds the events of a table. Returns 0, -ENOENT if it does not exist, or -ENOMEM. */
int event_pfm_table_add(struct event_catalog *c, const char *pmu);
/* Identifies a build of a library: a hash of its size and its first page, which contains the
 * build-id. Returns 0 if it cannot be read. */
uint64_t event_pfm_file_id(const char *path);
