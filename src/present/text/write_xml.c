/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_xml.c - implements opreport --xml: OProfile's schema 3.1 (docs/xml.md), including
 * the blanks before attributes. */
#include "present/text/write_xml.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/count/classes.h"
#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/text/html_text.h"
#include "present/text/text_writers.h"
#include "present/text/write_xml_priv.h"

enum {
	TYPE_MAX = 64
};

/* ---- attributes ---- */

void xml_put_attribute(struct xml *x, const char *name, const char *value)
{
	fprintf(x->out, " %s=\"", name);
	html_put(x->out, value);
	fputc('"', x->out);
}

void xml_put_number(struct xml *x, const char *name, uint64_t value)
{
	fprintf(x->out, " %s=\"%" PRIu64 "\"", name, value);
}

static void put_signed(struct xml *x, const char *name, int64_t value)
{
	fprintf(x->out, " %s=\"%" PRId64 "\"", name, value);
}

const char *xml_text_of(struct xml *x, uint32_t group, int key)
{
	return profile_text(x->tree.p, group, (size_t)key);
}

/* Returns the length of the file name in "dir/t.c:5", or 0 if there is no line number. */
size_t xml_file_bytes(const char *position)
{
	const char *colon = strrchr(position, ':');

	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
		return 0;
	return (size_t)(colon - position);
}

void xml_put_line(struct xml *x, const char *position, bool with_file)
{
	size_t len = xml_file_bytes(position);

	if (!len)
		return;
	if (with_file) {
		fputs(" file=\"", x->out);
		html_put_len(x->out, position, len);
		fputc('"', x->out);
	}
	xml_put_attribute(x, "line", position + len + 1);
}

/* ---- the recording ---- */

static void write_xml_put_root(struct xml *x)
{
	const struct profile *p = x->tree.p;
	const struct xml_about *about = x->options->xml;
	char type[TYPE_MAX];
	char *slash;
	size_t nr_cpus = 0;

	(void)snprintf(type, sizeof(type), "%s",
		       about->cpu_type ? about->cpu_type : "unknown/unknown");
	slash = strchr(type, '/');
	if (slash)
		*slash = '\0';
	fputs("<?xml version=\"1.0\" ?>\n<profile  schemaversion=\"3.1\"", x->out);
	xml_put_attribute(x, "cputype", type);
	fputs("\n", x->out);
	xml_put_attribute(x, "processor", slash ? slash + 1 : type);
	fputs("\n", x->out);
	for (size_t c = 0; c < x->tree.classes.nr; c++)
		nr_cpus += !c ||
			   x->tree.classes.at[c].cpu != x->tree.classes.at[c - 1].cpu;
	if (x->tree.keys.cpu >= 0) {
		xml_put_number(x, "separatedcpus", nr_cpus);
		fputs("\n", x->out);
	}
	fprintf(x->out, " mhz=\"%.2f\"\n", p->input.cpu_mhz);
	xml_put_attribute(x, "title", about->title ? about->title : "");
	fputs(">\n", x->out);
}

static void put_given(struct xml *x, const char *name, const char *value)
{
	if (value && *value)
		xml_put_attribute(x, name, value);
}

static void put_options(struct xml *x)
{
	const struct present_options *o = x->options;
	const struct xml_about *about = o->xml;

	fputs("<options ", x->out);
	put_given(x, "session", about->session);
	put_given(x, "debuginfo", o->debug_info ? "true" : NULL);
	put_given(x, "details", o->details ? "true" : NULL);
	put_given(x, "excludedependent", about->exclude_dependent ? "true" : NULL);
	put_given(x, "excludesymbols", about->exclude_symbols);
	put_given(x, "imagepath", about->image_path);
	put_given(x, "includesymbols", about->include_symbols);
	put_given(x, "merge", about->merge);
	put_given(x, "reversesort", o->reverse ? "true" : NULL);
	fputs("/>\n", x->out);
}

static size_t event_id(const struct xml *x, uint32_t event)
{
	size_t id = 0;

	while (id < x->events.nr && x->events.at[id] != event)
		id++;
	return id;
}

static void write_xml_put_event(struct xml *x, size_t id)
{
	const struct profile *p = x->tree.p;
	const struct profile_event *e = &p->events.at[x->events.at[id]];

	fputs("<eventsetup ", x->out);
	xml_put_number(x, "id", id);
	xml_put_attribute(x, "eventname", strtab_get(&p->strings, e->name));
	xml_put_number(x, "unitmask", e->unit_mask);
	xml_put_number(x, "setupcount", e->count);
	fputs("/>\n", x->out);
}

/* Writes <setup>: <timersetup> if the timer is the only event, or else the events. Returns 0 or
 * -ENOMEM. */
