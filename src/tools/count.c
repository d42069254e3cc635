/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count.c - `oprofile count`, ocount: counts events of a command, of CPUs, or of tasks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/comma.h"
#include "base/err.h"
#include "base/files/output.h"
#include "base/parse.h"
#include "counting/count.h"
#include "present/facts/counts.h"
#include "present/lines/screen.h"
#include "record/thread_list.h"
#include "tools/cli/command.h"

enum {
	STEP_MS = 100, /* intervals are rounded to multiples of this, as in OProfile */
	REPEATS_MAX = 10000,
	EXIT_NOT_FOUND = 127,
	EXIT_CANNOT_RUN = 126
};

extern const struct command command_count;

struct count_settings {
	struct word_list events;
	bool system_wide;
	const char *processes;
	const char *threads;
	const char *cpus;
	bool separate_cpu;
	bool separate_thread;
	const char *interval;
	bool brief;
	const char *output;
	uint64_t repeat;
	bool metrics;
	bool json;
	bool verbose;
};

static const struct option_row rows[] = {
	{ .name = "events",
	  .letter = 'e',
	  .kind = OPTION_LIST,
	  .value = "SPEC[,SPEC...]",
	  .offset = OPTION(struct count_settings, events),
	  .help = "Count these events: NAME[:UNITMASK[:KERNEL[:USER]]] or perf syntax (see ophelp). Default: CPU cycles, or time, page faults, context switches and migrations without hardware counters." },
	{ .name = "event", .alias_of = "events" },
	{ .name = "system-wide",
	  .letter = 's',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct count_settings, system_wide),
	  .help = "Count on all CPUs, until Ctrl-C." },
	{ .name = "process-list",
	  .letter = 'p',
	  .kind = OPTION_TEXT,
	  .value = "PID[,PID...]",
	  .offset = OPTION(struct count_settings, processes),
	  .help = "Count these processes and their children, until they end or Ctrl-C." },
	{ .name = "thread-list",
	  .letter = 'r',
	  .kind = OPTION_TEXT,
	  .value = "TID[,TID...]",
	  .offset = OPTION(struct count_settings, threads),
	  .help = "Count these threads, until they end or Ctrl-C." },
	{ .name = "cpu-list",
	  .letter = 'C',
	  .kind = OPTION_TEXT,
	  .value = "CPU[-CPU][,...]",
	  .offset = OPTION(struct count_settings, cpus),
	  .help = "Count on these CPUs, until Ctrl-C." },
	{ .name = "separate-cpu",
	  .letter = 'c',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct count_settings, separate_cpu),
	  .help = "Print one row per CPU; requires --system-wide or --cpu-list." },
	{ .name = "separate-thread",
	  .letter = 't',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct count_settings, separate_thread),
	  .help = "Print one row per thread; requires --process-list or --thread-list." },
	{ .name = "time-interval",
	  .letter = 'i',
	  .kind = OPTION_TEXT,
	  .value = "MS[:N]",
	  .offset = OPTION(struct count_settings, interval),
	  .help = "Print a table every MS milliseconds (rounded to 100) for that interval; stop after N." },
	{ .name = "brief-format",
	  .letter = 'b',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct count_settings, brief),
	  .help = "Print comma-separated rows: [CPU or thread,]EVENT,COUNT,PERCENT of time." },
	{ .name = "output-file",
	  .letter = 'f',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct count_settings, output),
	  .help = "Write to this file." },
	{ .name = "repeat",
	  .kind = OPTION_COUNT,
	  .value = "N",
	  .not_zero = true,
	  .offset = OPTION(struct count_settings, repeat),
	  .help = "Run the command N times; print the median, minimum and maximum." },
	{ .name = "metrics",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct count_settings, metrics),
	  .help = "Also print derived metrics: instructions per cycle, miss ratios, CPUs used, pipeline stalls. Without --events, count the events they need." },
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct count_settings, json),
	  .help = "Write JSON, one object per interval." },
	{ .name = "verbose",
	  .letter = 'V',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct count_settings, verbose),
	  .help = "Print the events that are requested from the kernel." },
	{ 0 },
};

