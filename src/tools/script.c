/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script.c - `oprofile script`: prints every sample like perf script. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/read/open.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/parse.h"
#include "present/lines/screen.h"
#include "recordings/locations.h"
#include "recordings/no_match.h"
#include "recordings/sources.h"
#include "resolve/symbolize/naming.h"
#include "script/sink.h"
#include "script/sources.h"
#include "tools/cli/command.h"
#include "tools/cli/mistaken_word.h"
#include "tools/cli/pager.h"
#include "tools/cli/recording_options.h"
#include "tools/cli/terminal.h"
#include "tools/export/export.h"
#include "tools/report/out.h"

enum {
	STATUS_INCOMPLETE = 3,
	DEFAULT_MAX_STACK = 127 /* the default of perf script for a file */
};

extern const struct command command_script;

struct script_settings {
	const char *input;
	const char *fields;
	struct location_options locations;
	bool hide_call_graph;
	bool ns;
	bool show_mmaps;
	bool show_tasks;
	bool force;
	uint64_t max_stack;
	const char *session_dir;
	const char *threads;
	bool no_pager;
};

static const struct option_row rows[] = {
	{ .name = "fields",
	  .letter = 'F',
	  .kind = OPTION_TEXT,
	  .value = "FIELD[,FIELD...]",
	  .offset = OPTION(struct script_settings, fields),
	  .help = "Print these fields, or add (+) and remove (-) fields: comm, tid, pid, time, cpu, event, ip, sym, dso, addr, symoff, period, brstack, brstacksym, weight, ins_lat, phys_addr, data_page_size, code_page_size, misc, cgroup." },
	{ .name = "hide-call-graph",
	  .letter = 'G',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct script_settings, hide_call_graph),
	  .help = "Print one line per sample, without call chains." },
	{ .name = "max-stack",
	  .kind = OPTION_COUNT,
	  .value = "N",
	  .offset = OPTION(struct script_settings, max_stack),
	  .help = "Print at most N frames of a chain (default 127, as in perf)." },
	{ .name = "ns",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct script_settings, ns),
	  .help = "Print times in nanoseconds." },
	{ .name = "show-mmap-events",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct script_settings, show_mmaps),
	  .help = "For perf.data: also print mapping records (perf2bolt needs them)." },
	{ .name = "show-task-events",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct script_settings, show_tasks),
	  .help = "For perf.data: also print task records: names, forks, exits." },
	FORCE_OPTION_ROW(struct script_settings, 'f'),
	{ .name = "input",
	  .letter = 'i',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct script_settings, input),
	  .help = "Read this recording (same as the argument)." },
	ACCEPT_CHANGED_OPTION_ROW(struct script_settings),
	LOCATION_OPTION_ROWS(struct script_settings),
	SESSION_DIR_OPTION_ROW(struct script_settings),
	THREADS_OPTION_ROW(struct script_settings),
	{ .name = "no-pager",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct script_settings, no_pager),
	  .help = "Do not use a pager ($OPROFILE_PAGER, $PAGER or less)." },
	{ 0 },
};

struct script_run {
	struct script_settings set;
	struct spec spec;
	struct report_sources sources;
	struct script_options options;
	struct err err;
	uint64_t samples, skipped;
	int status;
};

/* Prints one line with numbers and returns true if some input could not be read. */
static bool warn_of_damage(const char *name, const struct script_result *r)
{
	const struct perf_input_damage *d = &r->damage;
	const struct segment_damage *s = &r->segments;

	if (r->lost)
		command_warning("'%s': the kernel lost %" PRIu64 " samples", name,
				r->lost);
	if (r->dropped)
		command_warning(
			"'%s': %" PRIu64
			" samples were dropped during the recording: memory was short, or the disk was full",
			name, r->dropped);
	if (!d->cut_bytes && !d->missing_bytes && !d->bad_bytes && !d->bad_features &&
	    !d->missing_files && !r->interrupted && !r->malformed && !r->stray &&
	    !s->bad_blocks && !s->cut_bytes && !s->bad_samples && !s->unfinished)
		return s->missing_samples || r->dropped;
	command_warning(
		"'%s': the input is incomplete: %s%s%" PRIu64 " bytes missing, %" PRIu64
		" of a record cut off, %" PRIu64 " damaged, %" PRIu64
		" header features unreadable, %" PRIu64 " blocks damaged, %" PRIu64
		" records malformed, %" PRIu64 " samples of unknown events; %" PRIu64
		" samples written",
		name,
		r->interrupted || s->unfinished ? "the recording was interrupted; "
						: "",
		perf_input_files_text(d).text, d->missing_bytes,
		d->cut_bytes + s->cut_bytes, d->bad_bytes, d->bad_features,
		s->bad_blocks, r->malformed, r->stray + s->bad_samples, r->samples);
	return true;
}

/* Checks that the specification selects some sample, unless the recordings have no samples.
 * Returns 0, or a negative errno with a message in run->err. */
static int script_check_found(struct script_run *run)
{
	if (run->samples || !run->skipped || run->set.show_mmaps || run->set.show_tasks)
		return 0;
	return no_match_error(&run->sources, &run->spec, &run->err);
}

