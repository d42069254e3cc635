/* export.c - `oprofile export FORMAT`: sessions and recordings in formats of others. */
#include "tools/export.h"

#include <errno.h>
#include <string.h>

#include "aggregate/spec.h"
#include "base/err.h"
#include "tools/command.h"
#include "tools/report_source.h"

enum {
	STATUS_INCOMPLETE = 3
};

extern const struct command command_export;

static const struct export_format *const formats[] = {
	&export_perf_data,
	&export_folded,
};

enum {
	NR_FORMATS = sizeof(formats) / sizeof(formats[0])
};

static const struct option_row rows[] = {
	{ .name = "output-file",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct export_options, output),
	  .help = "Write to this file, and replace what is there. Without it perf-data "
		  "makes ./perf.data, if there is none yet, and text goes to the "
		  "standard "
		  "output." },
	{ .name = "output", .alias_of = "output-file" },
	SESSION_DIR_OPTION_ROW(struct export_options),
	PLACES_OPTION_ROWS(struct export_options),
	{ .name = "verbose",
	  .letter = 'V',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct export_options, verbose),
	  .help = "Say how much was written." },
	{ 0 },
};

/* NULL, with a line, if there is no such format. */
static const struct export_format *find_format(const char *word, struct err *err)
{
	const char *usual = formats[0]->name;

	for (size_t i = 0; word && i < NR_FORMATS; i++)
		if (!strcmp(word, formats[i]->name))
			return formats[i];
	if (!word)
		err_set(err, -EINVAL, "give a format: %s", usual);
	else
		err_set(err, -EINVAL,
			"\"%s\" is no format: the first word is one, as in \"export "
			"%s\"",
			word, usual);
	return NULL;
}

static int export_all(struct export_run *e, char **words, struct err *err)
{
	const struct export_format *format = find_format(words[0], err);
	struct report_sources sources = { 0 };
	struct spec spec = { 0 };
	int r;

	if (!format)
		return -EINVAL;
	e->words = words + 1;
	if (format->finds_sources)
		return format->run(e, err);
	r = report_sources_find(e->options->session_dir, words + 1, &spec, &sources,
				err);
	e->spec = &spec;
	e->sources = &sources;
	if (!r)
		r = format->run(e, err);
	e->spec = NULL;
	e->sources = NULL;
	report_sources_done(&sources);
	spec_done(&spec);
	return r;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct export_options options = { 0 };
	struct export_run e = { .options = &options };
	struct err err = { 0 };
	int first;
	int status;

	status = command_options(self, OPTIONS_PERMUTE, argc, argv, &options, &first);
	if (status >= 0)
		return status;
	if (export_all(&e, argv + first, &err)) {
		command_error("%s", err.text);
		return 1;
	}
	return e.incomplete ? STATUS_INCOMPLETE : 0;
}

const struct command command_export = {
	.name = "export",
	.summary = "write recordings in formats of other tools",
	.usage = "FORMAT [options] [SESSION|FILE...] [profile specification...]",
	.notes =
		"Formats:\n"
		"  perf-data  a perf.data, for perf report, perf script and what reads "
		"them\n"
		"  folded     a line a stack, \"comm;outermost;...;innermost "
		"SAMPLES\", for "
		"flamegraph.pl and its like\n"
		"Several sources become one; a specification cuts out a part.\n"
		"Examples:\n"
		"  oprofile export perf-data -o perf.data\n"
		"  oprofile export perf-data -o all.data one.data two.data\n"
		"  oprofile export folded perf.data | flamegraph.pl > flames.svg\n"
		"  oprofile export perf-data -o part.data perf.data time:10%-20% "
		"comm:make",
	.options = rows,
	.run = run,
};
