/* events.h - the forms in which ophelp shows a catalogue.
 * Layer: present. */
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "capture/events/catalog.h"

struct event_cores;
struct event_request;

/* Which events: all, or those that have the word in name, text or a unit mask. */
struct events_view {
	const struct event_catalog *catalog;
	const char *word;      /* NULL: all */
	uint64_t count_factor; /* of least counts: 15 when call chains are recorded */
	const struct event_cores
		*cores; /* which of this machine; NULL: all are alike */
	size_t nr_kinds;
};

/* The i-th event of a view from *at on, NULL behind the last; moves *at behind it. */
const struct catalog_event *events_view_next(const struct events_view *view,
					     size_t *at);
/* oprofile-behaviour.md 1.6.  Each returns how many events were written.  XML and JSON are one
 * document of all kinds of cores. */
size_t events_write_text(FILE *out, const struct events_view *view);
size_t events_write_xml(FILE *out, const struct events_view *views, size_t nr);
size_t events_write_json(FILE *out, const struct events_view *views, size_t nr);
/* What specifications became: type and config words, for --check-events --json. */
void events_write_requests(FILE *out, const struct event_request *events, size_t nr);
