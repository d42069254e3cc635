/* catalog.h - the events of one type of CPU: names, unit masks, codes.
 * Layer: capture.  Two sources: libpfm4's tables, where the build has them, and the lists of our
 * own in lists/ (docs/events.md).  Read-only once open, but libpfm4 is loaded when
 * something is asked that its tables do not tell: one thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct cpu_type;
struct err;
struct nearest_few;
struct pfm;

struct catalog_mask {
	const char *name;
	const char *about;
	uint64_t value;  /* the unit mask alone, as OProfile shows it */
	uint64_t config; /* of the whole event; of libpfm's where known */
	uint64_t config1;
	uint64_t counters; /* as a list has them; 0: any */
	bool is_default;
	bool precise;
	bool known;        /* one of libpfm's whose config words are here */
	uint16_t name_len; /* names are looked for among hundreds */
};

struct catalog_event {
	const char *name;
	const char *about;
	uint64_t code;   /* of the event alone */
	uint64_t config; /* as a mask's */
	uint64_t config1;
	uint64_t counters; /* as a list has them; 0: any */
	bool whole;        /* counts something without a unit mask */
	bool precise;      /* can be sampled precisely (PEBS, IBS) */
	bool from_pfm;     /* else from a list of ours */
	bool known;        /* one of libpfm's whose config words are here */
	bool refused;      /* one of libpfm's that has none without a unit mask */
	const char
		*same_as;   /* another name of that event: MASK may follow; else NULL */
	uint32_t min_count; /* the smallest period that makes sense */
	size_t first_mask;  /* in the catalogue's masks */
	size_t nr_masks;
};

struct event_catalog {
	const struct cpu_type *cpu;
	VEC(struct catalog_event) events;
	VEC(struct catalog_mask) masks;
	VEC(char *) texts;        /* what names point into */
	struct pfm *pfm;          /* NULL: nothing of libpfm */
	unsigned int nr_counters; /* 0: not known */
};

/* Opens that of `cpu`.  -ENODATA with a line when this build has no events of it; -ENOMEM. */
int event_catalog_open(const struct cpu_type *cpu, struct event_catalog **ret_catalog,
		       struct err *err);
void event_catalog_close(struct event_catalog *c); /* NULL is fine */

/* By name in any case of letters; NULL if there is none.  `from` continues behind an event of
 * the same name (its second source), NULL begins. */
const struct catalog_event *event_catalog_find(const struct event_catalog *c,
					       const char *name,
					       const struct catalog_event *from);
const struct catalog_mask *event_catalog_mask(const struct event_catalog *c,
					      const struct catalog_event *event,
					      size_t i);
bool event_catalog_has_mask(const struct event_catalog *c, const char *event,
			    const char *mask);
/* Offers all names, and those classic ones (cpu_types.h) that this CPU has an event for. */
void event_catalog_nearest(const struct event_catalog *c, struct nearest_few *near);
/* The unit mask that is taken where none is given, 0 for an event without masks; false, and
 * nothing written, where one must be given. */
bool event_catalog_default(const struct event_catalog *c,
			   const struct catalog_event *event, uint64_t *ret_mask);

/* The counters that can count it with that mask, with any of its masks where `mask` is NULL
 * (event_counters.h); 0: any, how many there are is not known. */
uint64_t event_catalog_counters(const struct event_catalog *c,
				const struct catalog_event *event,
				const struct catalog_mask *mask);

/* The version of libpfm that the build knows, NULL where it has none. */
const char *event_pfm_version(void);

/* What an event is with a unit mask. */
struct catalog_choice {
	const struct catalog_event *event;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	uint64_t unit_mask;
	uint64_t counters; /* that can count it (event_counters.h); 0: any */
	bool precise;      /* can be sampled precisely */
	const struct catalog_mask *mask; /* where it is one alone, else NULL */
};
/* `name` is an event's or vendor's EVENT.MASK; `masks` a number or names joined by +, NULL or
 * "" for the default.  0; -ENOENT without a text (no such event), -EINVAL with a line: the
 * mask is unknown, means several, or may not be joined. */
int event_catalog_choose(const struct event_catalog *c, const char *name,
			 const char *masks, struct catalog_choice *ret_choice,
			 struct err *err);
