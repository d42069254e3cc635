/* pfm_tables.h - libpfm4's events as the build found them: what its library tells in
 * milliseconds, in arrays.  The build writes them (capture/events/make_pfm_tables.c); without libpfm4
 * there are none.
 * Layer: capture, private to event_pfm*.c, that program and tests.  Texts are offsets, so that nothing
 * needs to be relocated when the program starts. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_catalog;

enum {
	PFM_IS_PRECISE = 1,
	PFM_IS_DEFAULT = 2,
	PFM_IS_KNOWN = 4,  /* its config words are here; else the library is asked */
	PFM_IS_REFUSED = 8 /* an event that the library encodes with masks only */
};

struct pfm_table_event {
	uint64_t code;
	uint64_t config[2];
	uint32_t name; /* offsets in the texts */
	uint32_t about;
	uint32_t same_as; /* 0: none */
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

/* One of libpfm's, whose rows stand behind those of the table before. */
struct pfm_table {
	uint32_t pmu; /* its name */
	uint32_t nr_counters;
	uint32_t nr_events;
	uint32_t nr_masks;
};

struct pfm_tables {
	const char *library; /* the file that they are of, as dlopen(3) found it */
	uint64_t library_id; /* event_pfm_file_id() of it */
	const char *texts;
	const struct pfm_table *tables;
	size_t nr_tables;
	const struct pfm_table_event *events;
	const struct pfm_table_mask *masks;
};

extern const struct pfm_tables event_pfm_tables;

/* Whether there is one of that PMU. */
bool event_pfm_table_has(const char *pmu);
/* Adds the events of that table.  0, -ENOENT: there is none; -ENOMEM. */
int event_pfm_table_add(struct event_catalog *c, const char *pmu);
/* A number that another build of a library does not have: of its size and its first page, which
 * has the build-id.  0 if it cannot be read. */
uint64_t event_pfm_file_id(const char *path);
