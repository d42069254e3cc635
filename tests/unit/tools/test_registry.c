/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the registries: a new row without a help text or an entry in the manual fails here. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/selection/keys.h"
#include "base/buf.h"
#include "base/files/io.h"
#include "capture/events/sources.h"
#include "present/export/writers.h"
#include "present/lines/columns.h"
#include "tools/cli/command.h"
#include "tools/commands.h"

#include "unit.h"

enum {
	MAN_MAX = 1 << 20
};

#define for_each_command(cmd)                                                          \
	for (size_t i_ = 0; commands[i_] && ((cmd) = commands[i_], true); i_++)

/* Returns a manual page as a string, which the caller frees. */
static char *read_page(const char *name)
{
	struct buf text = { 0 };
	char path[512];

	snprintf(path, sizeof(path), "%s/man/%s.1", getenv("SOURCE_ROOT"), name);
	if (io_read_file(path, &text, MAN_MAX))
		fail_msg("%s: there is no such manual page", path);
	buf_put_u8(&text, 0);
	return (char *)text.data;
}

static char *read_man(const struct command *cmd)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s", cmd->classic ? "" : "oprofile-",
		 cmd->classic ? cmd->classic : cmd->name);
	return read_page(name);
}

/* Returns whether the page contains `word` as a separate word. */
static bool man_has_word(const char *man, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = man; (at = strstr(at, word)); at += len) {
		if ((at == man || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[len]))
			return true;
	}
	return false;
}

/* Returns whether the page has an entry for the option: "Fl Fl name" in mdoc. */
static bool man_has_option(const char *man, const char *name)
{
	char wanted[128];
	size_t len = (size_t)snprintf(wanted, sizeof(wanted), "Fl Fl %s", name);

	for (const char *at = man; (at = strstr(at, wanted)); at += len) {
		if (!isalnum((unsigned char)at[len]) && at[len] != '-')
			return true;
	}
	return false;
}

static void commands_have_distinct_names(void **state)
{
	const struct command *cmd;

	(void)state;
	for_each_command(cmd)
	{
		assert_ptr_equal(command_find(cmd->name), cmd);
		if (cmd->classic)
			assert_ptr_equal(command_find(cmd->classic), cmd);
	}
}

static void commands_have_descriptions(void **state)
{
	const struct command *cmd;

	(void)state;
	for_each_command(cmd)
	{
		assert_non_null(cmd->run);
		assert_non_null(cmd->options);
		assert_non_null(cmd->usage);
		assert_true(cmd->summary && *cmd->summary);
		assert_null(strchr(cmd->summary, '\n'));
	}
}

/* Checks that the options that conflict with a row, or that it requires, are in the same table and
 * are not aliases. */
static void check_names(const struct command *cmd, const struct option_row *row,
			const char *names)
{
	while (names && *names) {
		size_t len = strcspn(names, " ");
		char *name = strndup(names, len);
		const struct option_row *other =
			name ? options_find(cmd->options, name) : NULL;

		if (!other || other == row || other->alias_of)
			fail_msg("%s --%s: '%s' is no other option", cmd->name,
				 row->name, name);
		free(name);
		names += len + strspn(names + len, " ");
	}
}

static void check_row(const struct command *cmd, const struct option_row *row)
{
	const struct option_row *of = options_main_row(cmd->options, row);

	if (options_find(cmd->options, row->name) != row)
		fail_msg("%s --%s: the name occurs twice", cmd->name, row->name);
	if (options_find(command_common_rows(cmd), row->name))
		fail_msg("%s --%s: every command has that", cmd->name, row->name);
	for (const struct option_row *other = cmd->options; other != row; other++) {
		if (row->letter && other->letter == row->letter)
			fail_msg("%s -%c: the letter occurs twice", cmd->name,
				 row->letter);
	}
	if (row->alias_of) {
		assert_ptr_not_equal(of, row);
		assert_null(of->alias_of);
		return;
	}
	check_names(cmd, row, row->not_with);
	check_names(cmd, row, row->only_with);
	if (row->instead && !row->not_with)
		fail_msg("%s --%s: in place of what?", cmd->name, row->name);
	if (row->kind == OPTION_REFUSED ? !row->refusal : !row->help)
		fail_msg("%s --%s: nothing says what it does", cmd->name, row->name);
	if (row->kind != OPTION_FLAG && row->kind != OPTION_REFUSED && !row->value)
		fail_msg("%s --%s: its value has no name", cmd->name, row->name);
	if (row->kind == OPTION_FLAG && row->value)
		fail_msg("%s --%s: a flag takes no value", cmd->name, row->name);
}

