/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemonrc.h - the settings that opcontrol keeps in ~root/.oprofile/daemonrc.
 * Layer: daemon.  Lines KEY=VALUE as OProfile's opcontrol wrote and read them (opcontrol of
 * OProfile 0.9.9, do_save_setup and do_load_setup): a key is letters, digits and _, the value is
 * all behind the first =.  A value in quotes, a comment and an empty line are taken as a shell
 * takes them.  Keys that we do not know are kept, in their order. */
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

/* All zero is empty. */
struct daemonrc {
	VEC(struct daemonrc_entry) entries;
};

/* Adds the lines of a file's bytes; of a key that is there twice the last counts.  `name` is the
 * file's in messages.  0; -EINVAL with a line that names file and line number, what came before
 * is kept; -ENOMEM. */
int daemonrc_parse(struct daemonrc *rc, const char *name, const void *bytes, size_t len,
		   struct err *err);
/* The same of a file.  -ENOENT without a text if there is none. */
int daemonrc_load(struct daemonrc *rc, const char *path, struct err *err);
/* The file's text. */
void daemonrc_write(const struct daemonrc *rc, struct buf *out);
/* Replaces the file as a whole (mode 0644) and makes its folder.  0 or a negative errno with a
 * line. */
int daemonrc_save(const struct daemonrc *rc, const char *path, struct err *err);

/* The value, NULL where it is not set; lives until the key is set again. */
const char *daemonrc_get(const struct daemonrc *rc, const char *key);
/* As a number; `otherwise` where it is not set or is none. */
uint64_t daemonrc_number(const struct daemonrc *rc, const char *key,
			 uint64_t otherwise);
/* Sets it, NULL takes the key out.  0; -EINVAL for a key or value that cannot be in the file;
 * -E2BIG; -ENOMEM. */
int daemonrc_set(struct daemonrc *rc, const char *key, const char *value);
int daemonrc_set_number(struct daemonrc *rc, const char *key, uint64_t value);

/* The events, CHOSEN_EVENTS_0 to NR_CHOSEN - 1. */
size_t daemonrc_nr_events(const struct daemonrc *rc);
const char *daemonrc_event(const struct daemonrc *rc, size_t i);
void daemonrc_clear_events(struct daemonrc *rc);
/* 0 or what daemonrc_set() says. */
int daemonrc_add_event(struct daemonrc *rc, const char *spec);

void daemonrc_done(struct daemonrc *rc);
