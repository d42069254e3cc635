/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemonrc.h - the settings that opcontrol keeps in ~root/.oprofile/daemonrc.
 * Layer: daemon.  The lines are KEY=VALUE as in OProfile's opcontrol (opcontrol of OProfile
 * 0.9.9, do_save_setup and do_load_setup): a key is letters, digits and _; the value is
 * everything after the first =. Quotes, comments and empty lines are interpreted as in a shell.
 * Unknown keys are kept, in order. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct buf;
struct err;

enum {
	DAEMONRC_VALUE_MAX =
		4000, /* bytes of a value; a request to the daemon is 4096 */
	DAEMONRC_KEYS_MAX = 256
};

struct daemonrc_entry {
	char *key;
	char *value;
};

/* Zero-initialized means empty. */
struct daemonrc {
	VEC(struct daemonrc_entry) entries;
};

/* Adds the lines in `bytes`; if a key occurs twice, the last one counts.  `name` is the file name
 * for messages.  Returns 0; -EINVAL with a message in *err that names file and line number,
 * keeping the lines before; or -ENOMEM. */
int daemonrc_parse(struct daemonrc *rc, const char *name, const void *bytes, size_t len,
		   struct err *err);
/* Adds the lines of the file at `path` as daemonrc_parse() does. Returns the same, -ENOENT without
 * a message if the file does not exist, or another negative errno with a message in *err. */
int daemonrc_load(struct daemonrc *rc, const char *path, struct err *err);
/* Appends the settings to `out` as the text of a daemonrc file. */
void daemonrc_write(const struct daemonrc *rc, struct buf *out);
/* Replaces the file atomically (mode 0644) and creates its directory.  Returns 0 or a negative
 * errno with a message in *err. */
int daemonrc_save(const struct daemonrc *rc, const char *path, struct err *err);

/* Returns the value, or NULL if the key is not set; valid until the key is set again. */
const char *daemonrc_get(const struct daemonrc *rc, const char *key);
/* Returns the value as a number, or `otherwise` if it is not set or not a number. */
uint64_t daemonrc_number(const struct daemonrc *rc, const char *key,
			 uint64_t otherwise);
/* Sets the key; NULL removes it.  Returns 0; -EINVAL for a key or value that the file cannot
 * represent; -E2BIG; -ENOMEM. */
int daemonrc_set(struct daemonrc *rc, const char *key, const char *value);
int daemonrc_set_number(struct daemonrc *rc, const char *key, uint64_t value);

/* The events: keys CHOSEN_EVENTS_0 to CHOSEN_EVENTS_(NR_CHOSEN - 1). */
size_t daemonrc_nr_events(const struct daemonrc *rc);
const char *daemonrc_event(const struct daemonrc *rc, size_t i);
void daemonrc_clear_events(struct daemonrc *rc);
/* Appends an event to that list. Returns the same as daemonrc_set(). */
int daemonrc_add_event(struct daemonrc *rc, const char *spec);

void daemonrc_done(struct daemonrc *rc);