static void options_are_complete(void **state)
{
	const struct command *cmd;

	(void)state;
	for_each_command(cmd)
	{
		for (const struct option_row *row = cmd->options; row->name; row++)
			check_row(cmd, row);
	}
}

static void the_manual_has_every_option(void **state)
{
	const struct command *cmd;

	(void)state;
	for_each_command(cmd)
	{
		char *man = read_man(cmd);

		for (const struct option_row *row = cmd->options; row->name; row++) {
			if (!man_has_option(man, row->name))
				fail_msg("%s --%s: not in the manual page", cmd->name,
					 row->name);
		}
		free(man);
	}
}

static void the_manual_names_every_command(void **state)
{
	char *man = read_page("oprofile");
	const struct command *cmd;

	(void)state;
	for_each_command(cmd)
	{
		char wanted[64];

		snprintf(wanted, sizeof(wanted), "Cm %s", cmd->name);
		if (!man_has_word(man, wanted))
			fail_msg("%s: not in man/oprofile.1", cmd->name);
	}
	free(man);
}

static void keys_are_complete(void **state)
{
	char *man = read_page("opreport");

	(void)state;
	for (const struct key_row *row = key_rows; row->name; row++) {
		for (const struct key_row *other = key_rows; other != row; other++)
			assert_string_not_equal(row->name, other->name);
		if (row->refusal)
			continue;
		if (!row->help)
			fail_msg("key %s: no help text", row->name);
		if (!man_has_word(man, row->name))
			fail_msg("key %s: not in man/opreport.1", row->name);
		/* Events are shown next to each other, each with separate columns. */
		if (row->id != KEY_EVENT && !column_of_key(row->id))
			fail_msg("key %s: no column shows it", row->name);
	}
	free(man);
}

static void columns_are_complete(void **state)
{
	(void)state;
	for (const struct column *row = columns; row->name; row++) {
		assert_ptr_equal(column_find(row->name), row);
		if (!row->title || !row->help || !row->print)
			fail_msg("column %s: no title, help text or printer",
				 row->name);
	}
	assert_null(column_find("no such column"));
}

static void writers_are_complete(void **state)
{
	(void)state;
	for (const struct writer *row = writers; row->name; row++) {
		assert_ptr_equal(writer_find(row->name), row);
		if (!row->help || !row->write)
			fail_msg("writer %s: no help text or function", row->name);
	}
}

static void sources_are_complete(void **state)
{
	char *man = read_page("operf");

	(void)state;
	for (const struct source_row *row = source_rows; row->name; row++) {
		for (const struct source_row *other = source_rows; other != row;
		     other++)
			assert_string_not_equal(row->name, other->name);
		if (!row->help || !row->available)
			fail_msg("source %s: no help text or probe", row->name);
		if (!man_has_word(man, row->name))
			fail_msg("source %s: not in man/operf.1", row->name);
	}
	free(man);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(commands_have_distinct_names),
		cmocka_unit_test(commands_have_descriptions),
		cmocka_unit_test(options_are_complete),
		cmocka_unit_test(the_manual_has_every_option),
		cmocka_unit_test(the_manual_names_every_command),
		cmocka_unit_test(keys_are_complete),
		cmocka_unit_test(columns_are_complete),
		cmocka_unit_test(writers_are_complete),
		cmocka_unit_test(sources_are_complete),
	};

	return UNIT_RUN(cases);
}
