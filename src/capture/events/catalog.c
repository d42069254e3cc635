/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/events/catalog.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/containers/closest_match.h"
#include "base/err.h"
#include "base/parse.h"
#include "capture/events/catalog_priv.h"
#include "capture/events/classic.h"
#include "capture/events/cpu_types.h"
#include "capture/events/event_counters.h"

enum {
	MIN_CYCLES = 6000, /* OProfile's minimum counts */
	MIN_OTHER = 500
};

uint32_t event_min_count(const char *name)
{
	static const char *const quick[] = { "cyc",  "clk", "inst", "uop",
					     "slot", "ops", "clock" };

	for (size_t i = 0; i < COUNT_OF(quick); i++)
		if (strcasestr(name, quick[i]))
			return MIN_CYCLES;
	return MIN_OTHER;
}

int event_catalog_add(struct event_catalog *c, const struct catalog_event *event)
{
	struct catalog_event e = *event;

	e.first_mask = c->masks.nr;
	e.nr_masks = 0;
	return vec_push(&c->events, e) ? 0 : -ENOMEM;
}

int event_catalog_add_mask(struct event_catalog *c, const struct catalog_mask *mask)
{
	struct catalog_mask m = *mask;

	m.name_len = (uint16_t)strlen(m.name);
	if (!vec_push(&c->masks, m))
		return -ENOMEM;
	c->events.at[c->events.nr - 1].nr_masks++;
	return 0;
}

static int event_catalog_by_name(const void *left, const void *right)
{
	const struct catalog_event *a = left;
	const struct catalog_event *b = right;
	int order = strcasecmp(a->name, b->name);

	if (order)
		return order;
	if (a->from_pfm != b->from_pfm)
		return a->from_pfm ? -1 : 1;
	if (a->classic != b->classic)
		return b->classic ? -1 : 1;
	return a->first_mask < b->first_mask ? -1 : a->first_mask > b->first_mask;
}

/* Sorts the events by name and drops duplicates. The list of a CPU was added before that of its
 * architecture, so its rows are kept. */
void event_catalog_sort(struct event_catalog *c)
{
	size_t nr = 0;

	if (c->events.nr)
		qsort(c->events.at, c->events.nr, sizeof(c->events.at[0]),
		      event_catalog_by_name);
	for (size_t i = 0; i < c->events.nr; i++) {
		const struct catalog_event *e = &c->events.at[i];

		if (nr && !e->from_pfm && !e->classic &&
		    !c->events.at[nr - 1].from_pfm &&
		    !strcasecmp(c->events.at[nr - 1].name, e->name))
			continue;
		c->events.at[nr++] = *e;
	}
	c->events.nr = nr;
}

static int event_catalog_add_list(struct event_catalog *c, const char *name,
				  struct err *err)
{
	const char *text = name ? event_list_text(name) : NULL;

	return text ? event_list_add(c, name, text, err) : 0;
}

/* Returns an upper limit for the minimum count of an event. It is needed because OProfile permits
 * lower counts than our defaults for some CPU types and events. */
static uint32_t event_catalog_max_count(const struct cpu_type *cpu, const char *name)
{
	static const struct {
		const char *cpus;
		const char *names;
		uint32_t max;
	} rows[] = { { "i386/p4", "*", 3000 },
		     { "ppc64/*", "PM_MRK*", 100 },
		     { "ppc64/*", "*", 1000 },
		     { "alpha/*", "*", 500 } };

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (!fnmatch(rows[i].cpus, cpu->name, 0) &&
		    !fnmatch(rows[i].names, name, 0))
			return rows[i].max;
	return UINT32_MAX;
}

static void event_catalog_lower_counts(struct event_catalog *c)
{
	for (size_t i = 0; i < c->events.nr; i++) {
		struct catalog_event *e = &c->events.at[i];
		const struct catalog_event *classic = event_classic_find(c, e->name);
		uint32_t max = event_catalog_max_count(c->cpu, e->name);

		if (classic && classic->min_count < e->min_count)
			e->min_count = classic->min_count;
		if (e->min_count > max)
			e->min_count = max;
	}
}

bool event_catalog_has(const struct cpu_type *cpu)
{
	return cpu->pfm || cpu->list || cpu->common || event_classic_has(cpu);
}

int event_catalog_open(const struct cpu_type *cpu, struct event_catalog **ret_catalog,
		       struct err *err)
{
	struct event_catalog *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(err, -ENOMEM, "out of memory");
	c->cpu = cpu;
	r = cpu->pfm ? event_pfm_add(c, cpu->pfm) : 0;
	if (r == -EOPNOTSUPP || r == -ENOENT)
		r = 0; /* our lists can still contain events of this CPU */
	if (!r)
		r = event_catalog_add_list(c, cpu->list, err);
	if (!r)
		r = event_catalog_add_list(c, cpu->common, err);
	if (!r)
		r = event_classic_add(c, err);
	if (!r && !c->events.nr)
		r = err_set(err, -ENODATA,
			    "no list of events of the CPU type %s (%s)%s", cpu->name,
			    cpu->title,
			    cpu->pfm ? " without libpfm4: install libpfm4" : "");
	if (r) {
		event_catalog_close(c);
		return r;
	}
	/* Prefer our number: that of libpfm4 includes counters that a hyperthread has only while
	 * its sibling is idle. */
	if (cpu->nr_counters)
		c->nr_counters = cpu->nr_counters;
	event_catalog_sort(c);
	event_catalog_lower_counts(c);
	*ret_catalog = c;
	return 0;
}

