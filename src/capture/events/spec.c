/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spec.c - parses a single event specification. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/containers/closest_match.h"
#include "base/err.h"
#include "base/parse.h"
#include "capture/events/catalog.h"
#include "capture/events/cpu_types.h"
#include "capture/events/event_counters.h"
#include "capture/events/events.h"
#include "capture/events/priv.h"
#include "capture/events/tracepoint.h"

enum {
	SPEC_MAX = 512,
	MODIFIERS_BYTES = 16,
	SPEC_PARTS = 12, /* name, count, masks, kernel, user, modifiers */
	COUNT_LIMIT_BITS = 31,
	/* TIMER:N is a frequency up to this value; no period can be so short */
	RATE_MAX = 9999,
	RTC_RATE_MIN = 2,
	/* Maximum rate of RTC_INTERRUPTS; rates are powers of two. */
	RTC_RATE_MAX = 4096,
	/* IBS counts in steps of 16: perf_ibs_init() in Linux's arch/x86/events/amd/ibs.c. */
	IBS_STEP = 16
};

/* A spec, split at its colons. */
struct events_spec {
	struct event_requests *reqs;
	char text[SPEC_MAX];
	char *part[SPEC_PARTS]; /* into text */
	size_t nr_parts;
	size_t next;    /* index of the next part to read */
	bool has_masks; /* the event has unit masks */
	bool in_catalog;
	char masks[EVENT_NAME_MAX];
	char modifiers[MODIFIERS_BYTES];
	/* The libpfm4 attributes that follow an event of the catalogue. */
	const char *attributes[SPEC_PARTS];
	size_t nr_attributes;
};

/* Returns the length of the first part of a spec, up to a colon. A colon between the slashes of
 * PMU/.../ does not end it. */
static size_t part_length(const char *s)
{
	bool inside = false;
	size_t i;

	for (i = 0; s[i]; i++) {
		if (s[i] == '/')
			inside = !inside;
		else if (s[i] == ':' && !inside)
			break;
	}
	return i;
}

static int spec_split(const char *text, size_t len, struct events_spec *s,
		      struct err *err)
{
	char *at = s->text;

	if (len >= sizeof(s->text))
		return err_set(err, -EINVAL, "event of %zu bytes is too long", len);
	memcpy(s->text, text, len);
	s->text[len] = '\0';
	for (;;) {
		size_t part_len = part_length(at);
		bool last = !at[part_len];

		if (s->nr_parts == SPEC_PARTS)
			return err_set(err, -EINVAL, "Invalid event part %s in %.*s",
				       at, (int)len, text);
		at[part_len] = '\0';
		s->part[s->nr_parts++] = at;
		if (last)
			break;
		at += part_len + 1;
	}
	return 0;
}

/* ---- the name ---- */

static const char *sysfs_of(const struct events_spec *s)
{
	return s->reqs->sysfs ? s->reqs->sysfs : EVENTS_SYSFS;
}

