/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.c - `oprofile events`, ophelp: lists the events of a CPU, and explains a specification. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "capture/events/cpu_types.h"
#include "capture/events/event_counters.h"
#include "capture/events/events.h"
#include "capture/events/fit.h"
#include "present/facts/events.h"
#include "present/lines/screen.h"
#include "tools/cli/command.h"
#include "tools/cli/pager.h"

enum {
	CHAIN_FACTOR = 15, /* OProfile's factor for minimum counts with call chains */
	DEFAULT_COUNT = 100000
};

/* Mask for the event code and the unit mask in an x86 config word; all other bits are extra. */
static const uint64_t not_extra = ~(uint64_t)0xf0000ffff;

extern const struct command command_events;

struct events_settings {
	const char *cpu_type;
	bool check_events;
	bool unit_mask;
	bool extra_mask;
	bool ignore_count;
	bool get_cpu_type;
	bool get_default;
	bool cpu_types;
	bool xml;
	bool json;
	uint64_t callgraph;
	const char *search;
	struct terminal_options terminal;
};

static const struct option_row rows[] = {
	{ .name = "cpu-type",
	  .letter = 'c',
	  .kind = OPTION_TEXT,
	  .value = "TYPE",
	  .offset = OPTION(struct events_settings, cpu_type),
	  .help = "Use the events of this CPU type: a name such as i386/skylake, or an OProfile number." },
	{ .name = "cpu-types",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct events_settings, cpu_types),
	  .help = "List the names of all CPU types." },
	{ .name = "check-events",
	  .letter = 'e',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct events_settings, check_events),
	  .help = "Check the arguments as event specifications and print a counter for each." },
	{ .name = "ignore-count",
	  .letter = 'i',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct events_settings, ignore_count),
	  .help = "Expect specifications without a count, as ocount uses." },
	{ .name = "unit-mask",
	  .letter = 'u',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct events_settings, unit_mask),
	  .help = "Print the unit mask of the given specification." },
	{ .name = "extra-mask",
	  .letter = 'E',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct events_settings, extra_mask),
	  .help = "Print the extra bits (besides code and unit mask) of the given specification." },
	{ .name = "get-cpu-type",
	  .letter = 'r',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct events_settings, get_cpu_type),
	  .help = "Print the name of this CPU's type." },
	{ .name = "get-default-event",
	  .letter = 'd',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct events_settings, get_default),
	  .help = "Print the default event." },
	{ .name = "callgraph",
	  .kind = OPTION_COUNT,
	  .value = "DEPTH",
	  .offset = OPTION(struct events_settings, callgraph),
	  .help = "Use minimum counts for call graphs: 15 times as large, if DEPTH is not 0." },
	{ .name = "search",
	  .letter = 's',
	  .kind = OPTION_TEXT,
	  .value = "WORD",
	  .offset = OPTION(struct events_settings, search),
	  .help = "Only list events with WORD in their name, description or unit masks." },
	{ .name = "xml",
	  .letter = 'X',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct events_settings, xml),
	  .help = "Write the list as XML." },
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct events_settings, json),
	  .help = "Write the list, or the result of --check-events, as JSON with the kernel's config values." },
	TERMINAL_OPTION_ROWS(struct events_settings),
	{ 0 },
};

struct query {
	struct events_settings set;
	const struct cpu_type *cpu; /* NULL: unknown */
	struct event_requests reqs;
	/* The CPUs whose events are listed: one entry or, on a machine with several core types,
	 * one per type. */
	struct event_cores cores[EVENT_CORES_MAX];
	struct event_requests of_cores[EVENT_CORES_MAX];
	struct events_view views[EVENT_CORES_MAX];
	size_t nr_views;
};

/* Returns the factor for minimum counts: samples with call chains cost more. */
static uint32_t count_factor(const struct query *q)
{
	return q->set.callgraph ? CHAIN_FACTOR : 1;
}

static int events_fail(const struct err *err)
{
	command_error("%s", err->text);
	return 1;
}