void event_catalog_close(struct event_catalog *c)
{
	if (!c)
		return;
	vec_done(&c->events);
	vec_done(&c->masks);
	for (size_t i = 0; i < c->texts.nr; i++)
		free(c->texts.at[i]);
	vec_done(&c->texts);
	event_pfm_close(c->pfm);
	free(c);
}

static size_t event_catalog_first_of(const struct event_catalog *c, const char *name)
{
	size_t low = 0;
	size_t high = c->events.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcasecmp(c->events.at[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct catalog_event *event_catalog_find(const struct event_catalog *c,
					       const char *name,
					       const struct catalog_event *from)
{
	size_t i = from ? (size_t)(from - c->events.at) + 1
			: event_catalog_first_of(c, name);

	if (i < c->events.nr && !strcasecmp(c->events.at[i].name, name))
		return &c->events.at[i];
	return NULL;
}

const struct catalog_mask *event_catalog_mask(const struct event_catalog *c,
					      const struct catalog_event *event,
					      size_t i)
{
	return i < event->nr_masks ? &c->masks.at[event->first_mask + i] : NULL;
}

/* Returns whether a mask's name begins with the `len` bytes of `name`. Ignores case; a '.' in
 * `name` matches '_', because OProfile and the vendors write dots in some names. */
static bool event_mask_is_named(const char *mask, const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (tolower((unsigned char)mask[i]) !=
			    tolower((unsigned char)name[i]) &&
		    (mask[i] != '_' || name[i] != '.'))
			return false;
	return true;
}

const struct catalog_mask *event_mask_named(const struct event_catalog *c,
					    const struct catalog_event *e,
					    const char *name, size_t len)
{
	for (size_t i = 0; i < e->nr_masks; i++) {
		const struct catalog_mask *mask = &c->masks.at[e->first_mask + i];

		if (len && mask->name_len == len &&
		    event_mask_is_named(mask->name, name, len))
			return mask;
	}
	return NULL;
}

bool event_catalog_has_mask(const struct event_catalog *c, const char *event,
			    const char *mask)
{
	const struct catalog_event *e = NULL;

	while ((e = event_catalog_find(c, event, e)))
		if (event_mask_named(c, e, mask, strlen(mask)))
			return true;
	return false;
}

void event_catalog_suggest(const struct event_catalog *c, struct closest_matches *near)
{
	struct catalog_choice choice;
	const char *name;
	size_t at = 0;

	while ((name = cpu_type_classic_next(&at)))
		if (cpu_type_classic(c->cpu, name, 0) &&
		    !event_catalog_choose(c, name, NULL, &choice, NULL))
			closest_matches_try(near, name);
	for (size_t i = 0; i < c->events.nr; i++)
		closest_matches_try(near, c->events.at[i].name);
}

const struct catalog_mask *event_mask_default(const struct event_catalog *c,
					      const struct catalog_event *e)
{
	const struct catalog_mask *mask;

	for (size_t i = 0; (mask = event_catalog_mask(c, e, i)); i++)
		if (mask->is_default)
			return mask;
	return e->nr_masks == 1 && !e->whole ? event_catalog_mask(c, e, 0) : NULL;
}

bool event_catalog_default(const struct event_catalog *c, const struct catalog_event *e,
			   uint64_t *ret_mask)
{
	const struct catalog_event *source = NULL;
	struct catalog_choice choice;

	if (event_classic_find(c, e->name) &&
	    !event_catalog_choose(c, e->name, NULL, &choice, NULL)) {
		*ret_mask = choice.unit_mask;
		return true;
	}
	/* Do not encode the event to decide this: for the events of a whole list, libpfm4 would
	 * need a millisecond. */
	while ((source = event_catalog_find(c, e->name, source))) {
		const struct catalog_mask *mask = event_mask_default(c, source);

		if (!mask && source->nr_masks && !source->whole)
			continue;
		*ret_mask = mask ? mask->value : 0;
		return true;
	}
	/* If the event's name is also a classic name, that can define the default mask. */
	if (!cpu_type_classic(c->cpu, e->name, 0) ||
	    event_catalog_choose(c, e->name, NULL, &choice, NULL))
		return false;
	*ret_mask = choice.unit_mask;
	return true;
}

/* ---- counters ---- */

/* Returns the counters according to a list. libpfm4 does not report them, so for its events this
 * searches the vendor's list for the same event. */
static uint64_t listed_counters(const struct event_catalog *c,
				const struct catalog_event *e,
				const struct catalog_mask *mask)
{
	while (e && e->from_pfm)
		e = event_catalog_find(c, e->name, e);
	if (e && mask)
		mask = event_mask_named(c, e, mask->name, strlen(mask->name));
	if (!e || (!mask && e->nr_masks))
		return 0;
	return mask ? mask->counters : e->counters;
}

static uint64_t counters_with(const struct event_catalog *c,
			      const struct catalog_event *e,
			      const struct catalog_mask *mask)
{
	uint64_t config = e->from_pfm ? e->code : e->config;

	if (mask)
		config = e->from_pfm ? e->code | mask->value << 8 : mask->config;
	return event_counters_of(c->cpu, c->nr_counters, listed_counters(c, e, mask),
				 config);
}

uint64_t event_catalog_counters(const struct event_catalog *c,
				const struct catalog_event *e,
				const struct catalog_mask *mask)
{
	uint64_t all = 0;

	if (mask || !e->nr_masks)
		return counters_with(c, e, mask);
	for (size_t i = 0; (mask = event_catalog_mask(c, e, i)); i++) {
		uint64_t one = counters_with(c, e, mask);

		if (!one)
			return 0;
		all |= one;
	}
	return all;
}
