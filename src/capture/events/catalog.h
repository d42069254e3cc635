/* SPDX-License-Identifier: GPL-2.0-or-later */
/* catalog.h - the events of one type of CPU: names, unit masks, codes.
 * Layer: capture. There are two sources: libpfm4's tables, if the build has them, and our own
 * lists in lists/ (docs/events.md). Use it from one thread only: queries that the built-in tables
 * cannot answer load libpfm4. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct cpu_type;
struct err;
struct closest_matches;
struct pfm;

struct catalog_mask {
	const char *name; /* "" for a mask of a classic row without a name */
	const char *about;
	uint64_t value; /* the unit mask alone, as OProfile shows it */
	/* Config of the event with this mask; for libpfm, see `known`. */
	uint64_t config;
	uint64_t config1;
	uint64_t counters; /* counters according to a list (event_counters.h); 0: any */
	bool is_default;
	bool precise;
	bool known; /* the event comes from libpfm, and config and config1 are set */
	uint16_t name_len; /* speeds up searches among hundreds of names */
};

struct catalog_event {
	const char *name;
	const char *about;
	uint64_t code;   /* event code without a unit mask */
	uint64_t config; /* see struct catalog_mask */
	uint64_t config1;
	uint64_t counters; /* counters according to a list (event_counters.h); 0: any */
	bool whole;        /* can be counted without a unit mask */
	bool precise;      /* can be sampled precisely (PEBS, IBS) */
	bool from_pfm;     /* true: libpfm; false: one of our lists */
	bool known;   /* the event comes from libpfm, and config and config1 are set */
	bool refused; /* from libpfm, which does not encode it without a unit mask */
	bool classic; /* the event comes from a table of OProfile's names (classic.h) */
	/* For a classic row: name of its default mask, or NULL. */
	const char *default_name;
	/* Name of the event that this is an alternative name of, perhaps with .MASK; else
	 * NULL. */
	const char *same_as;
	uint32_t min_count; /* the smallest sensible period */
	size_t first_mask;  /* index in the catalogue's masks */
	size_t nr_masks;
};

struct event_catalog {
	const struct cpu_type *cpu;
	VEC(struct catalog_event) events;
	VEC(struct catalog_mask) masks;
	VEC(char *) texts;        /* owns the strings of names */
	struct pfm *pfm;          /* NULL: libpfm is not used */
	unsigned int nr_counters; /* 0: unknown */
};

/* Returns whether a source of this build can have events of `cpu`. True does not mean that there
 * are any: libpfm4 can be missing on this machine. */
bool event_catalog_has(const struct cpu_type *cpu);
/* Opens the catalogue of `cpu`. Returns 0, -ENODATA with a message if this build has no events
 * of it, or -ENOMEM. */
int event_catalog_open(const struct cpu_type *cpu, struct event_catalog **ret_catalog,
		       struct err *err);
void event_catalog_close(struct event_catalog *c); /* accepts NULL */

/* Finds an event by name, ignoring case. Returns NULL if it does not exist. If `from` is not NULL,
 * it is a result of this function, and the search continues after it: several sources can have an
 * event of one name. */
const struct catalog_event *event_catalog_find(const struct event_catalog *c,
					       const char *name,
					       const struct catalog_event *from);
/* Returns the unit mask number `i` of an event, or NULL after the last one. */
const struct catalog_mask *event_catalog_mask(const struct event_catalog *c,
					      const struct catalog_event *event,
					      size_t i);
/* Returns whether an event of this name has a unit mask of this name, ignoring case. */
bool event_catalog_has_mask(const struct event_catalog *c, const char *event,
			    const char *mask);
/* Adds all names as candidates, and the classic names (cpu_types.h) for which this CPU has an
 * event. */
void event_catalog_suggest(const struct event_catalog *c, struct closest_matches *near);
/* Sets *ret_mask to the default unit mask, or 0 for an event without masks. Returns false and
 * sets nothing if a mask must be given. */
bool event_catalog_default(const struct event_catalog *c,
			   const struct catalog_event *event, uint64_t *ret_mask);

/* Returns the counters that can count the event with that mask, or with any of its masks if `mask`
 * is NULL (event_counters.h). Returns 0 if any counter can and the number of counters is
 * unknown. */
uint64_t event_catalog_counters(const struct event_catalog *c,
				const struct catalog_event *event,
				const struct catalog_mask *mask);

/* Returns the libpfm version of the build, or NULL if it was built without. */
const char *event_pfm_version(void);

/* An event together with a unit mask. */
struct catalog_choice {
	const struct catalog_event *event;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	uint64_t unit_mask;
	uint64_t counters; /* counters that can count it (event_counters.h); 0: any */
	bool precise;      /* can be sampled precisely */
	const struct catalog_mask *mask; /* the mask if it is a single one, else NULL */
};
/* Finds an event and encodes its masks. `name` is the event's name or the vendor's EVENT.MASK.
 * `masks` is a number or names joined by +, or NULL or "" for the default. Returns 0; -ENOENT
 * without a message (unknown event); or -EINVAL with a message (the mask is unknown or
 * ambiguous, or the masks cannot be combined). */
int event_catalog_choose(const struct event_catalog *c, const char *name,
			 const char *masks, struct catalog_choice *ret_choice,
			 struct err *err);
