/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "tools/cli/options.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

#include "alloc_fail.h"
#include "unit.h"

struct target {
	bool flag;
	bool only;
	const char *text;
	const char *chain;
	struct word_list list;
	uint64_t count;
	double number;
	uint64_t duration_ns;
};

static const struct option_row rows[] = {
	{ .name = "flag",
	  .letter = 'f',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct target, flag) },
	{ .name = "text",
	  .letter = 't',
	  .kind = OPTION_TEXT,
	  .value = "WORD",
	  .offset = OPTION(struct target, text) },
	{ .name = "callgraph",
	  .letter = 'g',
	  .kind = OPTION_TEXT,
	  .value = "HOW",
	  .value_optional = true,
	  .offset = OPTION(struct target, chain) },
	{ .name = "call-graph", .alias_of = "callgraph" },
	{ .name = "alone",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct target, only),
	  .not_with = "callgraph number",
	  .instead = "--count 1" },
	{ .name = "only",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct target, only),
	  .only_with = "text number count" },
	{ .name = "one",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct target, only),
	  .only_with = "number" },
	{ .name = "list",
	  .letter = 'l',
	  .kind = OPTION_LIST,
	  .value = "WORD",
	  .offset = OPTION(struct target, list) },
	{ .name = "count",
	  .kind = OPTION_COUNT,
	  .value = "N",
	  .offset = OPTION(struct target, count) },
	{ .name = "number",
	  .kind = OPTION_NUMBER,
	  .value = "X",
	  .offset = OPTION(struct target, number) },
	{ .name = "duration",
	  .kind = OPTION_DURATION,
	  .value = "TIME",
	  .offset = OPTION(struct target, duration_ns) },
	{ .name = "later",
	  .letter = 'L',
	  .kind = OPTION_REFUSED,
	  .refusal = "comes later" },
	{ .name = "later-value",
	  .kind = OPTION_REFUSED,
	  .value = "X",
	  .refusal = "comes later" },
	{ 0 },
};

enum {
	MAX_WORDS = 16
};

/* The result of one command line. */
struct outcome {
	struct target target;
	struct err err;
	int r;
	int first;
	int argc;
	char *argv[MAX_WORDS];
};

/* Splits `line` (copied to `text`) at blanks and parses it. */
static void parse(struct outcome *o, enum options_order order, const char *line)
{
	static char text[256];
	struct options_table table = { rows, &o->target };
	struct words words;
	char *rest = text;
	char *word;

	*o = (struct outcome){ .first = -1 };
	strncpy(text, line, sizeof(text) - 1);
	o->argv[o->argc++] = (char *)"tool";
	while ((word = strsep(&rest, " ")) && o->argc + 1 < MAX_WORDS)
		o->argv[o->argc++] = word;
	words = (struct words){ .argc = o->argc, .argv = o->argv, .first = -1 };
	o->r = options_parse(&table, 1, order, &words, &o->err);
	o->first = words.first;
}

static void drop(struct outcome *o)
{
	vec_done(&o->target.list.values);
}

static void every_kind_is_stored(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, OPTIONS_PERMUTE,
	      "--flag --text=a --list x -ly --count 0x10 --number .5 --duration 250ms "
	      "w");
	assert_int_equal(o.r, 0);
	assert_true(o.target.flag);
	assert_string_equal(o.target.text, "a");
	assert_null(o.target.chain);
	assert_int_equal(o.target.list.values.nr, 2);
	assert_string_equal(o.target.list.values.at[1], "y");
	assert_int_equal(o.target.count, 16);
	assert_true(o.target.number == 0.5);
	assert_int_equal(o.target.duration_ns, 250000000);
	assert_string_equal(o.argv[o.first], "w");
	assert_int_equal(o.first, o.argc - 1);
	drop(&o);
}

static void operands_can_be_between_options(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, OPTIONS_PERMUTE, "one -f two --text a three");
	assert_int_equal(o.r, 0);
	assert_true(o.target.flag);
	assert_int_equal(o.argc - o.first, 3);
	assert_string_equal(o.argv[o.first], "one");
	assert_string_equal(o.argv[o.first + 2], "three");
	parse(&o, OPTIONS_PERMUTE, "-f -- --text");
	assert_int_equal(o.r, 0);
	assert_string_equal(o.argv[o.first], "--text");
}

static void the_first_operand_ends_the_options(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, OPTIONS_STOP_AT_WORD, "-f program --text --nonsense");
	assert_int_equal(o.r, 0);
	assert_true(o.target.flag);
	assert_null(o.target.text);
	assert_string_equal(o.argv[o.first], "program");
	assert_int_equal(o.argc - o.first, 3);
}

