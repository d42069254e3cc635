/* commands.c - the registry: one row a command, in the order of `oprofile help`. */
#include "tools/command.h"

extern const struct command command_completion;

const struct command *const commands[] = {
	&command_completion,
	NULL,
};
