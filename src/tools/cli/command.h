/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command.h - the registry of commands.
 * Layer: tools.  A command is a row in commands.c and a file of its own. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "tools/cli/options.h"

struct command {
	const char *name;    /* "record": oprofile record */
	const char *classic; /* "operf": the link's name, NULL if there is none */
	const char *summary; /* one line for `oprofile help` */
	const char *usage;   /* "[options] COMMAND [ARGS...]"; lines separated by \n */
	const char *notes;   /* behind the options in --help: examples, files */
	const struct option_row *options;
	/* -h is --help and -u is --usage, as operf has it; -? is --help everywhere. */
	bool letters_h_u;
	int failure_status; /* of a usage error; 0 stands for 1 */
	/* Its status is that of the program or of the recording: a file that cannot be read, or is
	 * damaged, does not make it 3. */
	bool is_recorder;
	/* argv[0] is the name it was called by.  Returns the exit status. */
	int (*run)(const struct command *self, int argc, char **argv);
};

/* Parses the common options (--help, --usage, --version) and the command's own into
 * `target`.  Returns -1 to go on with *ret_first set, or an exit status: 0 after --help and
 * the like, 1 (125 for record) after a usage error, whose line is already on stderr. */
int command_options(const struct command *cmd, enum options_order order, int argc,
		    char **argv, void *target, int *ret_first);
/* The rows of the options that every command has, for --help and completion. */
const struct option_row *command_common_rows(const struct command *cmd);

/* How messages begin: the classic name if it was called by that ("operf"), else
 * "oprofile record"; with NULL "oprofile".  Set once by main. */
void command_set_name(const struct command *cmd, bool by_classic_name);
const char *command_name(void);
/* "operf: text" or "oprofile record: text" on stderr, by how it was called. */
void command_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void command_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether log.h's LOG_DEBUG is said. */
void command_set_verbose(bool verbose);
bool command_is_verbose(void);
/* How many warnings were said, log.h's included: what --strict asks. */
unsigned int command_nr_warnings(void);
/* How many errors and warnings were printed. */
unsigned int command_nr_messages(void);
