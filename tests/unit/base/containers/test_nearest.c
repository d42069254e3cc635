/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "base/containers/nearest.h"

#include <string.h>

#include "unit.h"

static void distance_counts_edits(void **state)
{
	static const struct {
		const char *a, *b;
		size_t want;
	} rows[] = {
		{ "", "", 0 },
		{ "", "abc", 3 },
		{ "abc", "", 3 },
		{ "same", "same", 0 },
		{ "same", "sam", 1 },
		{ "same", "saem", 1 },
		{ "frequncy", "frequency", 1 },
		{ "kitten", "sitting", 3 },
		{ "ab", "ba", 1 },
		{ "abc", "xyz", 3 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(nearest_distance(rows[i].a, rows[i].b), rows[i].want);
		assert_int_equal(nearest_distance(rows[i].b, rows[i].a), rows[i].want);
	}
}

static void long_words_are_never_near(void **state)
{
	char word[NEAREST_WORD_MAX + 2];

	(void)state;
	memset(word, 'x', sizeof(word));
	word[NEAREST_WORD_MAX] = '\0';
	assert_int_equal(nearest_distance(word, word), 0);
	word[NEAREST_WORD_MAX] = 'x';
	word[NEAREST_WORD_MAX + 1] = '\0';
	assert_true(nearest_distance(word, "x") == SIZE_MAX);
	assert_true(nearest_distance("x", word) == SIZE_MAX);
}

static void the_nearest_is_kept(void **state)
{
	struct nearest n = { .word = "symbls" };

	(void)state;
	nearest_try(&n, "threshold");
	assert_null(n.best);
	nearest_try(&n, "symbol");
	assert_string_equal(n.best, "symbol");
	nearest_try(&n, "symbols");
	assert_string_equal(n.best, "symbols");
	nearest_try(&n, "symbol");
	assert_string_equal(n.best, "symbols");
}

static void several_are_kept_in_order(void **state)
{
	static const char *const words[] = { "MEM_LOAD",     "BR_INST_RETIRED",
					     "inst_retired", "INST_RETIRED",
					     "zebra",        "UOPS_RETIRED" };
	struct nearest_few n;
	char text[NEAREST_TEXT_MAX];

	(void)state;
	nearest_few_init(&n, "inst_retred.any", 11);
	nearest_few_text(&n, text);
	assert_string_equal(text, "");
	for (size_t i = 0; i < COUNT_OF(words); i++)
		nearest_few_try(&n, words[i]);
	nearest_few_text(&n, text);
	assert_string_equal(text, " (Did you mean inst_retired or BR_INST_RETIRED?)");
}

static void what_has_the_word_in_it_is_near(void **state)
{
	static const char *const words[] = { "MEM_LOAD_L3_HIT_RETIRED",
					     "MEM_LOAD_A",
					     "MEM_LOAD_B",
					     "MEM_LOAD_C",
					     "MEM_LOAD_D",
					     "memload" };
	struct nearest_few n;
	char text[NEAREST_TEXT_MAX];

	(void)state;
	nearest_few_init(&n, "MEM_LOAD", 8);
	for (size_t i = 0; i < COUNT_OF(words); i++)
		nearest_few_try(&n, words[i]);
	nearest_few_text(&n, text);
	assert_string_equal(text, " (Did you mean memload, MEM_LOAD_A, MEM_LOAD_B or "
				  "MEM_LOAD_C?)");
	nearest_few_init(&n, "LOA", 3);
	nearest_few_try(&n, "MEM_LOAD");
	assert_int_equal(n.nr, 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(distance_counts_edits),
		cmocka_unit_test(long_words_are_never_near),
		cmocka_unit_test(the_nearest_is_kept),
		cmocka_unit_test(several_are_kept_in_order),
		cmocka_unit_test(what_has_the_word_in_it_is_near),
	};

	return UNIT_RUN(cases);
}
