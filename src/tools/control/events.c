/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.c - opcontrol's --event: validates events, and converts them to the form that daemonrc
 * stores. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/parse.h"
#include "capture/events/cpu_types.h"
#include "capture/events/events.h"
#include "capture/events/fit.h"
#include "tools/cli/command.h"
#include "tools/control/control.h"

enum {
	RTC_LEAST = 2, /* minimum and maximum interrupts per second, powers of two */
	RTC_MOST = 4096,
	PARTS_MAX = 5, /* name, count, unit mask, kernel, user */
	SPEC_MAX = 512
};

struct control_events_parts {
	char text[SPEC_MAX];
	const char *part[PARTS_MAX];
	size_t nr;
};

/* State for collecting the events of a call. */
struct control_events_taking {
	struct daemonrc *rc;
	struct event_requests reqs; /* the events that the user requested */
	bool kernel_only;
};

/* Splits a spec at its colons. Returns false if it does not have OProfile's format; it is then
 * stored unchanged. */
static bool control_events_split(const char *spec, struct control_events_parts *p)
{
	char *at = p->text;

	if (strpbrk(spec, "/{},") || strlen(spec) >= sizeof(p->text))
		return false;
	strncpy(p->text, spec, sizeof(p->text));
	for (p->nr = 0; at; p->nr++) {
		if (p->nr == PARTS_MAX)
			return false;
		p->part[p->nr] = strsep(&at, ":");
	}
	return true;
}

/* Parses a rate of the old real-time clock; rounds other rates up to one that it supports. */
static int rtc_rate(const char *text, uint64_t *ret_rate, struct err *err)
{
	uint64_t rate = RTC_LEAST;

	if (!parse_u64_max(text, RTC_MOST, ret_rate) || *ret_rate < RTC_LEAST)
		return err_set(
			err, -EINVAL,
			"invalid rate RTC_INTERRUPTS:%s: give a rate from %d to %d samples per second",
			text, RTC_LEAST, RTC_MOST);
	while (rate < *ret_rate)
		rate *= 2;
	*ret_rate = rate;
	return 0;
}

static bool control_events_is_number(const char *text)
{
	uint64_t v;

	return parse_u64(text, &v);
}

/* Returns whether the event measures time. On a machine without counters, the timer can replace
 * such an event. */
static bool is_time(const char *name)
{
	static const char *const names[] = { "CPU_CLK_UNHALTED", "GLOBAL_POWER_EVENTS",
					     "cycles", "cpu-cycles" };
	const struct cpu_type *cpu = cpu_type_host();

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return cpu && cpu->default_event && !strcmp(name, cpu->default_event);
}

/* Returns whether the spec can be stored with all five fields, because it only has numbers after
 * the name. Specs with letters (NAME:COUNT:u) or names of masks are stored unchanged. */
static bool control_events_is_whole(const struct control_events_parts *p)
{
	if (p->nr < 2)
		return p->nr && !strcmp(p->part[0], "TIMER");
	if (!control_events_is_number(p->part[1]) ||
	    (p->nr == 3 && !control_events_is_number(p->part[2])))
		return false;
	for (size_t i = 3; i < p->nr; i++)
		if (strcmp(p->part[i], "0") != 0 && strcmp(p->part[i], "1") != 0)
			return false;
	return true;
}

/* Copies the spec with its real-time clock rate rounded, and stores the rate in *ret_rate (0: no
 * rate). */
static int round_rate(const char *spec, const struct control_events_parts *p,
		      char ret_spec[SPEC_MAX], uint64_t *ret_rate, struct err *err)
{
	int r;

	*ret_rate = 0;
	snprintf(ret_spec, SPEC_MAX, "%s", spec);
	if (p->nr < 2 || strcmp(p->part[0], "RTC_INTERRUPTS") != 0)
		return 0;
	r = rtc_rate(p->part[1], ret_rate, err);
	if (!r)
		snprintf(ret_spec, SPEC_MAX, "RTC_INTERRUPTS:%" PRIu64 "%s", *ret_rate,
			 spec + (p->part[1] - p->text) + strlen(p->part[1]));
	return r;
}