/* Prints the samples of all sources, in the order of the arguments. pager_run() detects when the
 * output is closed. */
static int script_write_all(FILE *out, void *ctx)
{
	struct script_run *run = ctx;

	run->options.out = out;
	for (size_t i = 0; i < run->sources.sessions.nr; i++) {
		const struct report_session *s = &run->sources.sessions.at[i];
		struct script_result result;
		int r = s->perf_data
				? script_perf_data(s, &run->options, &result, &run->err)
				: script_session(s, &run->options, &result, &run->err);

		if (r)
			return ferror(out) ? 0 : r;
		if (warn_of_damage(s->name, &result))
			run->status = STATUS_INCOMPLETE;
		run->samples += result.samples;
		run->skipped += result.skipped;
	}
	return script_check_found(run);
}

/* Finds the sources. The argument of --input must name one. */
static int script_find_sources(struct script_run *run, char *const *words)
{
	const char *input = run->set.input;
	char *first = input ? strdup(input) : NULL;
	VEC(char *) all = { 0 };
	bool kept = !input || (first && vec_push(&all, first));
	int r = 0;

	run->sources.trust = report_trust(run->set.force);
	run->sources.root = run->set.locations.root;
	for (; kept && *words; words++)
		kept = vec_push(&all, *words);
	if (!kept || !vec_push(&all, NULL))
		r = err_set(&run->err, -ENOMEM, "out of memory");
	if (!r && input && !report_source_is(input))
		r = err_set(&run->err, -ENOENT, "--input: %s: %s", input,
			    access(input, F_OK) ? strerror(errno)
						: "neither a session nor a perf.data");
	if (!r)
		r = report_sources_find(run->set.session_dir, all.at, &run->spec,
					&run->sources, &run->err);
	free(first);
	vec_done(&all);
	return r;
}

static int script_make_locations(struct script_run *run)
{
	struct location_options *from = &run->set.locations;

	from->archive = archive_folder(run->sources.archive);
	return locations_make(from, &run->options.locations, &run->err);
}

static int script_prepare(struct script_run *run, char *const *words)
{
	const struct script_settings *set = &run->set;
	int r = report_threads(set->threads, &run->options.threads, &run->err);

	run->options.fields = set->fields;
	run->options.hide_chains = set->hide_call_graph;
	run->options.nanoseconds = set->ns;
	run->options.show_mmaps = set->show_mmaps;
	run->options.show_tasks = set->show_tasks;
	run->options.max_stack = set->max_stack ? set->max_stack : DEFAULT_MAX_STACK;
	run->options.spec = &run->spec;
	if (!r)
		r = script_find_sources(run, words);
	return r ? r : script_make_locations(run);
}

/* Prints all samples; on a terminal, through a pager and without control sequences. */
static int script_show(struct script_run *run)
{
	const struct terminal_options terminal = { .no_pager = run->set.no_pager };
	struct screen screen = { 0 };
	int r = terminal_screen(&terminal, true, &screen, &run->err);

	return r ? r : pager_run(&terminal, &screen, script_write_all, run);
}

static void script_done(struct script_run *run)
{
	report_sources_done(&run->sources);
	spec_done(&run->spec);
	naming_locations_free(run->options.locations);
}

static int script_run(const struct command *self, int argc, char **argv)
{
	struct script_run run = { 0 };
	int first;
	int status =
		command_options(self, OPTIONS_PERMUTE, argc, argv, &run.set, &first);
	int r;

	if (status >= 0)
		return status;
	r = script_prepare(&run, argv + first);
	if (!r)
		r = script_show(&run);
	mistaken_word_say(&run.sources, &run.spec, r);
	if (r)
		command_error("%s", run.err.text[0] ? run.err.text
						    : "cannot write the result");
	script_done(&run);
	return r ? 1 : run.status;
}

int export_perf_script(struct export_run *e, struct err *err)
{
	struct script_run run = { .set = { .locations = e->options->locations,
					   .session_dir = e->options->session_dir,
					   .force = e->options->force,
					   .threads = e->options->threads } };
	struct report_out out = { 0 };
	int r = script_prepare(&run, e->words), closed;

	if (!r)
		r = report_out_open(&out, e->options->output, &run.err);
	if (!r)
		r = script_write_all(out.file, &run);
	closed = report_out_close(
		&out, r ? EXPORT_DROPPED : report_out_end(run.sources.is_private),
		r ? NULL : &run.err);
	if (r || closed)
		*err = run.err;
	e->incomplete = run.status == STATUS_INCOMPLETE;
	script_done(&run);
	return r ? r : closed;
}

const struct command command_script = {
	.name = "script",
	.summary = "show every sample, as perf script does",
	.usage = "[options] [PERF-DATA | SESSION | -]... [profile specification]",
	.notes =
		"The output has the same bytes as that of perf script, so FlameGraph, speedscope, the Firefox Profiler and others read it. The default is the current session; - is standard input. Examples:\n"
		"  oprofile script perf.data | stackcollapse-perf.pl | flamegraph.pl\n"
		"  oprofile script -F comm,tid,time,ip,sym perf.data comm:make",
	.options = rows,
	.run = script_run,
};
