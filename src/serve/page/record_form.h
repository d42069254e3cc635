/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_form.h - parses the form of record/start (JSON), and makes a command line of it.
 * Layer: serve.  The values are not trusted: each becomes one argument, without a shell, and cannot
 * be mistaken for another option. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/containers/vec.h"

struct err;

enum {
	RECORD_FORM_WORDS =
		256, /* maximum number of elements of `argv` and of `separate` */
	RECORD_FORM_EVENTS = 32
};

enum record_target_kind {
	TARGET_NONE,
	TARGET_PROGRAM,
	TARGET_PROCESS,
	TARGET_SYSTEM,
	TARGET_DAEMON
};

struct form_event {
	char *name, *count, *rate, *mask;
	bool no_user, no_kernel;
};

struct record_form {
	enum record_target_kind target;
	VEC(char *) argv;
	VEC(struct form_event) events;
	VEC(char *) separate;
	char *directory, *pid, *callgraph, *vmlinux, *name;
};

/* Parses the JSON.  Returns 0, or a negative errno with a message in *err; call record_form_done()
 * in any case. */
int record_form_parse(const char *json, size_t len, struct record_form *ret_form,
		      struct err *err);
void record_form_done(struct record_form *f);

/* A command line. Its strings are malloc'd; form_words_end() appends the final NULL. */
struct form_words {
	VEC(char *) words;
};

/* Makes the command line `oprofile record ...`, or for the daemon `oprofile control --start ...`.
 * `session_dir`: where the session is stored.  Returns 0, or a negative errno with a message in
 * *err; call form_words_done() in any case. */
int record_form_words(const struct record_form *f, const char *session_dir,
		      struct form_words *ret_words, struct err *err);
/* Appends a formatted argument, or the final NULL.  Returns false if memory is short. */
bool form_words_add(struct form_words *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool form_words_end(struct form_words *w);
void form_words_done(struct form_words *w);
