/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.h - writes an event catalogue in the formats of ophelp.
 * Layer: present. */
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "capture/events/catalog.h"

struct event_cores;
struct event_request;

/* The events to show: all of them, or only those that contain `word` in the name, the description
 * or a unit mask. */
struct events_view {
	const struct event_catalog *catalog;
	const char *word;      /* NULL: all */
	uint64_t count_factor; /* multiplies minimum counts: 15 with call chains */
	const struct event_cores *
		cores; /* the kind of cores that has these events; NULL: all cores are alike */
	size_t nr_kinds;
};

/* Returns the next event of a view from index *at on and advances *at past it; NULL at the end. */
const struct catalog_event *events_view_next(const struct events_view *view,
					     size_t *at);
/* Write the list of events: as text and XML in the formats of OProfile's ophelp, or as JSON.
 * Each returns the number of events written.  XML and JSON put all kinds of cores into a single
 * document. */
size_t events_write_text(FILE *out, const struct events_view *view);
size_t events_write_xml(FILE *out, const struct events_view *views, size_t nr);
size_t events_write_json(FILE *out, const struct events_view *views, size_t nr);
/* Writes the type and config values of parsed specifications, for --check-events --json. */
void events_write_requests(FILE *out, const struct event_request *events, size_t nr);
