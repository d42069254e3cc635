/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminal.h - properties of the standard streams, and the options for showing reports there.
 * Layer: tools.  Every command that prints a table puts a member `struct terminal_options
 * terminal` into its settings and TERMINAL_OPTION_ROWS(struct settings) among its rows, gets the
 * writer's screen from terminal_screen(), and writes through pager_run() (pager.h). */
#pragma once
#include <stdbool.h>

#include "present/lines/screen.h"
#include "tools/cli/options.h"

struct err;

struct terminal_options {
	const char *color; /* auto, always, never; "" means always; NULL: auto */
	bool no_pager;
};

#define TERMINAL_OPTION_ROWS(type)                                                                                     \
	{                                                                                                              \
		.name = "color",                                                                                       \
		.kind = OPTION_TEXT,                                                                                   \
		.value = "auto|always|never",                                                                          \
		.value_optional = true,                                                                                \
		.offset = OPTION(type, terminal.color),                                                                \
		.help = "Color large shares: auto (default: on a terminal, unless NO_COLOR is set), always, or never." \
	},                                                                                                             \
		{ .name = "colour", .alias_of = "color" },                                                             \
	{                                                                                                              \
		.name = "no-pager", .kind = OPTION_FLAG,                                                               \
		.offset = OPTION(type, terminal.no_pager),                                                             \
		.help = "Do not use a pager ($OPROFILE_PAGER, $PAGER or less)."                                        \
	}

/* Returns the columns of the terminal `fd`: $COLUMNS, or else the terminal's size, or else 80. */
unsigned int terminal_width(int fd);
/* Returns whether the terminal supports escape sequences: $TERM is set and not "dumb". */
bool terminal_has_escapes(int fd);
/* Returns whether this process may use the terminal now: it runs in the foreground. */
bool terminal_is_foreground(int fd);
/* Sets *ret_screen to the screen for a report: all zero unless the report goes to standard output
 * and that is a terminal. With --color=always, colors are also on if standard output is not a
 * terminal. Returns 0, or -EINVAL for an invalid --color. */
int terminal_screen(const struct terminal_options *options, bool to_stdout,
		    struct screen *ret_screen, struct err *err);
