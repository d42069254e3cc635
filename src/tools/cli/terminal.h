/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminal.h - what the standard streams go to, and the options on how a report is shown
 * there.  Layer: tools.  For every command that prints a table: put a member
 * `struct terminal_options terminal` into its settings and
 * TERMINAL_OPTION_ROWS(struct settings) among its rows, ask terminal_screen()
 * for the writer's screen, and write through pager_run() (pager.h). */
#pragma once
#include <stdbool.h>

#include "present/lines/screen.h"
#include "tools/cli/options.h"

struct err;

struct terminal_options {
	const char *color; /* auto, always, never; "" is always; NULL: auto */
	bool no_pager;
};

#define TERMINAL_OPTION_ROWS(type)                                                                                          \
	{                                                                                                                   \
		.name = "color",                                                                                            \
		.kind = OPTION_TEXT,                                                                                        \
		.value = "auto|always|never",                                                                               \
		.value_optional = true,                                                                                     \
		.offset = OPTION(type, terminal.color),                                                                     \
		.help = "Colour large shares: on a terminal (auto, the default, unless NO_COLOR is set), always, or never." \
	},                                                                                                                  \
		{ .name = "colour", .alias_of = "color" },                                                                  \
	{                                                                                                                   \
		.name = "no-pager", .kind = OPTION_FLAG,                                                                    \
		.offset = OPTION(type, terminal.no_pager),                                                                  \
		.help = "Do not show a long report on a terminal in $OPROFILE_PAGER, $PAGER or less."                       \
	}

/* Columns of the terminal that `fd` is: $COLUMNS, else what the terminal says, else 80. */
unsigned int terminal_width(int fd);
/* A terminal that understands escape sequences: $TERM is set and not "dumb". */
bool terminal_has_escapes(int fd);
/* Whether this process may use the terminal now: it was not started with &. */
bool terminal_is_foreground(int fd);
/* The screen for a report: all zero (but for --color=always) unless it goes to the standard
 * output and that is a terminal.  0, or -EINVAL: no such --color. */
int terminal_screen(const struct terminal_options *options, bool to_stdout,
		    struct screen *ret_screen, struct err *err);