static void an_optional_value_does_not_consume_an_operand(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, OPTIONS_STOP_AT_WORD, "--callgraph ./program");
	assert_int_equal(o.r, 0);
	assert_string_equal(o.target.chain, "");
	assert_string_equal(o.argv[o.first], "./program");
	parse(&o, OPTIONS_STOP_AT_WORD, "-g ./program");
	assert_string_equal(o.target.chain, "");
	assert_string_equal(o.argv[o.first], "./program");
	parse(&o, OPTIONS_STOP_AT_WORD, "--callgraph=fp ./program");
	assert_string_equal(o.target.chain, "fp");
	parse(&o, OPTIONS_STOP_AT_WORD, "-gfp ./program");
	assert_string_equal(o.target.chain, "fp");
}

static void spellings_share_one_field(void **state)
{
	static const char *const lines[] = { "--call-graph=x", "--callgraph=x",
					     "--call=x", "--call-=x", "-gx" };
	struct outcome o;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		parse(&o, OPTIONS_PERMUTE, lines[i]);
		assert_int_equal(o.r, 0);
		assert_string_equal(o.target.chain, "x");
	}
}

static void errors_name_the_option(void **state)
{
	static const struct {
		const char *line;
		const char *text;
	} lines[] = {
		{ "--txet=a", "unknown option --txet: did you mean --text?" },
		{ "--zzzzzz", "unknown option --zzzzzz" },
		{ "--zzzzzz=1", "unknown option --zzzzzz" },
		{ "-q", "unknown option -q" },
		{ "-fq", "unknown option -q" },
		{ "-?", "unknown option -?" },
		{ "--text", "--text needs a value: WORD" },
		{ "-t", "--text needs a value: WORD" },
		{ "--flag=1", "--flag takes no value" },
		{ "--count 1x", "--count: '1x' is not a whole number" },
		{ "--number a", "--number: 'a' is not a number" },
		{ "--duration 5d",
		  "--duration: '5d' is not a time such as 10, 1.5s, 250ms or 2m" },
		{ "--later", "--later: comes later" },
		{ "-L", "--later: comes later" },
		{ "--later=5", "--later: comes later" },
		{ "--later-value 5", "--later-value: comes later" },
		{ "--later-value", "--later-value: comes later" },
		{ "--alone --number 1",
		  "--alone is incompatible with --number: give --count 1" },
		{ "--call-graph=x word --alone",
		  "--alone is incompatible with --callgraph: give --count 1" },
		{ "--only",
		  "--only is meaningless without --text, --number or --count" },
		{ "--only --one",
		  "--only is meaningless without --text, --number or --count" },
		{ "--one -t x", "--one is meaningless without --number" },
		{ "--l", "option --l is ambiguous: --list, --later, --later-value" },
	};
	struct outcome o;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		parse(&o, OPTIONS_PERMUTE, lines[i].line);
		assert_int_equal(o.r, -EINVAL);
		assert_string_equal(o.err.text, lines[i].text);
		assert_int_equal(o.first, -1);
		drop(&o);
	}
}

static void checks_combinations_of_options(void **state)
{
	static const char *const lines[] = { "--alone --text x", "--only -t x",
					     "--one --only --number 1", "--number 1" };
	struct outcome o;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		parse(&o, OPTIONS_PERMUTE, lines[i]);
		assert_int_equal(o.r, 0);
		drop(&o);
	}
}

static void truncates_a_very_long_name(void **state)
{
	char word[4000];
	char *argv[] = { (char *)"tool", word, NULL };
	struct target target = { 0 };
	struct options_table table = { rows, &target };
	struct words words = { .argc = 2, .argv = argv };
	struct err err;

	(void)state;
	memset(word, 'x', sizeof(word));
	memcpy(word, "--", 2);
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(options_parse(&table, 1, OPTIONS_PERMUTE, &words, &err),
			 -EINVAL);
	assert_true(strlen(err.text) < 80);
}

static void handles_every_allocation_failure(void **state)
{
	struct outcome o;

	(void)state;
	for (unsigned long n = 1;; n++) {
		bool failed;

		alloc_fail_at(n);
		parse(&o, OPTIONS_PERMUTE, "--list=a word");
		failed = alloc_fail_off();
		drop(&o);
		if (!failed) {
			assert_int_equal(o.r, 0);
			assert_true(n > 2);
			return;
		}
		assert_int_equal(o.r, -ENOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(every_kind_is_stored),
		cmocka_unit_test(operands_can_be_between_options),
		cmocka_unit_test(the_first_operand_ends_the_options),
		cmocka_unit_test(an_optional_value_does_not_consume_an_operand),
		cmocka_unit_test(spellings_share_one_field),
		cmocka_unit_test(errors_name_the_option),
		cmocka_unit_test(checks_combinations_of_options),
		cmocka_unit_test(truncates_a_very_long_name),
		cmocka_unit_test(handles_every_allocation_failure),
	};

	return UNIT_RUN(cases);
}
