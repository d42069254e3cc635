/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_request.h - what oprofiled is asked: one line, one request.
 * Layer: daemon.  The lines are those of control_line.h; nothing in them is trusted. */
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
	bool of_owner; /* its peer is root or the daemon's own user; set by the server */
};

/* Takes a line of control_lines_next(), which is cut in place.  0, or -EINVAL with a line that
 * says what is wrong with it. */
int control_request_parse(char *line, struct control_request *ret_request,
			  struct err *err);
const char *control_verb_name(enum control_verb verb);
/* Whether anybody may ask it; else root, the daemon's user and members of its group. */
bool control_request_is_for_all(const struct control_request *request);
