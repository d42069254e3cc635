/* command.h - the registry of commands.
 * Layer: tools.  A command is a row in commands.c and a file of its own. */
#pragma once
#include <stddef.h>

#include "tools/options.h"

struct command {
	const char *name;    /* "record": oprofile record */
	const char *classic; /* "operf": the link's name, NULL if there is none */
	const char *summary; /* one line for `oprofile help` */
	const char *usage;   /* "[options] COMMAND [ARGS...]"; lines separated by \n */
	const char *notes;   /* behind the options in --help: examples, files */
	const struct option_row *options;
	/* argv[0] is the name it was called by.  Returns the exit status. */
	int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command *const commands[]; /* NULL-terminated */

/* By name or classic name; NULL if there is none. */
const struct command *command_find(const char *name);
/* The command's --help on stdout, as wide as the terminal. */
void command_help(const struct command *cmd);
/* Parses the common options (--help, --version) and the command's own into `target`.
 * Returns -1 to go on with *ret_first set, or an exit status: 0 after --help/--version, 1
 * (125 for record) after a usage error, whose line is already on stderr. */
int command_options(const struct command *cmd, enum options_order order, int argc,
		    char **argv, void *target, int *ret_first);
/* "operf: text" or "oprofile record: text" on stderr, by how it was called. */
void command_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void command_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
