/* SPDX-License-Identifier: GPL-2.0-or-later */
/* export.c - `oprofile export FORMAT`: converts sessions and recordings to formats of other
 * tools. */
#include "tools/export/export.h"

#include <errno.h>
#include <string.h>

#include "aggregate/selection/keys.h"
#include "aggregate/selection/spec.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/err.h"
#include "present/export/export_writers.h"
#include "recordings/sources.h"
#include "tools/cli/command.h"
#include "tools/cli/mistaken_word.h"

enum {
	STATUS_INCOMPLETE = 3
};

extern const struct command command_export;

static const struct export_rows heat_rows[] = {
	{ "offset", "time:20ms,stack" },
	{ "cpu", "time:20ms,cpu,stack" },
	{ "thread", "time:20ms,pid,tid,comm,stack" },
	{ 0 },
};

/* Keys to drop if there are too many distinct samples, all of which viewers load into memory. */
static const unsigned int pprof_gives_up[] = { NEED_TID, NEED_CPU, NEED_PID, 0 };
static const unsigned int flamegraph_gives_up[] = { NEED_TID, NEED_PID, 0 };

static const struct export_format formats[] = {
	{ .name = "perf-data", .run = export_perf_data },
	{ .name = "perf-script", .run = export_perf_script, .finds_sources = true },
	{ .name = "folded",
	  .run = export_profile,
	  .keys = "comm,stack",
	  .write = write_folded },
	{ .name = "callgrind",
	  .run = export_callgrind,
	  .keys = "app,function-line,line,stack" },
	{ .name = "gmon",
	  .run = export_profile,
	  .keys = "app,address,stack",
	  .usual = "gmon.out",
	  .code = true,
	  .call_events = true,
	  .write = write_gmon },
	{ .name = "pprof",
	  .run = export_profile,
	  .keys = "comm,pid,tid,cpu,host,stack",
	  .periods = true,
	  .lines = true,
	  .give_up = pprof_gives_up,
	  .labels = true,
	  .binary = true,
	  .write = write_pprof },
	{ .name = "speedscope",
	  .run = export_profile,
	  .keys = "comm,stack",
	  .write = write_speedscope },
	{ .name = "firefox",
	  .run = export_profile,
	  .keys = "pid,tid,comm,time:1ms,stack",
	  .timeline = true,
	  .write = write_firefox },
	{ .name = "flamegraph",
	  .run = export_profile,
	  .keys = "host,session,comm,pid,tid,stack",
	  .give_up = flamegraph_gives_up,
	  .threshold = "0.005",
	  .write = write_flamegraph,
	  .svg = write_flame_svg },
	{ .name = "heatmap",
	  .run = export_profile,
	  .keys = "time:20ms,stack",
	  .timeline = true,
	  .rows = heat_rows,
	  .threshold = "0.005",
	  .write = write_heatmap },
	{ .name = "chrome",
	  .run = export_profile,
	  .keys = "comm,stack",
	  .write = write_chrome },
	{ .name = "afdo", .run = export_afdo },
	{ .name = "bolt", .run = export_bolt },
	{ .name = "odb", .run = export_odb },
};

enum {
	NR_FORMATS = COUNT_OF(formats)
};

static const struct option_row rows[] = {
	{ .name = "output-file",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct export_options, output),
	  .help = "Write to this file and replace it. Default: ./perf.data (must not exist) for perf-data, the standard output for text." },
	{ .name = "output", .alias_of = "output-file" },
	{ .name = "inline",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct export_options, inlined),
	  .help = "Include inlined functions (needs debug information)." },
	{ .name = "svg",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct export_options, svg),
	  .help = "flamegraph: write an SVG picture instead of a page." },
	{ .name = "rows",
	  .kind = OPTION_TEXT,
	  .value = "WHAT",
	  .offset = OPTION(struct export_options, rows),
	  .help = "heatmap: use one row per offset within the second (default), cpu or thread." },
	EXPORT_OPTION_ROWS(
		"Calls with a smaller share of the samples, including those of their callees, are counted for their callers. "
		"No sample is left out."),
	{ 0 },
};

static const char *export_put_names(struct buf *b)
{
	for (size_t i = 0; i < NR_FORMATS; i++) {
		buf_put(b, i ? ", " : "", i ? 2 : 0);
		buf_put(b, formats[i].name, strlen(formats[i].name));
	}
	buf_put_u8(b, 0);
	return b->failed ? "" : (const char *)b->data;
}