/* Checks an event by parsing it. TIMER:0 means the daemon's rate, so replaces the 0 by any valid
 * rate. */
static int control_events_check(struct control_events_taking *t, const char *spec,
				struct err *err)
{
	static const char timer[] = "TIMER:0";
	size_t len = sizeof(timer) - 1;
	char rated[SPEC_MAX];

	if (strncmp(spec, timer, len) != 0 || (spec[len] && spec[len] != ':'))
		return events_parse(spec, 0, &t->reqs, err);
	snprintf(rated, sizeof(rated), "TIMER:1%s", spec + len);
	return events_parse(rated, 0, &t->reqs, err);
}

/* Returns the i-th field, or its default. */
static const char *part_or(const struct control_events_parts *p, size_t i,
			   const char *otherwise)
{
	return i < p->nr ? p->part[i] : otherwise;
}

/* Formats NAME:COUNT:UNITMASK:KERNEL:USER, with 0:1:1 for missing fields. */
static void keep_whole(const struct control_events_parts *p, uint64_t rate,
		       bool kernel_only, char ret_kept[SPEC_MAX])
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, rate);
	snprintf(ret_kept, SPEC_MAX, "%.200s:%.24s:%.100s:%.8s:%.8s", p->part[0],
		 rate ? number : part_or(p, 1, "0"), part_or(p, 2, "0"),
		 kernel_only ? "1" : part_or(p, 3, "1"),
		 kernel_only ? "0" : part_or(p, 4, "1"));
}

static int control_events_keep(struct control_events_taking *t, const char *kept,
			       struct err *err)
{
	int r = daemonrc_add_event(t->rc, kept);

	return r ? err_set(err, r, "too many events, or out of memory") : 0;
}

static bool control_events_is_kept(const struct control_events_taking *t,
				   const char *kept)
{
	for (size_t i = 0; i < daemonrc_nr_events(t->rc); i++) {
		const char *other = daemonrc_event(t->rc, i);

		if (other && !strcmp(other, kept))
			return true;
	}
	return false;
}

/* Adds the timer in place of the event `name`. If it was already added for another event, only
 * prints a message. */
static int take_timer(struct control_events_taking *t, const char *name,
		      const struct event_request *asked, struct err *err)
{
	bool kernel = asked->kernel || t->kernel_only;
	bool user = asked->user && !t->kernel_only;
	char kept[SPEC_MAX];
	bool there;

	snprintf(kept, sizeof(kept), "TIMER:0:0:%d:%d", kernel, user);
	there = control_events_is_kept(t, kept);
	fprintf(stderr,
		"%s: no performance counters are available: using the event TIMER instead%s.\n",
		name, there ? " (sampled once for all of them)" : "");
	return there ? 0 : control_events_keep(t, kept, err);
}

/* Handles an event on a machine without counters: replaces it by the timer if it measures time.
 * For others, returns -ENODEV with OProfile's message. */
static int without_counters(struct control_events_taking *t, const char *name,
			    const struct event_request *asked, struct err *err)
{
	if (!name || !is_time(name))
		return err_set(
			err, -ENODEV,
			"You cannot specify any performance counter events because OProfile is in timer mode.");
	return take_timer(t, name, asked, err);
}

/* Adds the default event explicitly, because it is not the only event, or is for the kernel
 * only. */
static int take_default(struct control_events_taking *t, struct err *err)
{
	size_t first = t->reqs.list.nr;
	int r = events_parse("default", 0, &t->reqs, err);

	if (r)
		return r;
	if (t->reqs.list.at[first].timer)
		return take_timer(t, "default", &t->reqs.list.at[first], err);
	return control_events_keep(
		t, t->kernel_only ? "default:0:0:1:0" : "default:0:0:1:1", err);
}

