/* catalog_priv.h - the sources of a catalogue; used by event_catalog*.c and tests.
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/events/catalog.h"

/* Adds the events of a text such as those in lists/; the text is copied.  0, -ENOMEM, or
 * -EBADMSG with a line that names `where` and the line's number. */
int event_list_add(struct event_catalog *c, const char *where, const char *text,
		   struct err *err);
/* The built-in list of that name, or NULL. */
const char *event_list_text(const char *name);
/* Sorts the events by name; those of libpfm stand before a list's of the same name. */
void event_catalog_sort(struct event_catalog *c);
/* What is a sane least period: clocks and instructions are quicker than other events. */
uint32_t event_min_count(const char *name);
/* Appends an event without masks; its masks are pushed behind it.  -ENOMEM. */
int event_catalog_add(struct event_catalog *c, const struct catalog_event *event);
/* Appends a mask of the event that was appended last, with the length of its name.  -ENOMEM. */
int event_catalog_add_mask(struct event_catalog *c, const struct catalog_mask *mask);

/* The mask that is taken where none is given, or NULL. */
const struct catalog_mask *event_mask_default(const struct event_catalog *c,
					      const struct catalog_event *e);
/* By name in any case of letters, `len` bytes of it; NULL if there is none. */
const struct catalog_mask *event_mask_named(const struct event_catalog *c,
					    const struct catalog_event *e,
					    const char *name, size_t len);

/* Adds the events of libpfm's table `pmu`, from the build's tables where the library that is here
 * is the one that they are of, or none is here.  0; -EOPNOTSUPP: no libpfm here or in the build;
 * -ENOENT: it has no such table; -ENOMEM. */
int event_pfm_add(struct event_catalog *c, const char *pmu);
/* The same by the library alone, whose path is written to `ret_path` if that is not NULL; it is
 * borrowed from the catalogue. */
int event_pfm_walk(struct event_catalog *c, const char *pmu, const char **ret_path);
/* The library's config words of "EVENT:MASK:MASK" in the table `pmu`.  0 or -EINVAL with a line. */
int event_pfm_encode(struct pfm *pfm, const char *pmu, const char *event,
		     uint64_t ret_config[3], struct err *err);
/* The catalogue's events are borrowed from it: closed last. */
void event_pfm_close(struct pfm *pfm);