static int write_xml_put_setup(struct xml *x)
{
	const struct profile_event *events = x->tree.p->events.at;
	bool timer = true;

	for (size_t c = 0; c < x->tree.classes.nr; c++) {
		uint32_t event = x->tree.classes.at[c].event;

		timer &= !!(events[event].flags & EVENT_TIMER);
		if (event_id(x, event) == x->events.nr && !vec_push(&x->events, event))
			return -ENOMEM;
	}
	fputs("<setup>\n", x->out);
	if (timer) {
		const struct profile_event *e =
			x->events.nr ? &events[x->events.at[0]] : NULL;

		fputs("<timersetup ", x->out);
		xml_put_number(x, "rtcinterrupts", e ? profile_event_hz(e) : 0);
		fputs("/>\n", x->out);
	}
	for (size_t i = 0; !timer && i < x->events.nr; i++)
		write_xml_put_event(x, i);
	fputs("</setup>\n", x->out);
	return 0;
}

static void put_classes(struct xml *x)
{
	const struct profile_event *events = x->tree.p->events.at;
	size_t nr = x->tree.classes.nr;
	bool masks = false;

	for (size_t i = 0; i < x->events.nr; i++)
		masks |= events[x->events.at[i]].unit_mask != 0;
	x->with_classes = nr > 1 || masks;
	if (!x->with_classes) {
		fputc('\n', x->out); /* as OProfile does */
		return;
	}
	fputs("<classes>\n", x->out);
	for (size_t c = 0; c < nr; c++) {
		const struct xml_class *class = &x->tree.classes.at[c];

		fprintf(x->out, "<class  name=\"c%zu\"", c);
		if (class->cpu >= 0)
			put_signed(x, "cpu", class->cpu);
		if (x->events.nr > 1)
			xml_put_number(x, "event", event_id(x, class->event));
		if (masks)
			xml_put_number(x, "mask", events[class->event].unit_mask);
		fputs("/>\n", x->out);
	}
	fputs("</classes>\n", x->out);
}

/* ---- counts ---- */

static void put_count(struct xml *x, size_t class, uint64_t count)
{
	fputs("<count", x->out);
	if (x->with_classes)
		fprintf(x->out, " class=\"c%zu\"", class);
	fprintf(x->out, ">\n%" PRIu64 "</count>\n", count);
}

/* Writes the counts of the classes that have samples.  Writes at least one count. */
void xml_put_counts(struct xml *x, const uint64_t *counts)
{
	bool any = false;

	for (size_t c = 0; c < x->tree.classes.nr; c++) {
		if (counts[c])
			put_count(x, c, counts[c]);
		any |= counts[c] != 0;
	}
	if (!any)
		put_count(x, 0, 0);
}

static const uint64_t *counts_of(const struct xml *x, const struct xml_symbol *s)
{
	return &x->tree.counts[s->counts * x->tree.classes.nr];
}

static void write_xml_put_sums(struct xml *x, size_t from, size_t end)
{
	size_t nr = x->tree.classes.nr;

	memset(x->sums, 0, nr * sizeof(*x->sums));
	for (size_t i = from; i < end; i++)
		for (size_t c = 0; c < nr; c++)
			x->sums[c] += counts_of(x, &x->tree.symbols.at[i])[c];
	xml_put_counts(x, x->sums);
}

/* ---- functions ---- */

/* Returns the index of a function in the table of symbols, which gets an entry if needed. */
static uint32_t write_xml_entry_of(struct xml *x, const struct xml_symbol *s)
{
	struct entry entry = { s->group, (uint32_t)s->function };
	bool is_new;
	struct map_slot *slot = map_at(&x->entry_by, s->image, s->function, &is_new);

	if (!slot) {
		x->failed = true;
		return 0;
	}
	if (is_new) {
		slot->value_plus_1 = (uint32_t)x->entries.nr + 1;
		x->failed |= !vec_push(&x->entries, entry);
	}
	return slot->value_plus_1 - 1;
}

/* A range of arcs: the callers or the callees of a symbol. */
struct listed {
	size_t from, end; /* indices of arcs */
	bool callees;
};

static const struct xml_arc *arc_at(const struct xml *x, const struct listed *l,
				    size_t i)
{
	return &x->tree.arcs.at[l->callees ? x->tree.arcs_out[i] : i];
}

/* Returns the symbol at the other end of an arc, or NULL if it is unknown. */
static const struct xml_symbol *other_end(const struct xml *x, const struct listed *l,
					  size_t i)
{
	const struct xml_arc *arc = arc_at(x, l, i);
	uint32_t other = l->callees ? arc->callee : arc->caller;

	return other == UINT32_MAX ? NULL
				   : &x->tree.symbols.at[x->tree.position_of[other]];
}

