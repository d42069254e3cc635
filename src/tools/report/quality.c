/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quality.c - `oprofile quality`: prints how far a recording can be trusted, as opreport --quality
 * does below a report. */
#include "tools/cli/command.h"
#include "tools/report/options.h"
#include "tools/report/report.h"

extern const struct command command_quality;

static const struct option_row rows[] = {
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct report_options, json),
	  .help = "Print one JSON object." },
	{ .name = "output-file",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct report_options, output_file),
	  .help = "Write to FILE instead of the standard output." },
	REPORT_READ_ROWS,
	{ 0 },
};

static int quality_run(const struct command *self, int argc, char **argv)
{
	struct report_options options = { 0 };
	int first;
	int status =
		command_options(self, OPTIONS_PERMUTE, argc, argv, &options, &first);

	return status >= 0 ? status : report_of_quality(&options, argv + first);
}

const struct command command_quality = {
	.name = "quality",
	.summary = "show how far a recording can be trusted, and how to improve it",
	.usage = "[options] [SESSION-DIR | FILE | profile specification...]",
	.notes =
		"Lost, throttled and misplaced samples, images without function names and the command that finds them, truncated stacks, and the cost of recording. "
		"Arguments are those of opreport.\n"
		"Examples:\n"
		"  oprofile quality\n"
		"  oprofile quality perf.data comm:make\n"
		"  oprofile quality --json | jq '.quality.unresolved_images[].fix'",
	.options = rows,
	.run = quality_run,
};
