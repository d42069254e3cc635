#include "capture/events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/nearest.h"
#include "base/parse.h"
#include "capture/events_priv.h"

enum {
	SPEC_MAX = 512,
	SPEC_PARTS = 5, /* name, count, unit mask, kernel, user */
	COUNT_LIMIT_BITS = 31
};

/* A spec, cut at its colons. */
struct spec {
	char text[SPEC_MAX];
	char *part[SPEC_PARTS]; /* into text */
	size_t nr_parts;
};

/* A colon or comma between the slashes of PMU/.../ belongs to the name. */
static size_t find_outside_slashes(const char *s, char stop)
{
	bool inside = false;
	size_t i;

	for (i = 0; s[i]; i++) {
		if (s[i] == '/')
			inside = !inside;
		else if (s[i] == stop && !inside)
			break;
	}
	return i;
}

static int spec_split(const char *text, size_t len, struct spec *ret_spec,
		      struct err *err)
{
	struct spec *s = ret_spec;
	char *at;

	if (len >= sizeof(s->text))
		return err_set(err, -EINVAL, "event of %zu bytes is too long", len);
	memcpy(s->text, text, len);
	s->text[len] = '\0';
	s->nr_parts = 0;

	at = s->text;
	for (;;) {
		size_t part_len = find_outside_slashes(at, ':');
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

/* Whether "a:b" was meant as a tracepoint: both are words. */
static bool looks_like_tracepoint(const struct spec *s)
{
	const char *second = s->nr_parts > 1 ? s->part[1] : "";

	return strlen(second) > 2 && (second[0] < '0' || second[0] > '9') &&
	       strspn(second, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
		       strlen(second);
}

static int name_unknown(const struct spec *s, struct err *err)
{
	struct nearest near = { .word = s->part[0] };
	char best[EVENTS_SYSFS_WORD_MAX];
	const struct event_row *row;

	if (looks_like_tracepoint(s))
		return err_set(err, -ENOENT,
			       "No event named %s is available. (Tracepoints such as "
			       "%s:%s cannot be recorded.)",
			       s->part[0], s->part[0], s->part[1]);
	for (size_t i = 0; (row = event_row_at(i)); i++) {
		nearest_try(&near, row->name);
		if (row->alias)
			nearest_try(&near, row->alias);
	}
	events_sysfs_nearest(EVENTS_SYSFS, &near, best);
	if (near.best)
		return err_set(err, -ENOENT,
			       "No event named %s is available. (Did you mean %s?)",
			       s->part[0], near.best);
	return err_set(err, -ENOENT, "No event named %s is available.", s->part[0]);
}

/* rNNNN: hexadecimal digits, the config of a raw event. */
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

static int find_name(const struct spec *s, struct event_request *e, uint32_t *ret_min,
		     struct err *err)
{
	const char *name = s->part[0];
	const struct event_row *row = event_row_find(name);
	uint64_t config = 0;

	if (strlen(name) >= sizeof(e->name))
		return err_set(err, -EINVAL, "event name of %zu bytes is too long",
			       strlen(name));
	(void)snprintf(e->name, sizeof(e->name), "%s", name);
	*ret_min = 0;
	if (row) {
		e->attr.type = row->type;
		e->attr.config = row->config;
		e->timer = !strcmp(name, "TIMER");
		*ret_min = row->min_count;
		set_about(e, row->about);
		return 0;
	}
	if (strchr(name, '/'))
		return events_sysfs_pmu(EVENTS_SYSFS, name, e, err);
	if (events_sysfs_bare(EVENTS_SYSFS, name, e) == 0)
		return 0;
	if (name_is_raw(name, &config)) {
		e->attr.type = PERF_TYPE_RAW;
		e->attr.config = config;
		set_about(e, "raw event of the CPU, by its number");
		return 0;
	}
	return name_unknown(s, err);
}

static int read_count(const struct spec *s, uint32_t min_count, struct event_request *e,
		      struct err *err)
{
	const char *text = s->part[1];

	if (!parse_u64(text, &e->count) || e->count == 0) {
		if (!strcmp(text, "u") || !strcmp(text, "k"))
			return err_set(err, -EINVAL,
				       "Invalid count for event %s: '%s' (%s space "
				       "alone is NAME:COUNT:0:%s)",
				       e->name, text, *text == 'u' ? "user" : "kernel",
				       *text == 'u' ? "0:1" : "1:0");
		return err_set(err, -EINVAL, "Invalid count for event %s: '%s'",
			       e->name, text);
	}
	if (e->count >> COUNT_LIMIT_BITS)
		return err_set(err, -EINVAL,
			       "Count %s for event %s is above the maximum %llu", text,
			       e->name, (1ULL << COUNT_LIMIT_BITS) - 1);
	if (e->count < min_count)
		return err_set(err, -EINVAL,
			       "Count %s for event %s is below the minimum %u", text,
			       e->name, min_count);
	return 0;
}

/* The kernel's events have no unit masks: only 0, "none", is right. */
static int read_unit_mask(const struct spec *s, struct event_request *e,
			  struct err *err)
{
	const char *text = s->part[2];

	if (!*text)
		return err_set(err, -EINVAL,
			       "Invalid unit mask for event %s: give 0 for none",
			       e->name);
	if (!parse_u64(text, &e->unit_mask))
		return err_set(err, -EINVAL, "Cannot find unit mask %s for %s", text,
			       e->name);
	if (e->unit_mask)
		return err_set(err, -EINVAL, "Invalid unit mask 0x%llx for event %s",
			       (unsigned long long)e->unit_mask, e->name);
	return 0;
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

static int read_scope(const struct spec *s, struct event_request *e, struct err *err)
{
	int r;

	e->kernel = e->user = true;
	e->scope_given = s->nr_parts > 3;
	if (s->nr_parts > 3) {
		r = read_switch(s->part[3], e->name, &e->kernel, err);
		if (r < 0)
			return r;
	}
	if (s->nr_parts > 4) {
		r = read_switch(s->part[4], e->name, &e->user, err);
		if (r < 0)
			return r;
	}
	if (!e->kernel && !e->user)
		return err_set(err, -EINVAL,
			       "Event %s counts neither kernel nor user space",
			       e->name);
	return 0;
}

/* What follows from the parts that were read. */
static void finish_request(struct event_request *e, uint64_t frequency_hz)
{
	struct perf_event_attr *attr = &e->attr;

	attr->size = sizeof(*attr);
	attr->exclude_kernel = !e->kernel;
	attr->exclude_hv = !e->kernel;
	attr->exclude_user = !e->user;
	attr->exclude_guest = 1; /* a guest's addresses mean nothing here */
	if (e->count) {
		attr->sample_period = e->count;
		return;
	}
	e->frequency_hz = frequency_hz ? frequency_hz : EVENT_DEFAULT_HZ;
	attr->freq = 1;
	attr->sample_freq = e->frequency_hz;
}

static int spec_parse(const char *text, size_t len, uint64_t frequency_hz,
		      struct event_request *ret_event, struct err *err)
{
	struct event_request e = { 0 };
	uint32_t min_count = 0;
	struct spec s = { 0 };
	int r;

	r = spec_split(text, len, &s, err);
	if (r < 0)
		return r;
	if (!*s.part[0])
		return err_set(err, -EINVAL, "No event name in '%.*s'", (int)len, text);
	r = find_name(&s, &e, &min_count, err);
	if (r == 0 && s.nr_parts > 1)
		r = read_count(&s, min_count, &e, err);
	if (r == 0 && s.nr_parts > 2)
		r = read_unit_mask(&s, &e, err);
	if (r == 0)
		r = read_scope(&s, &e, err);
	if (r < 0)
		return r;
	finish_request(&e, frequency_hz);
	*ret_event = e;
	return 0;
}

static bool same_event(const struct event_request *a, const struct event_request *b)
{
	return a->attr.type == b->attr.type && a->attr.config == b->attr.config &&
	       a->attr.config1 == b->attr.config1 &&
	       a->attr.config2 == b->attr.config2 && a->kernel == b->kernel &&
	       a->user == b->user;
}

static int add_event(struct event_requests *reqs, const struct event_request *e,
		     struct err *err)
{
	for (size_t i = 0; i < reqs->list.nr; i++) {
		if (same_event(&reqs->list.at[i], e))
			return err_set(err, -EEXIST,
				       "All events must be distinct. (%s and %s are "
				       "the same.)",
				       reqs->list.at[i].name, e->name);
	}
	if (reqs->list.nr == EVENTS_MAX)
		return err_set(err, -E2BIG,
			       "Number of events specified is greater than allowed "
			       "maximum of %d.",
			       EVENTS_MAX);
	if (!vec_push(&reqs->list, *e))
		return err_sys(err, -ENOMEM, "events");
	return 0;
}

int events_parse(const char *specs, uint64_t frequency_hz, struct event_requests *reqs,
		 struct err *err)
{
	const char *at = specs;

	for (;;) {
		size_t len = find_outside_slashes(at, ',');
		struct event_request e = { 0 };
		int r;

		r = spec_parse(at, len, frequency_hz, &e, err);
		if (r == 0)
			r = add_event(reqs, &e, err);
		if (r < 0)
			return r;
		if (!at[len])
			return 0;
		at += len + 1;
	}
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
	} known; /* the probe cache */
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
	/* EBUSY: another profiler (the NMI watchdog) holds the counters that exist. */
	known = fd >= 0 || errno == EBUSY ? PRESENT : ABSENT;
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
	set_about(&e, row ? row->about : "");
	finish_request(&e, frequency_hz);
	*ret_event = e;
}

void events_done(struct event_requests *reqs)
{
	vec_done(&reqs->list);
}