static void put_arc_sums(struct xml *x, const struct listed *l, size_t from, size_t end)
{
	memset(x->sums, 0, x->tree.classes.nr * sizeof(*x->sums));
	for (size_t i = from; i < end; i++)
		x->sums[arc_at(x, l, i)->class] += arc_at(x, l, i)->samples;
	xml_put_counts(x, x->sums);
}

static void put_reference(struct xml *x, const struct xml_symbol *s)
{
	fprintf(x->out, "<symbol  idref=\"%" PRIu32 "\"", write_xml_entry_of(x, s));
}

static void write_xml_open_module(struct xml *x, const struct xml_symbol *s)
{
	fputs("<module ", x->out);
	xml_put_attribute(x, "name", xml_text_of(x, s->group, x->tree.keys.image));
	fputs(">\n", x->out);
}

/* Writes arcs whose other ends are in the same image; `s` is the other end of the first. */
static void put_arcs_of_module(struct xml *x, const struct listed *l,
			       const struct xml_symbol *s, size_t from, size_t end)
{
	size_t next;

	write_xml_open_module(x, s);
	put_arc_sums(x, l, from, end);
	for (size_t i = from; i < end && s; i = next) {
		for (next = i; next < end && other_end(x, l, next) == s; next++)
			;
		put_reference(x, s);
		fputs(">\n", x->out);
		put_arc_sums(x, l, i, next);
		fputs("</symbol>\n", x->out);
		s = next < end ? other_end(x, l, next) : NULL;
	}
	fputs("</module>\n", x->out);
}

static void put_arcs(struct xml *x, const struct listed *l)
{
	size_t next;

	for (size_t i = l->from; i < l->end; i = next) {
		const struct xml_symbol *s = other_end(x, l, i);

		for (next = i + 1; s && next < l->end; next++)
			if (!other_end(x, l, next) ||
			    other_end(x, l, next)->image != s->image)
				break;
		if (s)
			put_arcs_of_module(x, l, s, i, next);
	}
}

/* Writes the function's own samples. */
static void put_self(struct xml *x, const struct xml_symbol *s)
{
	if (!xml_tree_samples(&x->tree, s))
		return;
	write_xml_open_module(x, s);
	xml_put_counts(x, counts_of(x, s));
	put_reference(x, s);
	xml_put_attribute(x, "self", "true");
	fputs(">\n", x->out);
	xml_put_counts(x, counts_of(x, s));
	fputs("</symbol>\n</module>\n", x->out);
}

/* Returns the calls of the symbol at index `at`.  Successive calls must have ascending indices. */
static struct listed next_arcs(struct xml *x, uint32_t at, bool callees)
{
	size_t *next = callees ? &x->next_out : &x->next_in;
	struct listed l = { .from = *next, .callees = callees };

	for (; *next < x->tree.arcs.nr; ++*next) {
		const struct xml_arc *arc = arc_at(x, &l, *next);
		uint32_t own = callees ? arc->caller : arc->callee;
		uint32_t position = own == UINT32_MAX ? own : x->tree.position_of[own];

		if (position < at)
			l.from = *next + 1;
		else if (position > at)
			break;
	}
	l.end = *next;
	return l;
}

static void write_xml_put_calls(struct xml *x, uint32_t at)
{
	struct listed in = next_arcs(x, at, false), out = next_arcs(x, at, true);

	fputs("<callers>\n", x->out);
	put_arcs(x, &in);
	fputs("</callers>\n<callees>\n", x->out);
	put_self(x, &x->tree.symbols.at[at]);
	put_arcs(x, &out);
	fputs("</callees>\n", x->out);
}

static size_t nr_addresses(const struct xml *x, const struct xml_symbol *s)
{
	const struct xml_detail *d = &x->tree.details.at[s->first_detail];
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_details; i++)
		nr += !i || d[i].address != d[i - 1].address;
	return nr;
}

static bool write_xml_is_shown(const struct xml *x, const struct xml_symbol *s)
{
	return percent_reached(counts_of(x, s), x->tree.totals, x->tree.classes.nr,
			       x->options->threshold);
}

static void write_xml_put_symbol(struct xml *x, uint32_t at)
{
	const struct xml_symbol *s = &x->tree.symbols.at[at];
	struct shown shown = { write_xml_entry_of(x, s), at, x->nr_details };

	put_reference(x, s);
	if (s->nr_details) {
		size_t nr = nr_addresses(x, s);

		xml_put_number(x, "detaillo", x->nr_details);
		xml_put_number(x, "detailhi", x->nr_details + nr - 1);
		x->nr_details += nr;
		x->failed |= !vec_push(&x->shown, shown);
	}
	fputs(">\n", x->out);
	if (x->tree.p->options.call_graph)
		write_xml_put_calls(x, at);
	xml_put_counts(x, counts_of(x, s));
	fputs("</symbol>\n", x->out);
}

