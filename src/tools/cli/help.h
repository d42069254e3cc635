/* SPDX-License-Identifier: GPL-2.0-or-later */
/* help.h - prints --help from a command's tables, wrapped to the terminal.
 * Layer: tools. */
#pragma once
#include <stdio.h>

struct command;

/* Returns terminal_width(), limited to a readable range. */
unsigned int help_terminal_width(void);
/* Prints the help of a command. `called` is the name that the user typed, such as "operf". */
void help_print(FILE *out, const struct command *cmd, const char *called,
		unsigned int width);
/* Prints only the usage lines. */
void help_print_usage(FILE *out, const struct command *cmd, const char *called);
/* Prints the words of `text` from column `column` on, with later lines indented to `indent`, and
 * ends the line.  A '\n' in the text also ends a line. */
void help_wrap(FILE *out, const char *text, unsigned int column, unsigned int indent,
	       unsigned int width);