/* Returns the format of this name, or NULL with a message in *err if there is no such format. */
static const struct export_format *find_format(const char *word, struct err *err)
{
	struct buf names = { 0 };

	for (size_t i = 0; word && i < NR_FORMATS; i++)
		if (!strcmp(word, formats[i].name))
			return &formats[i];
	if (!word)
		err_set(err, -EINVAL,
			"no format given: the first argument must be one of %s",
			export_put_names(&names));
	else
		err_set(err, -EINVAL,
			"\"%s\" is not a format: the first argument must be one of %s",
			word, export_put_names(&names));
	buf_done(&names);
	return NULL;
}

static int export_sources(struct export_run *e, struct err *err)
{
	struct report_sources sources = { .trust = report_trust(e->options->force),
					  .root = e->options->locations.root };
	struct spec spec = { 0 };
	int r = report_sources_find(e->options->session_dir, e->words, &spec, &sources,
				    err);

	e->spec = &spec;
	e->sources = &sources;
	e->is_private = sources.is_private;
	if (!r)
		r = e->format->run(e, err);
	mistaken_word_say(&sources, &spec, r);
	e->spec = NULL;
	e->sources = NULL;
	report_sources_done(&sources);
	spec_done(&spec);
	return r;
}

int export_command(const char *format, const struct export_options *options,
		   char *const *words)
{
	struct export_run e = { .options = options, .words = words };
	struct err err = { 0 };

	e.format = find_format(format, &err);
	if (!e.format ||
	    (e.format->keys ? e.format->run(&e, &err) : export_sources(&e, &err))) {
		command_error("%s", err.text);
		return 1;
	}
	return e.incomplete ? STATUS_INCOMPLETE : 0;
}

static int export_run(const struct command *self, int argc, char **argv)
{
	struct export_options options = { 0 };
	int first;
	int status;

	status = command_options(self, OPTIONS_PERMUTE, argc, argv, &options, &first);
	if (status >= 0)
		return status;
	return export_command(argv[first], &options,
			      argv[first] ? argv + first + 1 : argv + first);
}

const struct command command_export = {
	.name = "export",
	.summary = "write recordings in formats of other tools",
	.usage = "FORMAT [options] [SESSION|FILE...] [profile specification...]",
	.notes =
		"Formats:\n"
		"  perf-data  a perf.data file, for perf report and perf script\n"
		"  perf-script the text of perf script, as oprofile script prints it\n"
		"  folded     one line per stack, \"comm;outermost;...;innermost SAMPLES\", for flamegraph.pl and similar tools\n"
		"  flamegraph one HTML page; "
		"with --svg an SVG picture\n"
		"  heatmap    one HTML page: "
		"samples by time, and a flame graph of any time range\n"
		"  callgrind  for KCachegrind: "
		"a file callgrind.out.NAME for each application\n"
		"  gmon       for gprof, as opgprof writes it\n"
		"  pprof      for go tool pprof and other readers: "
		"one value per event, source lines, and labels comm, pid, tid, cpu, host;\n"
		"             without tid, cpu and pid if there are more than a million different samples\n"
		"  speedscope JSON for www.speedscope.app\n"
		"  firefox    JSON for profiler.firefox.com: "
		"threads and time\n"
		"  chrome     a .cpuprofile, for Chrome's developer tools\n"
		"  afdo       a sample profile for clang -fprofile-sample-use and llvm-profdata\n"
		"  bolt       for llvm-bolt: "
		"the output of perf2bolt, for one binary\n"
		"  odb        a session directory of OProfile, for its own opreport: "
		"-o names a new directory\n"
		"Several sources are merged; "
		"a profile specification selects samples.\n"
		"Examples:\n"
		"  oprofile export perf-data -o perf.data\n"
		"  oprofile export perf-data -o all.data one.data two.data\n"
		"  oprofile export pprof -o p.pb.gz && go tool pprof -top p.pb.gz\n"
		"  oprofile export flamegraph -o flames.html\n"
		"  oprofile export folded perf.data | flamegraph.pl > flames.svg\n"
		"  oprofile export perf-data -o part.data perf.data time:10%-20% comm:make",
	.options = rows,
	.run = export_run,
};

int export_code_read(struct export_run *run, code_reading_fn fn, void *ctx,
		     struct err *err)
{
	const struct code_request request = { .sources = run->sources,
					      .spec = run->spec,
					      .locations = &run->options->locations,
					      .format = run->format->name };

	return code_reading_run(&request, fn, ctx, &run->incomplete, err);
}
