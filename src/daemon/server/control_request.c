/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/control_request.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "daemon/server/control_line.h"

struct verb_row {
	const char *name;
	size_t min_args;
	size_t max_args;
	bool for_all;
	const char *takes; /* for the error message */
};

static const struct verb_row verbs[CONTROL_VERB_COUNT] = {
	[CONTROL_STATUS] = { "status", 0, 0, true, "no argument" },
	[CONTROL_SETUP] = { "setup", 1, CONTROL_ARGS_MAX, false,
			    "one or more KEY=VALUE" },
	[CONTROL_START] = { "start", 0, 0, false, "no argument" },
	[CONTROL_STOP] = { "stop", 0, 0, false, "no argument" },
	[CONTROL_DUMP] = { "dump", 0, 0, true, "no argument" },
	[CONTROL_RESET] = { "reset", 0, 0, false, "no argument" },
	[CONTROL_SAVE] = { "save", 1, 1, false, "the name of the session" },
	[CONTROL_SHUTDOWN] = { "shutdown", 0, 0, false, "no argument" },
	[CONTROL_LIST] = { "list", 0, 0, true, "no argument" },
	[CONTROL_GET] = { "get", 1, 1, true, "a control file" },
	[CONTROL_SET] = { "set", 2, 2, false, "a control file and its value" },
	[CONTROL_STREAM] = { "stream", 0, 0, false, "no argument" },
	[CONTROL_COOKIE] = { "cookie", 1, 1, false, "a number" },
};

const char *control_verb_name(enum control_verb verb)
{
	return verbs[verb].name;
}

static const struct verb_row *find_verb(const char *name)
{
	for (size_t i = 0; i < CONTROL_VERB_COUNT; i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

int control_request_parse(char *line, struct control_request *ret_request,
			  struct err *err)
{
	char *words[CONTROL_ARGS_MAX + 1];
	const struct verb_row *verb;
	size_t nr_args;
	int nr = control_split(line, words, CONTROL_ARGS_MAX + 1);

	if (nr == -E2BIG)
		return err_set(err, -EINVAL,
			       "too many arguments: a request has at most %d",
			       CONTROL_ARGS_MAX + 1);
	if (nr <= 0)
		return err_set(
			err, -EINVAL,
			"separate the arguments of a request by one space, and write other bytes as %%XX");
	verb = find_verb(words[0]);
	if (!verb)
		return err_set(err, -EINVAL, "unknown request \"%.64s\"", words[0]);
	nr_args = (size_t)nr - 1;
	if (nr_args < verb->min_args || nr_args > verb->max_args)
		return err_set(err, -EINVAL, "%s takes %s", verb->name, verb->takes);
	*ret_request = (struct control_request){ .nr_args = nr_args };
	ret_request->verb = (enum control_verb)(verb - verbs);
	memcpy(ret_request->args, words + 1, nr_args * sizeof(*words));
	return 0;
}

bool control_request_is_for_all(const struct control_request *request)
{
	/* The file /dev/oprofile/dump had mode 0666. */
	return verbs[request->verb].for_all ||
	       (request->verb == CONTROL_SET && !strcmp(request->args[0], "dump"));
}
