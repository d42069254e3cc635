/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gprof.c - `oprofile gprof` (opgprof): runs `oprofile export gmon` as a command. */
#include "recordings/sources.h"
#include "tools/cli/command.h"
#include "tools/export/export.h"

extern const struct command command_gprof;

static const struct option_row rows[] = {
	{ .name = "output-filename",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct export_options, output),
	  .help = "Write to this file instead of gmon.out." },
	EXPORT_OPTION_ROWS(
		"Omit functions with a smaller share of the binary's samples."),
	{ 0 },
};

static int gprof_run(const struct command *self, int argc, char **argv)
{
	struct export_options set = { 0 };
	int first;
	int status = command_options(self, OPTIONS_PERMUTE, argc, argv, &set, &first);

	return status >= 0 ? status : export_command("gmon", &set, argv + first);
}

const struct command command_gprof = {
	.name = "gprof",
	.classic = "opgprof",
	.summary = "write a profile of a binary for gprof",
	.usage = "[options] [SESSION|FILE...] [profile specification...]",
	.notes =
		"Examples:\n"
		"  operf --callgraph ./program && opgprof && gprof ./program gmon.out\n"
		"  opgprof -o work.gmon lib-image:$PWD/libwork.so\n"
		"  gprof libwork.so work.gmon",
	.options = rows,
	.run = gprof_run,
};