/* Returns true if "a:b" looks like a tracepoint: both parts are words. */
static bool looks_like_tracepoint(const struct events_spec *s)
{
	const char *second = s->nr_parts > 1 ? s->part[1] : "";

	return strlen(second) > 2 && (second[0] < '0' || second[0] > '9') &&
	       strspn(second, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
		       strlen(second);
}

/* Reports an unknown name. For EVENT.MASK, suggests names that are similar to EVENT. */
static int name_unknown(const struct events_spec *s, struct err *err)
{
	const struct event_catalog *c = events_catalog(s->reqs, NULL);
	char text[CLOSEST_TEXT_MAX];
	struct closest_matches near;
	const struct event_row *row;

	if (looks_like_tracepoint(s))
		return err_set(
			err, -ENOENT,
			"No event named %s is available. "
			"(There is no tracepoint %s:%s either, or tracefs is not mounted or not readable.)",
			s->part[0], s->part[0], s->part[1]);
	closest_matches_init(&near, s->part[0], strcspn(s->part[0], "."));
	for (size_t i = 0; (row = event_row_at(i)); i++) {
		closest_matches_try(&near, row->name);
		if (row->alias)
			closest_matches_try(&near, row->alias);
	}
	if (!s->reqs->no_host)
		events_sysfs_suggest(sysfs_of(s), &near);
	if (c)
		event_catalog_suggest(c, &near);
	closest_matches_text(&near, text);
	return err_set(err, -ENOENT, "No event named %s is available.%s", s->part[0],
		       *text ? text
		       : c   ? " (ophelp lists them.)"
			     : "");
}

/* Parses rNNNN, the config of a raw event in hexadecimal. Returns false if the name has another
 * form. */
static bool name_is_raw(const char *name, uint64_t *ret_config)
{
	const char *at = name + 1;

	return name[0] == 'r' && strlen(at) <= 16 && parse_hex_at(&at, ret_config) &&
	       !*at;
}

static void set_about(struct event_request *e, const char *about)
{
	(void)snprintf(e->about, sizeof(e->about), "%s", about);
}

static void events_spec_take_row(const struct event_row *row, struct event_request *e)
{
	e->attr.type = row->type;
	e->attr.config = row->config;
	e->timer = !strcmp(row->name, "TIMER");
	e->min_count = row->min_count;
	set_about(e, row->about);
}

static bool take_tracepoint(struct events_spec *s, struct event_request *e)
{
	struct tracepoint t;
	char which[2 * EVENT_NAME_MAX];

	if (!looks_like_tracepoint(s) || strpbrk(s->part[0], "./") ||
	    strlen(s->part[0]) > 60 || strlen(s->part[1]) > 60)
		return false;
	(void)snprintf(which, sizeof(which), "%s/%s", s->part[0], s->part[1]);
	if (tracepoint_read(which, &t))
		return false;
	e->attr.type = PERF_TYPE_TRACEPOINT;
	e->attr.config = t.id;
	e->count = s->reqs->counting ? 0 : 1;
	(void)snprintf(e->name, sizeof(e->name), "%.60s:%.60s", s->part[0], s->part[1]);
	set_about(e, "tracepoint of the kernel");
	s->next = 2;
	return true;
}

/* Looks up the name in the catalogue, whose events are those of the core PMU (PERF_TYPE_RAW). The
 * config words are set later, when the masks are known. */
static bool find_in_catalog(struct events_spec *s, struct event_request *e)
{
	const struct event_catalog *c = events_catalog(s->reqs, NULL);
	struct catalog_choice choice;
	struct err err = { 0 };
	int r;

	if (!c)
		return false;
	r = event_catalog_choose(c, s->part[0], NULL, &choice, &err);
	if (r == -ENOENT)
		return false;
	s->in_catalog = true;
	s->has_masks = true;
	e->attr.type = PERF_TYPE_RAW;
	return true;
}

/* Parses terms of an event that has a name: `cycles/period=100000/`. */
static int named_with_terms(struct events_spec *s, struct event_request *e,
			    struct err *err)
{
	char *name = s->part[0];
	char *slash = strchr(name, '/');
	const struct event_row *row;

	*slash = '\0';
	row = event_row_find(name);
	*slash = '/';
	if (!row)
		return 1;
	events_spec_take_row(row, e);
	return events_sysfs_terms(name, slash, e, err);
}

/* Returns true for PMUs that write to an AUX area instead of taking samples. */
static bool is_of_aux_area(const char *name)
{
	static const char *const pmus[] = { "arm_spe", "intel_pt/", "intel_bts/",
					    "cs_etm/", "hisi_ptt" };

	for (size_t i = 0; i < COUNT_OF(pmus); i++)
		if (!strncmp(name, pmus[i], strlen(pmus[i])))
			return true;
	return false;
}

static int events_spec_find_name(struct events_spec *s, struct event_request *e,
				 struct err *err)
{
	const char *name = s->part[0];
	const struct event_row *row = event_row_find(name);
	uint64_t config = 0;
	int r;

	if (strlen(name) >= sizeof(e->name))
		return err_set(err, -EINVAL, "event name of %zu bytes is too long",
			       strlen(name));
	(void)snprintf(e->name, sizeof(e->name), "%s", name);
	s->next = 1;
	if (row) {
		events_spec_take_row(row, e);
		return 0;
	}
	if (strchr(name, '/')) {
		if (is_of_aux_area(name))
			return err_set(
				err, -EINVAL,
				"Invalid event %s: this PMU writes to an AUX area, which operf does not record (use perf record)",
				name);
		r = named_with_terms(s, e, err);
		if (r == 1)
			r = events_sysfs_pmu(sysfs_of(s), name, e, err);
		if (!r && *e->cpus && !s->reqs->counting)
			r = err_set(
				err, -EINVAL,
				"Invalid event %s: it counts for whole CPUs and cannot be sampled (use ocount)",
				name);
		return r;
	}
	if (!strcasecmp(name, "RTC_INTERRUPTS")) {
		row = event_row_find("TIMER");
		if (row)
			events_spec_take_row(row, e);
		return 0;
	}
	if (find_in_catalog(s, e) ||
	    (!s->reqs->no_host && events_sysfs_bare(sysfs_of(s), name, e) == 0) ||
	    take_tracepoint(s, e))
		return 0;
	if (name_is_raw(name, &config)) {
		e->attr.type = PERF_TYPE_RAW;
		e->attr.config = config;
		if (s->reqs->catalog)
			e->counters = event_counters_of(s->reqs->catalog->cpu,
							s->reqs->catalog->nr_counters,
							0, config);
		set_about(e, "raw event of the CPU, by its number");
		return 0;
	}
	return name_unknown(s, err);
}

/* Removes libpfm4's PMU prefix: skl::MEM_LOAD_RETIRED:L3_MISS, perf::PAGE-FAULTS. */
static int cut_pmu(struct event_requests *reqs, const char **text, size_t *len,
		   struct err *err)
{
	const struct event_catalog *c;
	const char *end = memmem(*text, *len, "::", 2);
	size_t nr = end ? (size_t)(end - *text) : 0;

	if (!end || memchr(*text, '/', nr) || memchr(*text, ':', nr))
		return 0;
	c = nr == 4 && !memcmp(*text, "perf", 4) ? NULL : events_catalog(reqs, NULL);
	if (c && (!c->cpu->pfm || strlen(c->cpu->pfm) != nr ||
		  strncasecmp(c->cpu->pfm, *text, nr)))
		return err_set(
			err, -ENOENT,
			"No event named %.*s is available. (The prefix for %s is %s%s)",
			(int)*len, *text, c->cpu->title,
			c->cpu->pfm ? c->cpu->pfm : "unknown to libpfm4",
			c->cpu->pfm ? "::" : "");
	*text += nr + 2;
	*len -= nr + 2;
	return 0;
}

static bool is_mask(const struct events_spec *s, const char *text)
{
	return s->in_catalog && s->reqs->catalog &&
	       event_catalog_has_mask(s->reqs->catalog, s->part[0], text);
}

/* Parses c=2, i, ldlat=32 at any position after a name of the catalogue, unless one of its
 * masks has that name. */
static void events_spec_take_attributes(struct events_spec *s)
{
	size_t nr = 1;

	for (size_t i = 1; i < s->nr_parts && s->in_catalog; i++) {
		char *part = s->part[i];

		if (event_attribute_is(part) && !is_mask(s, part))
			s->attributes[s->nr_attributes++] = part;
		else
			s->part[nr++] = part;
	}
	if (s->in_catalog)
		s->nr_parts = nr;
}

/* Appends modifiers: a spec can contain several parts, such as "u" and "pp". If they do not fit,
 * the truncated modifiers are rejected later. */
static void join_modifiers(struct events_spec *s, const char *letters)
{
	size_t len = strlen(s->modifiers);

	(void)snprintf(s->modifiers + len, sizeof(s->modifiers) - len, "%s", letters);
}

/* Moves modifiers that follow the last slash, as perf writes them (cpu/event=0x3c/u), to
 * s->modifiers. */
static void events_spec_cut_modifiers(struct events_spec *s)
{
	char *last = strrchr(s->part[0], '/');

	if (last && last[1] && last != strchr(s->part[0], '/') &&
	    event_modifiers_are(last + 1)) {
		join_modifiers(s, last + 1);
		last[1] = '\0'; /* keep the final slash of the name */
	}
}

/* ---- count, masks, scope ---- */

static const char *events_spec_peek(const struct events_spec *s)
{
	return s->next < s->nr_parts ? s->part[s->next] : NULL;
}

/* Parses a count that is a frequency, as in TIMER:250 and RTC_INTERRUPTS:1024. Returns false if it
 * is not one. */
static bool read_rate(const struct events_spec *s, struct event_request *e)
{
	bool rtc = !strcasecmp(s->part[0], "RTC_INTERRUPTS");

	if (!e->timer || e->count > (rtc ? RTC_RATE_MAX : RATE_MAX))
		return false;
	if (rtc && (e->count < RTC_RATE_MIN || (e->count & (e->count - 1))))
		return false;
	e->frequency_hz = e->count;
	e->count = 0;
	return true;
}

static int check_count(const struct events_spec *s, struct event_request *e,
		       struct err *err)
{
	unsigned long long count = e->count;

	if (read_rate(s, e))
		return 0;
	if (!strcasecmp(s->part[0], "RTC_INTERRUPTS"))
		return err_set(
			err, -EINVAL,
			"Invalid rate for event %s: %llu samples per second: give a power of two from %d to %d",
			e->name, count, RTC_RATE_MIN, RTC_RATE_MAX);
	if (e->count >> COUNT_LIMIT_BITS)
		return err_set(err, -EINVAL,
			       "Count %llu for event %s is above the maximum %llu",
			       count, e->name, (1ULL << COUNT_LIMIT_BITS) - 1);
	if (!strncmp(e->name, "ibs_", 4) && e->count % IBS_STEP)
		return err_set(
			err, -EINVAL,
			"Count %llu for event %s is not a multiple of %d, which IBS requires",
			count, e->name, IBS_STEP);
	if (e->count < e->min_count && !s->reqs->ignore_count)
		return err_set(err, -EINVAL,
			       "Count %llu for event %s is below the minimum %u", count,
			       e->name, e->min_count);
	return 0;
}

static bool events_spec_is_number(const char *text)
{
	return *text >= '0' && *text <= '9';
}

static int read_count(struct events_spec *s, struct event_request *e, struct err *err)
{
	const char *text = events_spec_peek(s);
	bool mask_follows;

	if (s->reqs->counting || !text || s->next > 2)
		return 0;
	mask_follows = !events_spec_is_number(text) && *text &&
		       (event_modifiers_are(text) || is_mask(s, text) ||
			(s->in_catalog && *text != '-'));
	if (mask_follows)
		return 0;
	if (!parse_u64(text, &e->count) || e->count == 0)
		return err_set(err, -EINVAL, "Invalid count for event %s: '%s'",
			       e->name, text);
	s->next++;
	return 0;
}

/* Parses masks: a number, names joined by +, or consecutive names in libpfm4's syntax. */
static int read_masks(struct events_spec *s, struct event_request *e, struct err *err)
{
	const char *text = events_spec_peek(s);

	if (!text || (event_modifiers_are(text) && !is_mask(s, text)))
		return 0;
	if (!*text)
		return err_set(err, -EINVAL,
			       "Invalid unit mask for event %s: give 0 for none",
			       e->name);
	if (strlen(text) >= sizeof(s->masks))
		return err_set(err, -EINVAL, "unit mask of %zu bytes is too long",
			       strlen(text));
	(void)snprintf(s->masks, sizeof(s->masks), "%s", text);
	s->next++;
	while (!events_spec_is_number(text) && (text = events_spec_peek(s)) &&
	       is_mask(s, text)) {
		size_t len = strlen(s->masks);

		if (len + strlen(text) + 2 > sizeof(s->masks))
			return err_set(err, -EINVAL, "too many unit masks: %s", text);
		(void)snprintf(s->masks + len, sizeof(s->masks) - len, "+%s", text);
		s->next++;
	}
	e->mask_given = true;
	return 0;
}

/* Accepts only an empty mask or 0, because events of the kernel have no unit masks. */
static int check_no_mask(const struct events_spec *s, struct event_request *e,
			 struct err *err)
{
	if (!*s->masks)
		return 0;
	if (!parse_u64(s->masks, &e->unit_mask))
		return err_set(err, -EINVAL, "Cannot find unit mask %s for %s",
			       s->masks, e->name);
	if (e->unit_mask)
		return err_set(err, -EINVAL, "Invalid unit mask 0x%llx for event %s",
			       (unsigned long long)e->unit_mask, e->name);
	return 0;
}

static int use_catalog(struct events_spec *s, struct event_request *e, struct err *err)
{
	struct catalog_choice choice;
	const char *same;
	int r;

	if (!s->in_catalog)
		return check_no_mask(s, e, err);
	r = event_catalog_choose(s->reqs->catalog, s->part[0], s->masks, &choice, err);
	if (r)
		return r;
	same = strcasecmp(choice.event->name, s->part[0]) ? choice.event->name : NULL;
	e->attr.config = choice.config;
	e->attr.config1 = choice.config1;
	e->attr.config2 = choice.config2;
	e->unit_mask = choice.unit_mask;
	e->counters = choice.counters;
	e->min_count = choice.event->min_count;
	if (s->reqs->min_count_factor)
		e->min_count *= s->reqs->min_count_factor;
	/* Request the highest precision by default: it costs nothing, because the CPU itself
	 * writes such samples. */
	if (choice.precise && !s->reqs->counting && !s->reqs->no_host)
		e->attr.precise_ip = events_sysfs_precise(sysfs_of(s)) & 3;
	(void)snprintf(e->about, sizeof(e->about), "%s%s%s", same ? same : "",
		       same ? ": " : "", choice.event->about);
	if (choice.mask)
		(void)snprintf(e->mask_about, sizeof(e->mask_about), "%s%s%s",
			       choice.mask->name, *choice.mask->about ? ": " : "",
			       choice.mask->about);
	return 0;
}

static int use_attributes(const struct events_spec *s, struct event_request *e,
			  struct err *err)
{
	uint64_t config = e->attr.config;
	int r = 0;

	e->kernel = e->user = true;
	for (size_t i = 0; i < s->nr_attributes && !r; i++)
		r = event_attribute_apply(s->attributes[i], s->reqs->catalog->cpu, e,
					  err);
	/* A fixed counter counts the event only without attributes. */
	if (e->attr.config != config && (e->counters & UINT32_MAX))
		e->counters &= UINT32_MAX;
	return r;
}

static int read_switch(const char *text, const char *event, bool *ret_on,
		       struct err *err)
{
	if (strcmp(text, "0") && strcmp(text, "1"))
		return err_set(
			err, -EINVAL,
			"Invalid event part %s of %s: kernel and user are 0 or 1", text,
			event);
	*ret_on = *text == '1';
	return 0;
}

static int read_scope(struct events_spec *s, struct event_request *e, struct err *err)
{
	bool *const switches[] = { &e->kernel, &e->user };
	int r = 0;

	for (size_t i = 0; i < 2 && events_spec_peek(s) && !r; i++) {
		if (event_modifiers_are(events_spec_peek(s)))
			break;
		e->scope_given = true;
		r = read_switch(s->part[s->next++], e->name, switches[i], err);
	}
	while (!r && events_spec_peek(s) && event_modifiers_are(events_spec_peek(s)))
		join_modifiers(s, s->part[s->next++]);
	if (!r && events_spec_peek(s))
		r = err_set(err, -EINVAL, "Invalid event part %s of %s",
			    events_spec_peek(s), e->name);
	if (!r && *s->modifiers)
		r = event_modifiers_apply(s->modifiers, sysfs_of(s), e, err);
	if (!r && !e->kernel && !e->user)
		r = err_set(err, -EINVAL,
			    "Event %s counts neither kernel nor user space", e->name);
	return r;
}

int event_spec_parse(struct event_requests *reqs, const char *text, size_t len,
		     uint64_t frequency_hz, struct event_request *ret_event,
		     struct err *err)
{
	struct event_request e = { 0 };
	struct events_spec s = { .reqs = reqs };
	int r;

	r = cut_pmu(reqs, &text, &len, err);
	if (r == 0)
		r = spec_split(text, len, &s, err);
	if (r)
		return r;
	if (!s.nr_parts || !*s.part[0])
		return err_set(err, -EINVAL, "No event name in '%.*s'", (int)len, text);
	events_spec_cut_modifiers(&s);
	r = events_spec_find_name(&s, &e, err);
	events_spec_take_attributes(&s);
	if (r == 0)
		r = read_count(&s, &e, err);
	if (r == 0)
		r = read_masks(&s, &e, err);
	if (r == 0)
		r = use_catalog(&s, &e, err);
	if (r == 0)
		r = use_attributes(&s, &e, err);
	if (r == 0 && e.count && e.attr.type != PERF_TYPE_TRACEPOINT)
		r = check_count(&s, &e, err);
	if (r == 0)
		r = read_scope(&s, &e, err);
	if (r < 0)
		return r;
	event_request_finish(&e, e.frequency_hz ? e.frequency_hz : frequency_hz);
	*ret_event = e;
	return 0;
}