static int list_cpu_types(void)
{
	const struct cpu_type *type;

	for (size_t i = 0; (type = cpu_type_at(i)); i++)
		printf("%-28s %s%s\n", type->name, type->title,
		       event_catalog_has(type) ? "" : " (no events known)");
	return 0;
}

/* Finds the requested CPU type. Without a request, uses that of this machine, with a message if it
 * has no counters. */
static int find_cpu(struct query *q)
{
	const char *word = q->set.cpu_type;

	q->cpu = word ? cpu_type_find(word) : cpu_type_host();
	if (word && !q->cpu) {
		command_error(
			"cpu_type '%s' is not valid: ophelp --cpu-types lists them",
			word);
		return 1;
	}
	if (!q->cpu) {
		command_error(
			"the type of this CPU is unknown: give one with --cpu-type; software events and TIMER work everywhere");
		return 1;
	}
	if (!word && !events_have_pmu() && !q->set.get_cpu_type)
		fprintf(stderr,
			"%s: this machine has no hardware counters (a virtual machine without PMU?): operf uses TIMER; software events can be counted\n",
			command_name());
	q->reqs.cpu = q->cpu;
	q->reqs.no_host = word != NULL;
	q->reqs.counting = q->set.ignore_count;
	q->reqs.min_count_factor = count_factor(q);
	return 0;
}

static bool is_timer_type(const struct query *q)
{
	return !strcmp(q->cpu->name, "timer");
}

static int timer_notice(void)
{
	puts("Using timer interrupt.");
	return 0;
}

/* ---- views ---- */

static void add_view(struct query *q, const struct event_catalog *c,
		     const struct event_cores *cores, size_t nr_kinds)
{
	q->views[q->nr_views++] = (struct events_view){
		.catalog = c,
		.word = q->set.search,
		.count_factor = count_factor(q),
		.cores = cores,
		.nr_kinds = nr_kinds,
	};
}

/* Fills the list of CPUs: an entry for each core type with known events, or else one for the CPU
 * type. */
static int choose_views(struct query *q, struct err *err)
{
	size_t nr = q->reqs.no_host ? 0 : events_cores(&q->reqs, q->cores);
	const struct event_catalog *c;

	for (size_t i = 0; i < nr; i++) {
		q->of_cores[i].cpu = q->cores[i].type;
		c = events_catalog(&q->of_cores[i], err);
		if (c)
			add_view(q, c, &q->cores[i], nr);
	}
	if (q->nr_views)
		return 0;
	c = events_catalog(&q->reqs, err);
	if (c)
		add_view(q, c, NULL, 1);
	return c ? 0 : -ENODATA;
}

/* ---- single queries ---- */

static int print_default(struct query *q)
{
	struct catalog_choice choice = { 0 };
	struct err err = { 0 };
	const struct event_catalog *c;
	uint64_t count = DEFAULT_COUNT;

	if (is_timer_type(q)) {
		puts("TIMER");
		return 0;
	}
	c = events_catalog(&q->reqs, &err);
	if (!c)
		return events_fail(&err);
	if (event_catalog_choose(c, q->cpu->default_event, NULL, &choice, NULL) == 0 &&
	    count < choice.event->min_count)
		count = choice.event->min_count;
	printf("%s:%" PRIu64 ":%" PRIu64 ":1:1\n", q->cpu->default_event, count,
	       choice.unit_mask);
	return 0;
}

static int events_parse_words(struct query *q, char **words, int nr)
{
	struct err err = { 0 };

	if (!nr) {
		command_error("No events given.");
		return 1;
	}
	for (int i = 0; i < nr; i++)
		if (events_parse(words[i], 0, &q->reqs, &err))
			return events_fail(&err);
	return 0;
}

/* Returns how many events need a general-purpose counter. */
static unsigned int counters_needed(const struct query *q)
{
	unsigned int need = 0;

	for (size_t i = 0; i < q->reqs.list.nr; i++)
		need += event_needs_counter(&q->reqs.list.at[i]) &&
			!(q->reqs.list.at[i].counters >> EVENT_COUNTER_FIXED);
	return need;
}

