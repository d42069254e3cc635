/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/events/events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/events/catalog.h"
#include "capture/events/cpu_types.h"
#include "capture/events/priv.h"

void event_request_finish(struct event_request *e, uint64_t frequency_hz)
{
	struct perf_event_attr *attr = &e->attr;

	attr->size = sizeof(*attr);
	attr->exclude_kernel = !e->kernel;
	attr->exclude_hv = !e->kernel && !e->hypervisor;
	attr->exclude_user = !e->user;
	/* Do not sample guests, whose addresses cannot be resolved, unless the user requested only
	 * guests. */
	attr->exclude_guest = !attr->exclude_host;
	if (e->count) {
		attr->sample_period = e->count;
		return;
	}
	e->frequency_hz = frequency_hz ? frequency_hz : EVENT_DEFAULT_HZ;
	attr->freq = 1;
	attr->sample_freq = e->frequency_hz;
}

static bool same_event(const struct event_request *a, const struct event_request *b)
{
	return a->attr.type == b->attr.type && a->attr.config == b->attr.config &&
	       a->attr.config1 == b->attr.config1 &&
	       a->attr.config2 == b->attr.config2 && a->kernel == b->kernel &&
	       a->user == b->user && a->attr.exclude_host == b->attr.exclude_host;
}

/* Appends ":k" or ":u" to the name ("CPU_CYCLES:k"), because reports identify events by name. */
static void name_scope(struct event_request *e)
{
	size_t len = strlen(e->name);

	if (e->kernel != e->user && len + 2 < sizeof(e->name) && !strchr(e->name, ':'))
		(void)snprintf(e->name + len, sizeof(e->name) - len, ":%c",
			       e->user ? 'u' : 'k');
}

/* Makes the names unique if one event is recorded in several modes. */
static void distinguish_scopes(struct event_requests *reqs, struct event_request *e)
{
	for (size_t i = 0; i < reqs->list.nr && !reqs->counting; i++) {
		struct event_request *other = &reqs->list.at[i];

		if (other->attr.type != e->attr.type ||
		    other->attr.config != e->attr.config ||
		    other->attr.config1 != e->attr.config1)
			continue;
		name_scope(other);
		name_scope(e);
	}
}

static int events_add_event(struct event_requests *reqs,
			    const struct event_request *given, struct err *err)
{
	struct event_request e = *given;

	for (size_t i = 0; i < reqs->list.nr; i++) {
		if (same_event(&reqs->list.at[i], &e))
			return err_set(
				err, -EEXIST,
				"All events must be distinct. (%s and %s are the same.)",
				reqs->list.at[i].name, e.name);
	}
	if (reqs->list.nr == EVENTS_MAX)
		return err_set(
			err, -E2BIG,
			"Number of events specified is greater than allowed maximum of %d.",
			EVENTS_MAX);
	distinguish_scopes(reqs, &e);
	if (!vec_push(&reqs->list, e))
		return err_sys(err, -ENOMEM, "cannot add an event");
	return 0;
}

size_t events_first_spec(const char *specs)
{
	bool inside = false;
	int depth = 0;
	size_t i;

	for (i = 0; specs[i]; i++) {
		if (specs[i] == '/')
			inside = !inside;
		depth += (specs[i] == '{') - (specs[i] == '}');
		if (specs[i] == ',' && !inside && depth <= 0)
			break;
	}
	return i;
}

const struct event_catalog *events_catalog(struct event_requests *reqs, struct err *err)
{
	const struct cpu_type *cpu = reqs->cpu;

	if (reqs->catalog)
		return reqs->catalog;
	if (reqs->no_catalog && !err)
		return NULL;
	if (!cpu)
		cpu = cpu_type_host();
	if (!cpu) {
		reqs->no_catalog = true;
		(void)err_set(
			err, -ENODATA,
			"the type of this CPU is unknown: give one with --cpu-type");
		return NULL;
	}
	if (event_catalog_open(cpu, &reqs->catalog, err)) {
		reqs->no_catalog = true;
		return NULL;
	}
	return reqs->catalog;
}

/* Adds the event; on a machine with several core types, adds one for each type that supports it. */
static int add_on_all_cores(struct event_requests *reqs, const struct event_request *e,
			    const struct event_words *words, struct err *err)
{
	struct core_pmu pmus[CORE_TYPES_MAX];
	size_t nr = 0, added = 0;
	int r = 0;

	if (!reqs->no_host &&
	    (e->attr.type == PERF_TYPE_HARDWARE || e->attr.type == PERF_TYPE_HW_CACHE ||
	     e->attr.type == PERF_TYPE_RAW))
		nr = events_sysfs_core_types(reqs->sysfs ? reqs->sysfs : EVENTS_SYSFS,
					     pmus, CORE_TYPES_MAX);
	if (nr < 2)
		return events_add_event(reqs, e, err);
	for (size_t i = 0; i < nr && !r; i++) {
		struct event_request one;
		struct err why = { 0 };

		/* Skip core types that lack the event or the unit mask. */
		if (event_on_core(reqs, &pmus[i], words, e, &one, &why))
			continue;
		/* A group cannot span core types, so number the groups of each type separately. */
		if (one.group)
			one.group = (uint32_t)(one.group * CORE_TYPES_MAX + i);
		r = events_add_event(reqs, &one, err);
		added += !r;
	}
	return r || added ? r
			  : err_set(err, -ENOENT, "No event named %s is available.",
				    e->name);
}

