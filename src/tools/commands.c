/* commands.c - the registry: one row a command, in the order of `oprofile help`. */
#include "tools/command.h"

extern const struct command command_completion;
extern const struct command command_dump;
extern const struct command command_import;
extern const struct command command_record;
extern const struct command command_report;

const struct command *const commands[] = {
	&command_record, &command_report,     &command_dump,
	&command_import, &command_completion, NULL,
};