/* ---- programs ---- */

static bool any_shown(const struct xml *x, size_t from, size_t end)
{
	for (size_t i = from; i < end; i++)
		if (write_xml_is_shown(x, &x->tree.symbols.at[i]))
			return true;
	return false;
}

static void write_xml_put_symbols(struct xml *x, size_t from, size_t end)
{
	bool reverse = x->options->reverse && !x->tree.p->options.call_graph;

	for (size_t i = from; i < end; i++) {
		size_t at = reverse ? end - 1 - (i - from) : i;

		if (write_xml_is_shown(x, &x->tree.symbols.at[at]))
			write_xml_put_symbol(x, (uint32_t)at);
	}
}

static void write_xml_put_modules(struct xml *x, size_t from, size_t end)
{
	const struct xml_symbol *all = x->tree.symbols.at;
	size_t next;

	for (size_t i = from; i < end; i = next) {
		for (next = i; next < end && all[next].image == all[i].image; next++)
			;
		if (!any_shown(x, i, next))
			continue;
		write_xml_open_module(x, &all[i]);
		write_xml_put_sums(x, i, next);
		write_xml_put_symbols(x, i, next);
		fputs("</module>\n", x->out);
	}
}

static void put_binary(struct xml *x, size_t from, size_t end)
{
	const struct xml_symbol *all = x->tree.symbols.at;
	size_t own = from;

	while (own < end && all[own].image == all[own].app)
		own++;
	fputs("<binary ", x->out);
	xml_put_attribute(x, "name", xml_text_of(x, all[from].group, x->tree.keys.app));
	fputs(">\n", x->out);
	/* Modules have separate counts. */
	write_xml_put_sums(x, from, own);
	write_xml_put_symbols(x, from, own);
	write_xml_put_modules(x, own, end);
	fputs("</binary>\n", x->out);
}

/* Writes a process with its threads. If threads are merged, all samples belong to a single thread.
 */
static void write_xml_put_process(struct xml *x, size_t from, size_t end)
{
	const struct xml_symbol *all = x->tree.symbols.at;
	size_t next;

	if (!any_shown(x, from, end))
		return;
	fputs("<process ", x->out);
	put_signed(x, "pid", all[from].pid);
	xml_put_attribute(x, "name", xml_text_of(x, all[from].group, x->tree.keys.app));
	fputs(">\n", x->out);
	write_xml_put_sums(x, from, end);
	for (size_t i = from; i < end; i = next) {
		for (next = i; next < end && all[next].tid == all[i].tid; next++)
			;
		if (!any_shown(x, i, next))
			continue;
		fputs("<thread ", x->out);
		put_signed(x, "tid", x->tree.keys.tid >= 0 ? all[i].tid : all[i].pid);
		fputs(">\n", x->out);
		write_xml_put_sums(x, i, next);
		write_xml_put_modules(x, i, next);
		fputs("</thread>\n", x->out);
	}
	fputs("</process>\n", x->out);
}

static void put_programs(struct xml *x)
{
	const struct xml_symbol *all = x->tree.symbols.at;
	size_t next;

	for (size_t i = 0; i < x->tree.symbols.nr; i = next) {
		for (next = i; next < x->tree.symbols.nr; next++)
			if (all[next].app != all[i].app || all[next].pid != all[i].pid)
				break;
		if (x->tree.threads)
			write_xml_put_process(x, i, next);
		else
			put_binary(x, i, next);
	}
}

static int write_xml_write_all(struct xml *x)
{
	write_xml_put_root(x);
	put_options(x);
	if (write_xml_put_setup(x))
		return -ENOMEM;
	put_classes(x);
	put_programs(x);
	xml_put_symbol_table(x);
	xml_put_detail_table(x);
	if (x->options->details && x->options->xml->code_of)
		xml_put_byte_table(x);
	fputs("</profile>\n", x->out);
	return x->failed ? -ENOMEM : 0;
}

int write_xml(FILE *out, struct profile *p, const struct present_options *options,
	      struct err *err)
{
	struct xml x = { .out = out, .options = options };
	int r = xml_tree_make(&x.tree, p, options);
	uint64_t *sums;

	if (r == -EINVAL) {
		xml_tree_done(&x.tree);
		return err_set(err, r,
			       "internal error: the profile lacks keys of this report");
	}
	sums = calloc(x.tree.classes.nr + 1, sizeof(*sums));
	x.sums = sums;
	if (!r)
		r = sums ? write_xml_write_all(&x) : -ENOMEM;
	free(sums);
	vec_done(&x.events);
	vec_done(&x.entries);
	vec_done(&x.shown);
	map_done(&x.entry_by);
	xml_tree_done(&x.tree);
	return r ? err_set(err, r, "out of memory") : 0;
}
