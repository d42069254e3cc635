/* control_events.c - opcontrol's --event: checked, and as daemonrc keeps them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/parse.h"
#include "capture/cpu_types.h"
#include "capture/events.h"
#include "capture/events_fit.h"
#include "tools/command.h"
#include "tools/control.h"

enum {
	RTC_LEAST = 2, /* interrupts per second, powers of two */
	RTC_MOST = 4096,
	PARTS_MAX = 5, /* name, count, unit mask, kernel, user */
	SPEC_MAX = 512
};

struct parts {
	char text[SPEC_MAX];
	const char *part[PARTS_MAX];
	size_t nr;
};

/* False: it is not of OProfile's form, and is kept as it is. */
static bool split(const char *spec, struct parts *p)
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

/* A rate of the old clock chip; what is none was rounded up. */
static int rtc_rate(const char *text, uint64_t *ret_rate, struct err *err)
{
	uint64_t rate = RTC_LEAST;

	if (!parse_u64_max(text, RTC_MOST, ret_rate))
		return err_set(err, -EINVAL,
			       "RTC_INTERRUPTS:%s: a rate from %d to %d per second",
			       text, RTC_LEAST, RTC_MOST);
	while (rate < *ret_rate)
		rate *= 2;
	*ret_rate = rate;
	return 0;
}

static bool is_number(const char *text)
{
	uint64_t v;

	return parse_u64(text, &v);
}

/* Whether it is the one that tells the time: what a machine without counters samples by its
 * timer. */
static bool is_time(const char *name)
{
	static const char *const names[] = { "CPU_CLK_UNHALTED", "GLOBAL_POWER_EVENTS",
					     "cycles", "cpu-cycles" };
	const struct cpu_type *cpu = cpu_type_host();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return cpu && cpu->default_event && !strcmp(name, cpu->default_event);
}

/* What is asked for is not always what the parser of events takes: a rate of the clock chip is
 * rounded, *ret_rate; TIMER:0 is TIMER, as daemonrc has it. */
static int to_check(const char *spec, const struct parts *p, char ret_spec[SPEC_MAX],
		    uint64_t *ret_rate, struct err *err)
{
	int r;

	snprintf(ret_spec, SPEC_MAX, "%s", spec);
	*ret_rate = 0;
	if (p->nr < 2)
		return 0;
	if (!strcmp(p->part[0], "TIMER") && !strcmp(p->part[1], "0"))
		snprintf(ret_spec, SPEC_MAX, "TIMER");
	if (strcmp(p->part[0], "RTC_INTERRUPTS") != 0)
		return 0;
	r = rtc_rate(p->part[1], ret_rate, err);
	if (!r)
		snprintf(ret_spec, SPEC_MAX, "RTC_INTERRUPTS:%" PRIu64, *ret_rate);
	return r;
}

/* The i-th part, or what stands for it. */
static const char *part_or(const struct parts *p, size_t i, const char *otherwise)
{
	return i < p->nr ? p->part[i] : otherwise;
}

/* NAME:COUNT:UNITMASK:KERNEL:USER, with 0:1:1 for what is left out. */
static void keep_whole(const struct parts *p, uint64_t rate, bool kernel_only,
		       char ret_kept[SPEC_MAX])
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, rate);
	snprintf(ret_kept, SPEC_MAX, "%.200s:%.24s:%.100s:%.8s:%.8s", p->part[0],
		 rate ? number : part_or(p, 1, "0"), part_or(p, 2, "0"),
		 kernel_only ? "1" : part_or(p, 3, "1"),
		 kernel_only ? "0" : part_or(p, 4, "1"));
}

/* Without counters the timer tells the time; else -ENODEV with OProfile's line. */
static int without_counters(const char *name, char ret_kept[SPEC_MAX], struct err *err)
{
	if (!name || !is_time(name))
		return err_set(err, -ENODEV,
			       "You cannot specify any performance counter events "
			       "because OProfile is in timer mode.");
	fprintf(stderr,
		"%s: there are no performance counters here: the event TIMER takes its "
		"place.\n",
		name);
	snprintf(ret_kept, SPEC_MAX, "TIMER:0:0:1:1");
	return 0;
}

/* One spec into the list of all; `ret_kept` is what daemonrc has of it. */
static int take(const char *spec, const struct control_options *set,
		struct event_requests *reqs, char ret_kept[SPEC_MAX], struct err *err)
{
	struct parts p = { 0 };
	bool plain = split(spec, &p);
	char checked[SPEC_MAX];
	size_t first = reqs->list.nr;
	uint64_t rate;
	int r;

	if (!plain)
		p.nr = 0;
	r = to_check(spec, &p, checked, &rate, err);
	if (!r)
		r = events_parse(checked, 0, reqs, err);
	if (r)
		return r;
	if (event_needs_counter(&reqs->list.at[first]) && !events_have_pmu())
		return without_counters(plain ? p.part[0] : NULL, ret_kept, err);
	snprintf(ret_kept, SPEC_MAX, "%s", spec);
	if (p.nr > 1 ? is_number(p.part[1]) : plain && !strcmp(p.part[0], "TIMER"))
		keep_whole(&p, rate, set->kernel_only, ret_kept);
	return 0;
}

/* TIMER and RTC_INTERRUPTS are the timer's, and alone. */
static int check_timers(const struct event_requests *reqs, struct err *err)
{
	size_t nr_timers = 0;

	for (size_t i = 0; i < reqs->list.nr; i++)
		nr_timers += reqs->list.at[i].timer ||
			     !strcmp(reqs->list.at[i].name, "RTC_INTERRUPTS");
	if (nr_timers && reqs->list.nr > 1)
		return err_set(err, -EINVAL,
			       "TIMER event cannot be used in combination with "
			       "hardware counters.");
	return 0;
}

/* OProfile refused what its counters cannot count at once; the kernel lets them take turns. */
static void tell_turns(const struct event_requests *reqs)
{
	size_t first;

	if (events_fit_here(reqs->list.at, reqs->list.nr, &first) == EVENTS_TAKE_TURNS)
		command_warning("Couldn't allocate hardware counters for the selected "
				"events: %s does not fit beside those before it. The "
				"kernel counts them in turns and scales.",
				reqs->list.at[first].name);
}

int control_setup_events(const struct control_options *set, struct daemonrc *rc,
			 struct err *err)
{
	struct event_requests reqs = { 0 };
	char kept[SPEC_MAX];
	int r = 0;

	if (set->events.values.nr)
		daemonrc_clear_events(rc);
	for (size_t i = 0; i < set->events.values.nr && !r; i++) {
		const char *spec = set->events.values.at[i];

		if (!*spec)
			r = err_set(err, -EINVAL, "No value given for option --event");
		else if (!strcmp(spec, "default"))
			continue; /* what is taken where there is none */
		else
			r = take(spec, set, &reqs, kept, err);
		if (!r)
			r = daemonrc_add_event(rc, kept);
		if (r && (!err->text[0] || r == -E2BIG))
			err_set(err, r, "too many events, or not enough memory");
	}
	if (!r)
		r = check_timers(&reqs, err);
	if (!r)
		tell_turns(&reqs);
	if (!r && !daemonrc_get(rc, "NR_CHOSEN"))
		r = daemonrc_set_number(rc, "NR_CHOSEN", 0);
	events_done(&reqs);
	return r;
}