/* Warns if the events cannot be counted at the same time. For this machine, tests that with the
 * kernel. For other CPUs, uses `first`, the first event without a counter according to the
 * catalogue. */
static void events_report_multiplexing(const struct query *q, size_t first)
{
	const struct event_request *events = q->reqs.list.at;
	const struct event_catalog *c = q->reqs.catalog;
	unsigned int have = c ? c->nr_counters : 0, need = counters_needed(q);
	enum events_fit fit = EVENTS_FIT_UNKNOWN;
	char text[EVENT_COUNTERS_TEXT];
	size_t asked;

	if (!q->reqs.no_host)
		fit = events_fit_here(events, q->reqs.list.nr, &asked);
	if (fit == EVENTS_MULTIPLEXED)
		first = asked;
	if (fit == EVENTS_FIT || first == q->reqs.list.nr)
		return;
	if (have && need > have) {
		command_warning("Not enough hardware counters. "
				"Need %u counters but only has %u. "
				"The kernel counts them in turns and scales.",
				need, have);
		return;
	}
	event_counters_text(events[first].counters, text);
	command_warning(
		"Couldn't allocate hardware counters for the selected events: "
		"%s does not fit next to those before it (counters that count it: "
		"%s). The kernel counts them in turns and scales.",
		events[first].name, text);
}

static void print_counter(int counter)
{
	if (counter < 0)
		fputs("N/A ", stdout);
	else if (counter < EVENT_COUNTER_FIXED)
		printf("%d ", counter);
	else
		printf("fixed%d ", counter - EVENT_COUNTER_FIXED);
}

static int check_events(struct query *q, char **words, int nr)
{
	int counter[EVENTS_MAX];
	size_t fitting;

	if (events_parse_words(q, words, nr))
		return 1;
	fitting = events_fit_known(q->reqs.list.at, q->reqs.list.nr,
				   events_catalog(&q->reqs, NULL), counter);
	if (q->set.json) {
		events_write_requests(stdout, q->reqs.list.at, q->reqs.list.nr);
	} else {
		for (size_t i = 0; i < q->reqs.list.nr; i++)
			print_counter(counter[i]);
		putchar('\n');
	}
	events_report_multiplexing(q, fitting);
	return 0;
}

static int print_mask(struct query *q, char **words, int nr)
{
	const struct event_request *e;

	if (events_parse_words(q, words, nr))
		return 1;
	if (q->reqs.list.nr > 1) {
		command_error("More than one event specified.");
		return 1;
	}
	e = &q->reqs.list.at[0];
	if (q->set.extra_mask)
		printf("%" PRIu64 "\n", (uint64_t)e->attr.config & not_extra);
	else
		printf("%" PRIu64 "\n", e->unit_mask);
	return 0;
}

/* Finds an event by name; the name can be one of an older CPU. */
static const struct catalog_event *events_find_event(const struct query *q,
						     const char *name)
{
	const struct catalog_event *e = NULL;
	struct catalog_choice choice;

	for (size_t i = 0; i < q->nr_views && !e; i++)
		e = event_catalog_find(q->views[i].catalog, name, NULL);
	for (size_t i = 0; i < q->nr_views && !e; i++)
		if (!event_catalog_choose(q->views[i].catalog, name, NULL, &choice,
					  NULL))
			e = choice.event;
	return e;
}

/* Prints the code of an event and nothing else, as OProfile does. */
static int print_code(struct query *q, const char *name)
{
	const struct catalog_event *e;
	struct err err = { 0 };

	if (choose_views(q, &err))
		return events_fail(&err);
	e = events_find_event(q, name);
	if (!e && !events_parse(name, 0, &q->reqs, &err)) {
		printf("%" PRIu64 "\n", (uint64_t)q->reqs.list.at[0].attr.config);
		return 0;
	}
	if (!e) {
		command_error("No such event \"%s\"%s%s", name, err.text[0] ? ": " : "",
			      err.text);
		return 1;
	}
	printf("%" PRIu64 "\n", e->code);
	return 0;
}

/* ---- the list ---- */

