/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command.h - the registry of commands.
 * Layer: tools.  A command is a row in commands.c and a separate file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "tools/cli/options.h"

struct command {
	const char *name; /* such as "record" for `oprofile record` */
	/* Name of the link to the program, such as "operf", or NULL. */
	const char *classic;
	const char *summary; /* one line for `oprofile help` */
	const char *usage;   /* "[options] COMMAND [ARGS...]"; lines separated by \n */
	const char *notes;   /* printed after the options in --help: examples, files */
	const struct option_row *options;
	/* -h is --help and -u is --usage, as in operf; -? is --help in every command. */
	bool letters_h_u;
	int failure_status; /* exit status after a usage error; 0 means 1 */
	/* The exit status is that of the recorded program or of the recording, so unreadable and
	 * damaged files do not change it to 3. */
	bool is_recorder;
	/* argv[0] is the name that the user typed.  Returns the exit status. */
	int (*run)(const struct command *self, int argc, char **argv);
};

/* Parses the common options (--help, --usage, --version) and the command's own options into
 * `target`. Returns -1 to continue, with *ret_first set, or an exit status: 0 after --help and
 * similar options, 1 (125 for record) after a usage error, which is already reported on stderr. */
int command_options(const struct command *cmd, enum options_order order, int argc,
		    char **argv, void *target, int *ret_first);
/* Returns the rows of the options that every command has, for --help and completion. */
const struct option_row *command_common_rows(const struct command *cmd);

/* The prefix of messages: the classic name if the user called the command by it ("operf"), or
 * else "oprofile record"; for NULL "oprofile".  main sets it once. */
void command_set_name(const struct command *cmd, bool by_classic_name);
const char *command_name(void);
/* Prints "operf: text" or "oprofile record: text" to stderr, depending on the name that the user
 * typed. */
void command_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void command_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* command_set_verbose() sets whether messages of level LOG_DEBUG (base/log.h) are printed;
 * command_is_verbose() returns it. */
void command_set_verbose(bool verbose);
bool command_is_verbose(void);
/* Returns the number of warnings printed, including those of log.h; used by --strict. */
unsigned int command_nr_warnings(void);
/* Returns the number of errors and warnings printed. */
unsigned int command_nr_messages(void);
