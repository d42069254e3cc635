/* SPDX-License-Identifier: GPL-2.0-or-later */
/* help.h - --help from a command's tables, wrapped to the terminal.
 * Layer: tools. */
#pragma once
#include <stdio.h>

struct command;

/* terminal_width() within the limits of what is good to read. */
unsigned int help_terminal_width(void);
/* The whole help.  `called` is how the user calls the command: "operf". */
void help_print(FILE *out, const struct command *cmd, const char *called,
		unsigned int width);
/* Only the lines with the ways to call it. */
void help_print_usage(FILE *out, const struct command *cmd, const char *called);
/* Prints words of `text` from column `column` on, later lines indented to `indent`; ends the
 * line.  A '\n' in the text ends a line, too. */
void help_wrap(FILE *out, const char *text, unsigned int column, unsigned int indent,
	       unsigned int width);
