/* SPDX-License-Identifier: GPL-2.0-or-later */
/* catalog_priv.h - the sources of a catalogue; used by event_catalog*.c and tests.
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/events/catalog.h"

/* Adds the events of a text in the format of lists/. The text is copied. Returns 0, -ENOMEM, or
 * -EBADMSG with a message that contains `where` and the line number. */
int event_list_add(struct event_catalog *c, const char *where, const char *text,
		   struct err *err);
/* Returns the built-in list with that name, or NULL. */
const char *event_list_text(const char *name);
/* Sorts the events by name. Events of libpfm come before those of a list with the same name. */
void event_catalog_sort(struct event_catalog *c);
/* Returns a sensible minimum period for an event of this name. It is larger for clocks and
 * instructions, which occur more often than other events. */
uint32_t event_min_count(const char *name);
/* Appends an event without masks; append its masks next. Returns 0 or -ENOMEM. */
int event_catalog_add(struct event_catalog *c, const struct catalog_event *event);
/* Appends a mask to the last event and sets the length of the mask's name. Returns 0 or
 * -ENOMEM. */
int event_catalog_add_mask(struct event_catalog *c, const struct catalog_mask *mask);

/* Returns the default mask, or NULL. */
const struct catalog_mask *event_mask_default(const struct event_catalog *c,
					      const struct catalog_event *e);
/* Finds a mask by the first `len` bytes of `name`, ignoring case. Returns NULL if it does not
 * exist. */
const struct catalog_mask *event_mask_named(const struct event_catalog *c,
					    const struct catalog_event *e,
					    const char *name, size_t len);

/* Adds the events of libpfm's table `pmu`. Uses the built-in tables if they match the installed
 * library or none is installed. Returns 0, -EOPNOTSUPP (neither a library nor built-in tables),
 * -ENOENT (no such table) or -ENOMEM. */
int event_pfm_add(struct event_catalog *c, const char *pmu);
/* Like event_pfm_add(), but always uses the library. If `ret_path` is not NULL, it is set to the
 * library's path, borrowed from the catalogue. */
int event_pfm_walk(struct event_catalog *c, const char *pmu, const char **ret_path);
/* Lets the library encode "EVENT:MASK:MASK" of the table `pmu` as config words. Returns 0, or
 * -EINVAL with a message in *err. */
int event_pfm_encode(struct pfm *pfm, const char *pmu, const char *event,
		     uint64_t ret_config[3], struct err *err);
/* Unloads the library. Call this last, because the catalogue's events borrow the library's
 * strings. */
void event_pfm_close(struct pfm *pfm);
