/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "tools/cli/help.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cli/command.h"

#include "unit.h"

static const struct option_row rows[] = {
	{ .name = "callgraph",
	  .letter = 'g',
	  .kind = OPTION_TEXT,
	  .value = "HOW",
	  .value_optional = true,
	  .help = "Record chains of callers; a sentence that is long enough to need a "
		  "second "
		  "line at any width." },
	{ .name = "call-graph", .alias_of = "callgraph" },
	{ .name = "a-very-long-name-of-an-option",
	  .kind = OPTION_TEXT,
	  .value = "WORD",
	  .help = "Short." },
	{ .name = "xml", .kind = OPTION_REFUSED, .refusal = "comes later" },
	{ .name = "diff", .kind = OPTION_REFUSED, .refusal = "comes later" },
	{ 0 },
};

static const struct command cmd = {
	.name = "sample",
	.summary = "take a sample",
	.usage = "[options] WORD\n--all",
	.notes = "First line.\nSecond line.",
	.options = rows,
};

static char *help_text(unsigned int width)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	help_print(out, &cmd, "opsample", width);
	fclose(out);
	return text;
}

static void no_line_is_wider(void **state)
{
	(void)state;
	for (unsigned int width = 45; width < 120; width++) {
		char *text = help_text(width);
		char *rest = text;
		char *line;

		while ((line = strsep(&rest, "\n")))
			assert_true(strlen(line) <= width);
		free(text);
	}
}

static void contains_everything(void **state)
{
	static const char *const want[] = {
		"Usage: opsample [options] WORD\n       opsample --all\n",
		"\ntake a sample\n",
		"\n  -g, --callgraph[=HOW], --call-graph[=HOW]\n",
		"\n      --a-very-long-name-of-an-option=WORD\n",
		"\n                            Short.\n", /* its text on the next line */
		"--help",
		"--version",
		"\nRejected (each prints the reason):\n  --xml, --diff\n",
		"\nFirst line.\nSecond line.\n",
	};
	char *text = help_text(80);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		if (!strstr(text, want[i]))
			fail_msg("missing: %s\nin: %s", want[i], text);
	}
	free(text);
}

static void columns_sets_the_width(void **state)
{
	(void)state;
	setenv("COLUMNS", "66", 1);
	assert_int_equal(help_terminal_width(), 66);
	setenv("COLUMNS", "3", 1);
	assert_int_equal(help_terminal_width(), 40);
	setenv("COLUMNS", "5000", 1);
	assert_int_equal(help_terminal_width(), 120);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(no_line_is_wider),
		cmocka_unit_test(contains_everything),
		cmocka_unit_test(columns_sets_the_width),
	};

	return UNIT_RUN(cases);
}