struct count_job {
	struct count_settings set;
	struct count_run run;
	struct count_view view;
	struct count_values *values; /* one per repeat */
	size_t nr_values;
};

/* ---- targets ---- */

static bool count_has_number(const int *numbers, size_t nr, int number)
{
	for (size_t i = 0; i < nr; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

static int read_numbers(const char *text, const char *option, struct count_run *run,
			struct err *err)
{
	while (text) {
		char *word = comma_next(&text);
		uint64_t number = 0;
		bool good = word && parse_u64_max(word, INT32_MAX, &number) && number;

		if (!good)
			(void)err_set(err, -EINVAL, "--%s: \"%s\" is not a task number",
				      option, word ? word : "");
		free(word);
		if (!good)
			return -EINVAL;
		/* If a task is given twice, count it once. */
		if (!count_has_number(run->tasks.at, run->tasks.nr, (pid_t)number) &&
		    !vec_push(&run->tasks, (pid_t)number))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int add_threads(struct count_run *run, pid_t task, struct err *err)
{
	struct thread_list list = { 0 };
	size_t nr_before = run->tids.nr;
	int r = 0;

	if (run->mode == COUNT_THREADS) {
		if (!vec_push(&list.list, task))
			r = -ENOMEM;
	} else {
		r = thread_list_add(&list, task);
	}
	for (size_t i = 0; i < list.list.nr && !r; i++)
		if (!count_has_number(run->tids.at, nr_before, list.list.at[i]) &&
		    !vec_push(&run->tids, list.list.at[i]))
			r = -ENOMEM;
	thread_list_done(&list);
	if (r == -ESRCH || r == -ENOENT) {
		command_warning("there is no process %d", (int)task);
		return 0;
	}
	return r ? err_sys(err, r, "cannot list the threads of process %d", (int)task)
		 : 0;
}

static int choose_tasks(struct count_job *j, struct err *err)
{
	struct count_run *run = &j->run;
	bool threads = j->set.threads != NULL;
	int r = read_numbers(threads ? j->set.threads : j->set.processes,
			     threads ? "thread-list" : "process-list", run, err);

	run->mode = threads ? COUNT_THREADS : COUNT_PROCESSES;
	run->subject =
		threads ? "the specified thread(s)" : "the specified process(es)";
	for (size_t i = 0; i < run->tasks.nr && !r; i++)
		r = add_threads(run, run->tasks.at[i], err);
	if (!r && !run->tids.nr)
		r = err_set(err, -ESRCH, "No valid tasks to monitor -- quitting.");
	run->nr_scopes = run->tids.nr;
	return r;
}

static int choose_cpus(struct count_job *j, struct err *err)
{
	struct count_run *run = &j->run;
	struct cpu_list online = { 0 };
	size_t nr = 0;
	int r = cpu_list_online(&online);

	if (r)
		return err_sys(err, r, "cannot read the list of online CPUs");
	run->mode = j->set.cpus ? COUNT_CPUS : COUNT_SYSTEM;
	run->subject = j->set.cpus ? "the specified CPU(s)" : "the whole system";
	if (!j->set.cpus) {
		run->cpus = online;
		run->nr_scopes = online.nr;
		return 0;
	}
	if (cpu_list_parse(j->set.cpus, &run->cpus) || !run->cpus.nr)
		r = err_set(err, -EINVAL, "Invalid cpu range.");
	for (size_t i = 0; i < run->cpus.nr && !r; i++) {
		int cpu = run->cpus.at[i];

		if (!count_has_number(online.at, online.nr, cpu))
			r = err_set(err, -EINVAL, "Specified CPU %d is not valid", cpu);
		else if (!count_has_number(run->cpus.at, nr, cpu))
			run->cpus.at[nr++] = cpu;
	}
	cpu_list_done(&online);
	run->cpus.nr = run->nr_scopes = nr;
	return r;
}

static int choose_scopes(struct count_job *j, char **words, int nr, struct err *err)
{
	const struct count_settings *s = &j->set;
	int modes =
		(nr > 0) + s->system_wide + !!s->processes + !!s->threads + !!s->cpus;

	if (modes > 1)
		return err_set(
			err, -EINVAL,
			"give only one of a command, --system-wide, --process-list, --thread-list and --cpu-list");
	if (!modes)
		return err_set(
			err, -EINVAL,
			"nothing to count: give a command, --system-wide, --process-list, --thread-list or --cpu-list (see --help)");
	if (s->separate_cpu && !s->system_wide && !s->cpus)
		return err_set(err, -EINVAL,
			       "--separate-cpu requires --system-wide or --cpu-list");
	if (s->separate_thread && !s->processes && !s->threads)
		return err_set(
			err, -EINVAL,
			"--separate-thread requires --process-list or --thread-list");
	if (s->repeat && !nr)
		return err_set(err, -EINVAL, "--repeat requires a command");
	if (s->repeat > REPEATS_MAX || (s->repeat > 1 && s->interval))
		return err_set(
			err, -EINVAL,
			s->interval ? "--repeat cannot be combined with --time-interval"
				    : "--repeat: value too large: maximum is 10000");
	if (s->processes || s->threads)
		return choose_tasks(j, err);
	if (s->system_wide || s->cpus)
		return choose_cpus(j, err);
	j->run.mode = COUNT_COMMAND;
	j->run.command = words;
	j->run.subject = words[0];
	j->run.nr_scopes = 1;
	return 0;
}

static int choose_interval(struct count_job *j, struct err *err)
{
	const char *text = j->set.interval;
	const char *colon = text ? strchr(text, ':') : NULL;
	char ms_text[24];
	uint64_t ms;

	if (!text)
		return 0;
	(void)snprintf(ms_text, sizeof(ms_text), "%.*s",
		       colon ? (int)(colon - text) : 23, text);
	if (!parse_u64_max(ms_text, INT32_MAX, &ms) || !ms ||
	    (colon &&
	     (!parse_u64(colon + 1, &j->run.nr_intervals) || !j->run.nr_intervals)))
		return err_set(err, -EINVAL,
			       "--time-interval %s: expected milliseconds[:how many]",
			       text);
	ms = (ms + STEP_MS / 2) / STEP_MS * STEP_MS;
	j->run.interval_ns = (ms ? ms : STEP_MS) * NS_PER_MS;
	return 0;
}

static int count_choose_events(struct count_job *j, struct err *err)
{
	const struct word_list *given = &j->set.events;
	bool pmu = true;
	int r = 0;

	j->run.events.counting = true;
	for (size_t i = 0; i < given->values.nr && !r; i++)
		r = events_parse(given->values.at[i], 0, &j->run.events, err);
	if (r || given->values.nr)
		return r;
	pmu = events_have_pmu();
	if (!pmu)
		fprintf(stderr,
			"%s: this machine has no hardware counters (a virtual machine without PMU?): counting time, page faults, context switches and migrations instead of cycles\n",
			command_name());
	if (j->set.metrics || !pmu)
		return events_parse(
			count_metrics_events(
				pmu,
				access("/sys/bus/event_source/devices/cpu/events/topdown-retiring",
				       F_OK) == 0),
			0, &j->run.events, err);
	return events_parse("default", 0, &j->run.events, err);
}

static int open_output(struct count_job *j, struct err *err)
{
	j->view = (struct count_view){
		.separate = j->set.separate_cpu || j->set.separate_thread,
		.brief = j->set.brief,
		.json = j->set.json,
		.metrics = j->set.metrics,
		.out = stdout,
	};
	if (!j->set.output)
		return 0;
	return output_open_stream(j->set.output, &j->view.out, err);
}

/* ---- the run ---- */

static void count_report(const struct count_job *j)
{
	for (size_t i = 0; i < j->run.events.list.nr && j->set.verbose; i++) {
		const struct event_request *e = &j->run.events.list.at[i];

		screen_print_line(stderr, "%s: event %s: type %u, config 0x%llx%s%s",
				  command_name(), e->name, e->attr.type,
				  (unsigned long long)e->attr.config,
				  e->user ? ", in user space" : "",
				  e->kernel ? ", in the kernel" : "");
	}
}

static int write_interval(void *ctx, const struct count_values *values)
{
	const struct count_job *j = ctx;

	return count_write(&j->view, &j->run, values);
}

static int count_run_all(struct count_job *j, struct err *err)
{
	size_t nr = j->set.repeat ? j->set.repeat : 1;
	int r = 0;

	j->values = calloc(nr, sizeof(*j->values));
	if (!j->values)
		return err_set(err, -ENOMEM, "out of memory");
	while (j->nr_values < nr && !r) {
		r = count_run_once(&j->run, write_interval, j, &j->values[j->nr_values],
				   err);
		j->nr_values += !r;
	}
	if (r)
		return r;
	if (nr > 1)
		r = count_write_repeats(&j->view, &j->run, j->values, nr);
	else if (!j->run.interval_ns)
		r = count_write(&j->view, &j->run, &j->values[0]);
	if (r && !j->set.output)
		return err_sys(err, r, "cannot write to the standard output");
	return r ? err_sys(err, r, "cannot write '%s'", j->set.output) : 0;
}

static int count_run_words(struct count_job *j, char **words, int nr, struct err *err)
{
	int r = choose_scopes(j, words, nr, err);

	if (!r)
		r = choose_interval(j, err);
	if (!r)
		r = count_choose_events(j, err);
	if (!r)
		r = open_output(j, err);
	if (r)
		return r;
	count_report(j);
	r = count_run_all(j, err);
	if (j->view.out != stdout && fclose(j->view.out) && !r)
		r = err_sys(err, -errno, "cannot write '%s'", j->set.output);
	return r;
}

static void job_done(struct count_job *j)
{
	for (size_t i = 0; i < j->nr_values; i++)
		free(j->values[i].at);
	free(j->values);
	events_done(&j->run.events);
	cpu_list_done(&j->run.cpus);
	vec_done(&j->run.tasks);
	vec_done(&j->run.tids);
	vec_done(&j->set.events.values);
}

static int count_run(const struct command *self, int argc, char **argv)
{
	struct count_job j = { 0 };
	struct err err = { 0 };
	int first;
	int r = command_options(self, OPTIONS_STOP_AT_WORD, argc, argv, &j.set, &first);

	if (r < 0) {
		r = count_run_words(&j, argv + first, argc - first, &err);
		if (r)
			command_error("%s", err.text);
		/* If the command could not be run, exit with the status that a shell would use;
		 * after other failures with 1. */
		if (r && j.run.not_run)
			r = r == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
		else
			r = r ? 1 : j.run.target_status;
	}
	job_done(&j);
	return r;
}

const struct command command_count = {
	.name = "count",
	.classic = "ocount",
	.summary = "count events of a command, of tasks or of the whole system",
	.usage = "[options] COMMAND [ARGS...]\n"
		 "[options] --system-wide | --cpu-list LIST\n"
		 "[options] --process-list LIST | --thread-list LIST",
	.notes = "Examples:\n"
		 "  ocount ./program\n"
		 "  ocount --metrics --repeat 5 ./program\n"
		 "  ocount -e LLC_MISSES,INST_RETIRED:0:0:1 ./program\n"
		 "  ocount --system-wide --time-interval 1000:10 -e context-switches\n",
	.letters_h_u = true,
	.options = rows,
	.is_recorder = true,
	.run = count_run,
};