static int add_spec(struct event_requests *reqs, const char *text, size_t len,
		    uint64_t frequency_hz, uint32_t group, struct err *err)
{
	static const char word[] = "default";
	const struct event_words words = { text, len, frequency_hz };
	struct event_request e = { 0 };
	int r = 0;

	if (len == sizeof(word) - 1 && !memcmp(text, word, len))
		events_default(frequency_hz, &e);
	else
		r = event_spec_parse(reqs, text, len, frequency_hz, &e, err);
	if (r == -ENOENT && !reqs->no_host && !event_of_other_cores(reqs, &words, &e))
		r = 0;
	e.group = group;
	return r ? r : add_on_all_cores(reqs, &e, &words, err);
}

/* Parses "{A,B}:modifiers", `len` bytes. */
static int add_group(struct event_requests *reqs, const char *text, size_t len,
		     uint64_t frequency_hz, struct err *err)
{
	size_t first = reqs->list.nr;
	const char *end = memchr(text, '}', len);
	/* add_on_all_cores() derives the group number of each core type from it */
	uint32_t group = ++reqs->nr_groups;
	char letters[16] = "";
	int r = 0;

	if (!end || (end[1] == ':' ? (size_t)(text + len - end) > sizeof(letters)
				   : end + 1 != text + len))
		return err_set(
			err, -EINVAL,
			"Invalid group of events %.*s: expected {EVENT,EVENT}[:MODIFIERS]",
			(int)len, text);
	if (end[1] == ':')
		(void)snprintf(letters, sizeof(letters), "%.*s",
			       (int)(text + len - end - 2), end + 2);
	for (const char *at = text + 1; at <= end && !r;) {
		size_t one = events_first_spec(at);

		if (at + one > end)
			one = (size_t)(end - at);
		r = add_spec(reqs, at, one, frequency_hz, group, err);
		at += one + 1;
	}
	for (size_t i = first; i < reqs->list.nr && !r && *letters; i++) {
		struct event_request *e = &reqs->list.at[i];

		r = event_modifiers_are(letters)
			    ? event_modifiers_apply(
				      letters, reqs->sysfs ? reqs->sysfs : EVENTS_SYSFS,
				      e, err)
			    : err_set(err, -EINVAL, "Invalid event part %s of %.*s",
				      letters, (int)len, text);
		event_request_finish(e, e->frequency_hz);
	}
	return r;
}

/* If the first event of a group has the modifier S, marks the other events as members, which are
 * read with its samples. Refuses S without a group. */
static int read_with_leaders(struct event_requests *reqs, size_t first, struct err *err)
{
	for (size_t i = first; i < reqs->list.nr && !reqs->counting; i++) {
		struct event_request *e = &reqs->list.at[i];
		const struct event_request *leader = NULL;

		for (size_t k = first; k < i && e->group && !leader; k++)
			if (reqs->list.at[k].group == e->group)
				leader = &reqs->list.at[k];
		if (e->leads && (!e->group || (leader && !leader->leads)))
			return err_set(
				err, -EINVAL,
				"event %s: the modifier S needs a group of events: write {%s,OTHER-EVENT}:S",
				e->name, e->name);
		if (!leader || !leader->leads)
			continue;
		e->member = true;
		e->count = e->frequency_hz = 0;
		e->attr.freq = 0;
		e->attr.sample_period = 0;
	}
	return 0;
}

int events_parse(const char *specs, uint64_t frequency_hz, struct event_requests *reqs,
		 struct err *err)
{
	size_t first = reqs->list.nr;
	const char *at = specs;

	for (;;) {
		size_t len = events_first_spec(at);
		int r = *at == '{' ? add_group(reqs, at, len, frequency_hz, err)
				   : add_spec(reqs, at, len, frequency_hz, 0, err);

		if (r < 0)
			return r;
		if (!at[len])
			return read_with_leaders(reqs, first, err);
		at += len + 1;
	}
}

void event_request_cap_rate(struct event_request *event, uint64_t frequency_hz)
{
	if (event->frequency_hz <= frequency_hz)
		return;
	event->frequency_hz = frequency_hz;
	event->attr.sample_freq = frequency_hz;
}

void event_request_user_only(struct event_request *e)
{
	e->kernel = false;
	e->attr.exclude_kernel = 1;
	e->attr.exclude_hv = 1;
}

bool events_have_pmu(void)
{
	static enum {
		UNKNOWN,
		ABSENT,
		PRESENT
	} known; /* the cached result */
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_freq = EVENT_DEFAULT_HZ,
		.freq = 1,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_guest = 1,
	};
	long fd;

	if (known != UNKNOWN)
		return known == PRESENT;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	/* EBUSY means that the counters exist, but something else (the NMI watchdog) uses them.
	 * EPERM means that a seccomp filter hides whether there are any; opening an event reports
	 * this later. */
	known = fd >= 0 || errno == EBUSY || errno == EPERM ? PRESENT : ABSENT;
	if (fd >= 0)
		(void)close((int)fd);
	return known == PRESENT;
}

void events_default(uint64_t frequency_hz, struct event_request *ret_event)
{
	const char *name = events_have_pmu() ? "cycles" : "TIMER";
	struct event_request e = { .kernel = true, .user = true };
	const struct event_row *row = event_row_find(name);

	e.timer = !strcmp(name, "TIMER");
	e.attr.type = row ? row->type : 0;
	e.attr.config = row ? row->config : 0;
	(void)snprintf(e.name, sizeof(e.name), "%s", name);
	(void)snprintf(e.about, sizeof(e.about), "%s", row ? row->about : "");
	/* Request the highest precision by default: it costs nothing, because the CPU itself
	 * writes such samples. */
	if (!e.timer)
		e.attr.precise_ip = events_sysfs_precise(EVENTS_SYSFS) & 3;
	event_request_finish(&e, frequency_hz);
	*ret_event = e;
}

void events_done(struct event_requests *reqs)
{
	vec_done(&reqs->list);
	event_catalog_close(reqs->catalog);
	reqs->catalog = NULL;
}
