/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_request.h - parses a request to oprofiled: one line is one request.
 * Layer: daemon.  The lines are those of control_line.h; their content is not trusted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct err;

enum control_verb {
	CONTROL_STATUS,
	CONTROL_SETUP,
	CONTROL_START,
	CONTROL_STOP,
	CONTROL_DUMP,
	CONTROL_RESET,
	CONTROL_SAVE,
	CONTROL_SHUTDOWN,
	CONTROL_LIST,
	CONTROL_GET,
	CONTROL_SET,
	CONTROL_STREAM,
	CONTROL_COOKIE,
	CONTROL_VERB_COUNT
};

enum {
	CONTROL_ARGS_MAX = 64
};

struct control_request {
	enum control_verb verb;
	char *args[CONTROL_ARGS_MAX]; /* borrowed from the line */
	size_t nr_args;
	bool of_owner; /* the peer is root or the daemon's own user; set by the server */
};

/* Parses a line of control_lines_next() and splits it in place.  Returns 0, or -EINVAL with a
 * message in *err that says what is wrong. */
int control_request_parse(char *line, struct control_request *ret_request,
			  struct err *err);
const char *control_verb_name(enum control_verb verb);
/* Returns whether every user may send the request.  If not, only root, the daemon's user and
 * members of its group may. */
bool control_request_is_for_all(const struct control_request *request);