/* Lists event names of older CPUs with their equivalents on this one. */
static void write_classics(FILE *out, const struct events_view *v)
{
	const char *name;
	bool any = false;
	size_t at = 0;

	while ((name = cpu_type_classic_next(&at))) {
		struct catalog_choice choice;
		const char *is = cpu_type_classic(v->catalog->cpu, name, 0);

		if (v->word || !is || event_catalog_find(v->catalog, name, NULL) ||
		    event_catalog_choose(v->catalog, name, NULL, &choice, NULL))
			continue;
		if (!any)
			fputs("\nNames of older CPUs that are understood:\n", out);
		any = true;
		screen_print_line(out, "%s: %s, unit mask 0x%02" PRIx64, name,
				  choice.event->name, choice.unit_mask);
	}
}

/* Lists the events that the kernel counts on every machine, under the kernel's names. */
static size_t write_kernel_rows(FILE *out, const struct events_view *v)
{
	const char *name, *about;
	size_t nr = 0;

	for (size_t i = 0; events_row(i, &name, &about); i++) {
		if (v->word && !strcasestr(name, v->word) &&
		    !strcasestr(about, v->word))
			continue;
		if (!nr++)
			fputs("\nEvents of the kernel, on every CPU:\n", out);
		screen_print_line(out, "%s: %s", name, about);
	}
	return nr;
}

static int write_list(FILE *out, void *ctx)
{
	const struct query *q = ctx;
	size_t nr = 0;

	if (q->set.xml)
		return events_write_xml(out, q->views, q->nr_views) ? 0 : -ENOENT;
	if (q->set.json)
		return events_write_json(out, q->views, q->nr_views) ? 0 : -ENOENT;
	for (size_t i = 0; i < q->nr_views; i++) {
		if (i)
			fputc('\n', out);
		nr += events_write_text(out, &q->views[i]);
		write_classics(out, &q->views[i]);
	}
	nr += write_kernel_rows(out, &q->views[0]);
	return nr ? 0 : -ENOENT;
}

static int events_list(struct query *q)
{
	struct err err = { 0 };
	struct screen screen;

	if (is_timer_type(q))
		return timer_notice();
	if (choose_views(q, &err) ||
	    terminal_screen(&q->set.terminal, true, &screen, &err))
		return events_fail(&err);
	if (pager_run(&q->set.terminal, &screen, write_list, q)) {
		command_error("no event contains '%s' in its name or description",
			      q->set.search ? q->set.search : "");
		return 1;
	}
	return ferror(stdout) ? 1 : 0;
}

static int events_answer(struct query *q, char **words, int nr)
{
	const struct events_settings *s = &q->set;

	if (s->cpu_types)
		return list_cpu_types();
	if (find_cpu(q))
		return 1;
	if (s->get_cpu_type) {
		puts(q->cpu->name);
		return 0;
	}
	if (s->get_default)
		return print_default(q);
	if (s->unit_mask || s->extra_mask)
		return print_mask(q, words, nr);
	if (s->check_events)
		return check_events(q, words, nr);
	if (nr > 1) {
		command_error("Too many arguments.");
		return 1;
	}
	return nr ? print_code(q, words[0]) : events_list(q);
}

static int events_run(const struct command *self, int argc, char **argv)
{
	struct query q = { 0 };
	int first;
	int r = command_options(self, OPTIONS_PERMUTE, argc, argv, &q.set, &first);

	if (r >= 0)
		return r;
	r = events_answer(&q, argv + first, argc - first);
	events_done(&q.reqs);
	for (size_t i = 0; i < EVENT_CORES_MAX; i++)
		events_done(&q.of_cores[i]);
	return r;
}

const struct command command_events = {
	.name = "events",
	.classic = "ophelp",
	.summary = "list the events of a CPU, or check event specifications",
	.usage = "[options]\n[options] EVENT\n[options] --check-events SPEC...",
	.notes = "Examples:\n"
		 "  ophelp --search cache\n"
		 "  ophelp --cpu-type i386/skylake --xml\n"
		 "  ophelp --check-events CPU_CLK_UNHALTED:100000 LLC_MISSES:5000\n",
	.options = rows,
	.run = events_run,
};
