/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/cli/help.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "tools/cli/command.h"
#include "tools/cli/terminal.h"

enum {
	WIDTH_MIN = 40,
	WIDTH_MAX = 120, /* longer lines are hard to read */
	NAMES_INDENT = 2,
	TEXT_INDENT = 28,
};

unsigned int help_terminal_width(void)
{
	unsigned int width = terminal_width(STDOUT_FILENO);

	if (width < WIDTH_MIN)
		return WIDTH_MIN;
	return width > WIDTH_MAX ? WIDTH_MAX : width;
}

void help_wrap(FILE *out, const char *text, unsigned int column, unsigned int indent,
	       unsigned int width)
{
	bool line_is_empty = true;

	while (*text) {
		size_t len = strcspn(text, " \n");
		size_t gap = line_is_empty ? 0 : 1;

		if (!line_is_empty && column + gap + len > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
			gap = 0;
		}
		fprintf(out, "%*s%.*s", (int)gap, "", (int)len, text);
		column += (unsigned int)(gap + len);
		line_is_empty = false;
		text += len;
		if (*text == '\n') {
			fprintf(out, "\n%*s", text[1] ? (int)indent : 0, "");
			column = indent;
			line_is_empty = true;
		}
		text += *text != '\0';
	}
	fputc('\n', out);
}

static void help_put_text(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

/* Appends a spelling such as "-g, --callgraph[=HOW]". */
static void put_spelling(struct buf *b, const struct option_row *row,
			 const struct option_row *of)
{
	if (row->letter) {
		buf_put_u8(b, '-');
		buf_put_u8(b, (uint8_t)row->letter);
		help_put_text(b, ", ");
	} else if (!b->len) {
		help_put_text(b, "    ");
	}
	help_put_text(b, "--");
	help_put_text(b, row->name);
	if (!of->value)
		return;
	help_put_text(b, of->value_optional ? "[=" : "=");
	help_put_text(b, of->value);
	if (of->value_optional)
		help_put_text(b, "]");
}

/* Appends all spellings of an option, NUL-terminated. */
static void help_put_names(struct buf *b, const struct option_row *rows,
			   const struct option_row *of)
{
	put_spelling(b, of, of);
	for (const struct option_row *row = rows; row->name; row++) {
		if (row == of || options_main_row(rows, row) != of)
			continue;
		help_put_text(b, ", ");
		put_spelling(b, row, of);
	}
	buf_put_u8(b, 0);
}

static void print_option(FILE *out, const struct option_row *rows,
			 const struct option_row *row, unsigned int width)
{
	struct buf names = { 0 };
	unsigned int column;

	help_put_names(&names, rows, row);
	if (!names.failed) {
		column = NAMES_INDENT + (unsigned int)names.len - 1;
		fprintf(out, "%*s%s", NAMES_INDENT, "", (const char *)names.data);
		if (column + 2 > TEXT_INDENT) {
			fputc('\n', out);
			column = 0;
		}
		fprintf(out, "%*s", (int)(TEXT_INDENT - column), "");
		help_wrap(out, row->help, TEXT_INDENT, TEXT_INDENT, width);
	}
	buf_done(&names);
}

static void print_options(FILE *out, const struct option_row *rows, unsigned int width)
{
	for (const struct option_row *row = rows; row->name; row++) {
		if (row->heading)
			fprintf(out, "\n%s:\n", row->heading);
		if (row->kind != OPTION_REFUSED && options_main_row(rows, row) == row)
			print_option(out, rows, row, width);
	}
}

/* Lists the known but refused options in one paragraph. */
static void print_refused(FILE *out, const struct option_row *rows, unsigned int width)
{
	struct buf names = { 0 };

	for (const struct option_row *row = rows; row->name; row++) {
		if (row->kind != OPTION_REFUSED)
			continue;
		help_put_text(&names, names.len ? ", --" : "--");
		help_put_text(&names, row->name);
	}
	buf_put_u8(&names, 0);
	if (!names.failed && names.len > 1) {
		fputs("\nRejected (each prints the reason):\n  ", out);
		help_wrap(out, (const char *)names.data, NAMES_INDENT, NAMES_INDENT,
			  width);
	}
	buf_done(&names);
}

void help_print_usage(FILE *out, const struct command *cmd, const char *called)
{
	const char *line = cmd->usage;

	for (const char *start = "Usage:"; *line; start = "      ") {
		size_t len = strcspn(line, "\n");

		fprintf(out, "%s %s %.*s\n", start, called, (int)len, line);
		line += len;
		line += *line == '\n';
	}
}

void help_print(FILE *out, const struct command *cmd, const char *called,
		unsigned int width)
{
	help_print_usage(out, cmd, called);
	fputc('\n', out);
	help_wrap(out, cmd->summary, 0, 0, width);
	if (!cmd->options->heading)
		fputs("\nOptions:\n", out);
	print_options(out, cmd->options, width);
	if (cmd->options->heading)
		fputs("\nGeneral:\n", out);
	print_options(out, command_common_rows(cmd), width);
	print_refused(out, cmd->options, width);
	if (cmd->notes) {
		fputc('\n', out);
		help_wrap(out, cmd->notes, 0, 0, width);
	}
}
