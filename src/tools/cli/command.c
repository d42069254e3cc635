/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/cli/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/safe_text.h"
#include "tools/cli/help.h"
#include "tools/cli/progress.h"
#include "tools/cli/version.h"

struct common {
	bool help;
	bool usage;
	bool version;
};

/* Options of every command. If a command has a row with the same letter, that row has
 * precedence. */
static const struct option_row common_rows[] = {
	{ .name = "help",
	  .letter = '?',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct common, help),
	  .help = "Show the options." },
	{ .name = "usage",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct common, usage),
	  .help = "Show the synopsis." },
	{ .name = "version",
	  .letter = 'v',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct common, version),
	  .help = "Print the version." },
	{ 0 },
};

static const struct option_row common_rows_h_u[] = {
	{ .name = "help",
	  .letter = 'h',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct common, help),
	  .help = "Show the options." },
	{ .name = "usage",
	  .letter = 'u',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct common, usage),
	  .help = "Show the synopsis." },
	{ .name = "version",
	  .letter = 'v',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct common, version),
	  .help = "Print the version." },
	{ 0 },
};

static char the_name[64] = "oprofile";
static bool the_verbose;
static unsigned int nr_warnings;
static unsigned int nr_messages;

const struct option_row *command_common_rows(const struct command *cmd)
{
	return cmd->letters_h_u ? common_rows_h_u : common_rows;
}

int command_options(const struct command *cmd, enum options_order order, int argc,
		    char **argv, void *target, int *ret_first)
{
	struct common common = { 0 };
	const struct options_table tables[] = {
		{ cmd->options, target },
		{ command_common_rows(cmd), &common },
	};
	struct words words = { .argc = argc, .argv = argv };
	struct err err = { 0 };

	if (options_parse(tables, 2, order, &words, &err)) {
		command_error("%s (see %s --help)", err.text, command_name());
		return cmd->failure_status ? cmd->failure_status : 1;
	}
	if (common.help)
		help_print(stdout, cmd, command_name(), help_terminal_width());
	else if (common.usage)
		help_print_usage(stdout, cmd, command_name());
	else if (common.version)
		printf("%s: oprofile %s\n", command_name(), version_string());
	else {
		*ret_first = words.first;
		return -1;
	}
	return 0;
}

void command_set_name(const struct command *cmd, bool by_classic_name)
{
	if (cmd && by_classic_name && cmd->classic)
		snprintf(the_name, sizeof(the_name), "%s", cmd->classic);
	else if (cmd)
		snprintf(the_name, sizeof(the_name), "oprofile %s", cmd->name);
	else
		snprintf(the_name, sizeof(the_name), "oprofile");
}

void command_set_verbose(bool verbose)
{
	the_verbose = verbose;
}

bool command_is_verbose(void)
{
	return the_verbose;
}

const char *command_name(void)
{
	return the_name;
}

/* Prints a message with control characters escaped. With `lines`, keeps the line breaks that belong
 * to the message. */
static void command_put_message(const char *text, bool lines)
{
	struct buf safe = { 0 };

	while (*text) {
		size_t len = lines ? strcspn(text, "\n") : strlen(text);

		safe_text_put(&safe, text, len, true);
		text += len;
		if (*text == '\n')
			buf_put(&safe, text++, 1);
	}
	if (safe.len && !safe.failed)
		fwrite(safe.data, 1, safe.len, stderr);
	fputc('\n', stderr);
	buf_done(&safe);
}

__attribute__((format(printf, 2, 0))) static void
command_say(const char *kind, const char *format, va_list args)
{
	char *text;

	nr_messages++;
	/* Flush the report first, so that the order is right if both streams go to one file. */
	fflush(stdout);
	progress_hide();
	fprintf(stderr, "%s: %s", the_name, kind);
	if (vasprintf(&text, format, args) < 0) {
		fputs("out of memory\n", stderr);
		return;
	}
	command_put_message(text, safe_text_has_lines(format));
	free(text);
}

void command_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	command_say("", format, args);
	va_end(args);
}

void command_warning(const char *format, ...)
{
	va_list args;

	nr_warnings++;
	va_start(args, format);
	command_say("warning: ", format, args);
	va_end(args);
}

unsigned int command_nr_warnings(void)
{
	return nr_warnings;
}

unsigned int command_nr_messages(void)
{
	return nr_messages;
}
