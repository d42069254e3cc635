/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classic.h - OProfile's event names for the CPU types that it knows: code, unit masks, default.
 * Layer: capture, private to events/.  The rows of lists/classic/ (docs/events.md) become the last
 * source of a catalogue. */
#pragma once
#include <stdbool.h>

struct catalog_event;
struct cpu_type;
struct err;
struct event_catalog;

/* Returns true if there is a table for this CPU type. */
bool event_classic_has(const struct cpu_type *cpu);
/* Adds the events of the table for the catalogue's CPU type; call it after adding all other
 * sources. Descriptions come from events of other sources with the same code. Returns 0, -ENOMEM,
 * or -EBADMSG with a message. */
int event_classic_add(struct event_catalog *c, struct err *err);
/* Like event_classic_add(), for the text of a table. `where` names it in messages. */
int event_classic_add_text(struct event_catalog *c, const char *where, const char *text,
			   struct err *err);
/* Takes descriptions, counters and precision, which the table lacks, from the events of other
 * sources. Call it once after the last event_classic_add_text(). Returns 0 or -ENOMEM. */
int event_classic_describe(struct event_catalog *c);
/* Finds the row of this name. Exact case has precedence over other case. Returns NULL if the
 * table has none. */
const struct catalog_event *event_classic_find(const struct event_catalog *c,
					       const char *name);
