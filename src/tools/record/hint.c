/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/record/hint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "present/lines/screen.h"
#include "tools/cli/command.h"
#include "tools/record/plan.h"

/* Returns whether `word` is one of the values of -g; a number of bytes can follow. */
static bool is_callgraph_value(const char *word)
{
	static const char *const values[] = { "auto", "dwarf", "fp" };
	size_t len = strcspn(word, ",");

	for (size_t i = 0; i < COUNT_OF(values); i++) {
		if (strlen(values[i]) == len && !memcmp(word, values[i], len))
			return true;
	}
	return false;
}

void record_hint_append(const struct record_options *options, char *const *command)
{
	const char *dir = options->session_dir ? options->session_dir : "oprofile_data";
	char *current;

	if (!options->append_letter || !command || options->pids)
		return;
	if (asprintf(&current, "%s/samples/current", dir) < 0)
		return;
	if (access(current, F_OK))
		screen_print_line(
			stderr,
			"%s: hint: -a is --append, as in OProfile; to record every process: %s -s %s...",
			command_name(), command_name(), command[0]);
	free(current);
}

void record_hint_value(const struct record_options *options, char *const *command)
{
	const char *callgraph = options->callgraph;
	const char *verbose = options->verbose;
	const char *option = NULL;

	if (callgraph && !*callgraph && is_callgraph_value(command[0]))
		option = "callgraph";
	else if (verbose && !*verbose && record_plan_is_verbose(command[0]))
		option = "verbose";
	if (option)
		screen_print_line(
			stderr,
			"%s: hint: join the value to its option with '=': %s --%s=%s %s...",
			command_name(), command_name(), option, command[0],
			command[1] ? command[1] : "COMMAND");
}