static int check_kernel_only(const struct control_events_taking *t, size_t first,
			     const char *spec, struct err *err)
{
	for (size_t i = first; i < t->reqs.list.nr; i++)
		if (t->reqs.list.at[i].user)
			return err_set(
				err, -EINVAL,
				"--kernel-only: %s already selects what it counts",
				spec);
	return 0;
}

/* Checks a spec and adds it to daemonrc, in the form that daemonrc stores. */
static int control_events_take(struct control_events_taking *t, const char *spec,
			       struct err *err)
{
	size_t first = t->reqs.list.nr;
	struct control_events_parts p = { 0 };
	bool plain = control_events_split(spec, &p);
	char text[SPEC_MAX];
	const struct event_request *asked;
	uint64_t rate;
	bool whole;
	int r;

	if (!plain)
		p.nr = 0;
	whole = control_events_is_whole(&p);
	r = round_rate(spec, &p, text, &rate, err);
	/* If the spec has numeric flags, keep_whole() sets these instead. */
	if (!r && t->kernel_only && !whole)
		snprintf(text + strlen(text), SPEC_MAX - strlen(text), ":k");
	if (!r)
		r = control_events_check(t, text, err);
	if (!r && t->kernel_only && !whole)
		r = check_kernel_only(t, first, spec, err);
	if (r)
		return r;
	asked = &t->reqs.list.at[first];
	if (event_needs_counter(asked) && !events_have_pmu())
		return without_counters(t, plain ? p.part[0] : NULL, asked, err);
	if (whole)
		keep_whole(&p, rate, t->kernel_only, text);
	return control_events_keep(t, text, err);
}

static int control_events_take_spec(struct control_events_taking *t, const char *spec,
				    bool alone, struct err *err)
{
	if (!*spec)
		return err_set(err, -EINVAL, "No value given for option --event");
	if (strlen(spec) > SPEC_MAX - 8)
		return err_set(err, -EINVAL, "event name of %zu bytes is too long",
			       strlen(spec));
	if (strcmp(spec, "default") != 0)
		return control_events_take(t, spec, err);
	/* If it is the only event, store nothing: the daemon then uses the default event. */
	return alone && !t->kernel_only ? 0 : take_default(t, err);
}

/* Warns if the events do not fit on the counters together. OProfile refused such events; here the
 * kernel multiplexes them. */
static void control_events_report_multiplexing(const struct event_requests *reqs)
{
	size_t first;

	if (events_fit_here(reqs->list.at, reqs->list.nr, &first) == EVENTS_MULTIPLEXED)
		command_warning(
			"Couldn't allocate hardware counters for the selected events: "
			"%s does not fit next to those before it. "
			"The kernel counts them in turns and scales.",
			reqs->list.at[first].name);
}

static int read_kernel_only(const struct control_options *set, bool *ret_on,
			    struct err *err)
{
	const char *text = set->kernel_only;

	*ret_on = text && strcmp(text, "0") != 0;
	if (!*ret_on)
		return 0;
	if (*text && strcmp(text, "1") != 0)
		return err_set(err, -EINVAL,
			       "Argument for --kernel-only, %s, must be 0 or 1", text);
	if (!set->events.values.nr)
		return err_set(err, -EINVAL,
			       "Option \"--kernel-only\" is only valid with --event.");
	return 0;
}

int control_setup_events(const struct control_options *set, struct daemonrc *rc,
			 struct err *err)
{
	const struct word_list *specs = &set->events;
	struct control_events_taking t = { .rc = rc };
	int r = read_kernel_only(set, &t.kernel_only, err);

	if (r)
		return r;
	if (specs->values.nr)
		daemonrc_clear_events(rc);
	for (size_t i = 0; i < specs->values.nr && !r; i++)
		r = control_events_take_spec(&t, specs->values.at[i],
					     specs->values.nr == 1, err);
	if (!r)
		control_events_report_multiplexing(&t.reqs);
	if (!r && !daemonrc_get(rc, "NR_CHOSEN"))
		r = daemonrc_set_number(rc, "NR_CHOSEN", 0);
	events_done(&t.reqs);
	return r;
}
