/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commands.c - the registry: one row per command, in the order of `oprofile help`. */
#include "tools/commands.h"

#include <stddef.h>
#include <string.h>

extern const struct command command_addr2line;
extern const struct command command_annotate;
extern const struct command command_archive;
extern const struct command command_buildid_cache;
extern const struct command command_buildid_list;
extern const struct command command_cache;
extern const struct command command_check;
extern const struct command command_completion;
extern const struct command command_control;
extern const struct command command_controlfs;
extern const struct command command_count;
extern const struct command command_daemon;
extern const struct command command_diff;
extern const struct command command_doctor;
extern const struct command command_dump;
extern const struct command command_events;
extern const struct command command_export;
extern const struct command command_flame;
extern const struct command command_gprof;
extern const struct command command_import;
extern const struct command command_info;
extern const struct command command_merge;
extern const struct command command_op2calltree;
extern const struct command command_quality;
extern const struct command command_record;
extern const struct command command_report;
extern const struct command command_script;
extern const struct command command_start;
extern const struct command command_status;
extern const struct command command_view;
extern const struct command command_where;

const struct command *const commands[] = {
	/* Recording and reporting. */
	&command_record,
	&command_flame,
	&command_daemon,
	&command_report,
	&command_annotate,
	&command_diff,
	&command_quality,
	&command_view,
	&command_start,
	&command_script,
	/* System-wide profiling. */
	&command_control,
	&command_controlfs,
	&command_status,
	/* Files of recordings. */
	&command_dump,
	&command_import,
	&command_merge,
	&command_export,
	&command_gprof,
	&command_op2calltree,
	&command_buildid_list,
	&command_buildid_cache,
	&command_archive,
	/* Events and counting. */
	&command_events,
	&command_count,
	&command_check,
	&command_doctor,
	/* Helper commands. */
	&command_addr2line,
	&command_info,
	&command_where,
	&command_cache,
	&command_completion,
	NULL,
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++) {
		const struct command *cmd = commands[i];

		if (!strcmp(cmd->name, name) ||
		    (cmd->classic && !strcmp(cmd->classic, name)))
			return cmd;
	}
	return NULL;
}
