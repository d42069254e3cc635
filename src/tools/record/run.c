/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/record/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/containers/vec.h"
#include "tools/cli/command.h"

extern const struct command command_record;

enum {
	EXIT_OWN_FAILURE = 125
};

/* Returns the state of the current session, all zero if no session exists. */
static struct stat current_session(const char *dir)
{
	struct stat st = { 0 };
	char *path;

	if (asprintf(&path, "%s/samples/current", dir ? dir : "oprofile_data") < 0)
		return st;
	if (stat(path, &st))
		st = (struct stat){ 0 };
	free(path);
	return st;
}

int record_run(const char *dir, char *const *words, bool *ret_recorded)
{
	const struct stat before = current_session(dir);
	struct stat after;
	char name[] = "record";
	VEC(char *) all = { 0 };
	bool kept = vec_push(&all, name);
	int status;

	for (; kept && *words; words++)
		kept = vec_push(&all, *words);
	if (!kept || !vec_push(&all, NULL)) {
		vec_done(&all);
		command_error("out of memory");
		return EXIT_OWN_FAILURE;
	}
	status = command_record.run(&command_record, (int)all.nr - 1, all.at);
	vec_done(&all);
	after = current_session(dir);
	/* A recording replaces the directory. */
	*ret_recorded =
		after.st_ino && (after.st_ino != before.st_ino ||
				 after.st_ctim.tv_sec != before.st_ctim.tv_sec ||
				 after.st_ctim.tv_nsec != before.st_ctim.tv_nsec);
	return status;
}
