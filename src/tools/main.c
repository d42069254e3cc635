/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - selects the command: by the first argument (`oprofile record`), or by the name of a
 * link to the program (`operf`). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/closest_match.h"
#include "base/files/faults.h"
#include "base/files/output.h"
#include "base/files/path.h"
#include "base/log.h"
#include "base/memory/failures.h"
#include "tools/cli/command.h"
#include "tools/cli/help.h"
#include "tools/cli/progress.h"
#include "tools/cli/version.h"
#include "tools/commands.h"
#include "tools/program.h"

enum {
	NAME_COLUMN = 22,
	STATUS_INCOMPLETE = 3
};

static void log_to_stderr(enum log_level level, const char *text)
{
	if (level == LOG_WARNING)
		command_warning("%s", text);
	else if (level == LOG_NOTE || command_is_verbose())
		command_error("%s", text);
}

static void print_commands(FILE *out)
{
	unsigned int width = help_terminal_width();

	fputs("Usage: oprofile COMMAND [options]\n"
	      "       oprofile ./PROGRAM [ARGS...]\n"
	      "       oprofile help [COMMAND]\n"
	      "       oprofile --version\n"
	      "\n"
	      "A statistical profiler: records where programs and the kernel spend their\n"
	      "time, and shows it by binary and by function.\n"
	      "\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		const struct command *cmd = commands[i];
		int used = fprintf(out, "  %s", cmd->name);

		if (cmd->classic)
			used += fprintf(out, " (%s)", cmd->classic);
		fprintf(out, "%*s", used < NAME_COLUMN ? NAME_COLUMN - used : 1, "");
		help_wrap(out, cmd->summary, NAME_COLUMN, NAME_COLUMN, width);
	}
	fputs("\nStart with:  oprofile ./program   (records it, and shows its hottest functions)\n",
	      out);
}

static int unknown_command(const char *name)
{
	struct closest_match near = { .word = name };
	char *hint = program_hint(name);

	for (size_t i = 0; commands[i]; i++) {
		closest_match_try(&near, commands[i]->name);
		if (commands[i]->classic)
			closest_match_try(&near, commands[i]->classic);
	}
	command_error("unknown command '%s'%s%s%s (see oprofile help)%s%s", name,
		      near.best ? ": did you mean '" : "", near.best ? near.best : "",
		      near.best ? "'?" : "", hint ? "; " : "", hint ? hint : "");
	free(hint);
	return 1;
}

static int show_help(const char *name)
{
	const struct command *cmd;

	if (!name) {
		print_commands(stdout);
		return 0;
	}
	cmd = command_find(name);
	if (!cmd)
		return unknown_command(name);
	command_set_name(cmd, cmd->classic && !strcmp(cmd->classic, name));
	help_print(stdout, cmd, command_name(), help_terminal_width());
	return 0;
}

/* Reports failed allocations. Returns the exit status: `status`, or "incomplete" if that is 0. The
 * status of a recorder is that of the recorded program, so it does not change. */
static int report_failures(int status, bool is_recorder)
{
	/* A command that failed with a message has already explained the failure. */
	if (status && !is_recorder && command_nr_messages())
		return status;
	if (!failures_had_memory())
		return status;
	command_error("out of memory: the result is not complete");
	return status || is_recorder ? status : STATUS_INCOMPLETE;
}

/* Runs a command. If files were reported as unreadable or damaged, changes a status of 0 to that
 * of an incomplete report. */
static int main_run_command(const struct command *cmd, int argc, char **argv)
{
	int status = cmd->run(cmd, argc, argv);

	if (!status && !cmd->is_recorder && fault_any_loss())
		status = STATUS_INCOMPLETE;
	return report_failures(status, cmd->is_recorder);
}

/* Handles `oprofile ...`, where the first argument selects the command. */
static int run_word(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct command *cmd;

	if (!word) {
		print_commands(stderr);
		return 1;
	}
	if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h") ||
	    !strcmp(word, "-?"))
		return show_help(argc > 2 ? argv[2] : NULL);
	if (!strcmp(word, "version") || !strcmp(word, "--version") ||
	    !strcmp(word, "-v")) {
		version_print(stdout);
		return 0;
	}
	cmd = command_find(word);
	if (!cmd && strchr(word, '/'))
		return report_failures(program_profile(argv + 1), true);
	if (!cmd)
		return unknown_command(word);
	command_set_name(cmd, false);
	return main_run_command(cmd, argc - 1, argv + 1);
}

static const struct command *find_by_classic(const char *program)
{
	const char *name = path_base(program);
	const struct command *cmd = command_find(name);

	return cmd && cmd->classic && !strcmp(cmd->classic, name) ? cmd : NULL;
}

int main(int argc, char **argv)
{
	const struct command *cmd = argc ? find_by_classic(argv[0]) : NULL;
	int status;

	log_set_sink(log_to_stderr);
	log_set_progress_sink(progress_words);
	if (cmd) {
		command_set_name(cmd, true);
		status = main_run_command(cmd, argc, argv);
	} else {
		status = run_word(argc, argv);
	}
	/* If the output could not be written, for example to a full disk, the command fails. */
	if (fflush(stdout) || ferror(stdout)) {
		command_error("cannot write to the standard output: %s",
			      strerror(-output_failure(stdout)));
		return status ? status : 1;
	}
	return status;
}
