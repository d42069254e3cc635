/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "base/containers/closest_match.h"

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
		assert_int_equal(edit_distance(rows[i].a, rows[i].b), rows[i].want);
		assert_int_equal(edit_distance(rows[i].b, rows[i].a), rows[i].want);
	}
}

static void long_words_never_match(void **state)
{
	char word[CLOSEST_WORD_MAX + 2];

	(void)state;
	memset(word, 'x', sizeof(word));
	word[CLOSEST_WORD_MAX] = '\0';
	assert_int_equal(edit_distance(word, word), 0);
	word[CLOSEST_WORD_MAX] = 'x';
	word[CLOSEST_WORD_MAX + 1] = '\0';
	assert_true(edit_distance(word, "x") == SIZE_MAX);
	assert_true(edit_distance("x", word) == SIZE_MAX);
}

static void keeps_the_closest_match(void **state)
{
	struct closest_match n = { .word = "symbls" };

	(void)state;
	closest_match_try(&n, "threshold");
	assert_null(n.best);
	closest_match_try(&n, "symbol");
	assert_string_equal(n.best, "symbol");
	closest_match_try(&n, "symbols");
	assert_string_equal(n.best, "symbols");
	closest_match_try(&n, "symbol");
	assert_string_equal(n.best, "symbols");
}

static void keeps_several_matches_in_order(void **state)
{
	static const char *const words[] = { "MEM_LOAD",     "BR_INST_RETIRED",
					     "inst_retired", "INST_RETIRED",
					     "zebra",        "UOPS_RETIRED" };
	struct closest_matches n;
	char text[CLOSEST_TEXT_MAX];

	(void)state;
	closest_matches_init(&n, "inst_retred.any", 11);
	closest_matches_text(&n, text);
	assert_string_equal(text, "");
	for (size_t i = 0; i < COUNT_OF(words); i++)
		closest_matches_try(&n, words[i]);
	closest_matches_text(&n, text);
	assert_string_equal(text, " (Did you mean inst_retired or BR_INST_RETIRED?)");
}

static void a_word_that_contains_the_other_matches(void **state)
{
	static const char *const words[] = { "MEM_LOAD_L3_HIT_RETIRED",
					     "MEM_LOAD_A",
					     "MEM_LOAD_B",
					     "MEM_LOAD_C",
					     "MEM_LOAD_D",
					     "memload" };
	struct closest_matches n;
	char text[CLOSEST_TEXT_MAX];

	(void)state;
	closest_matches_init(&n, "MEM_LOAD", 8);
	for (size_t i = 0; i < COUNT_OF(words); i++)
		closest_matches_try(&n, words[i]);
	closest_matches_text(&n, text);
	assert_string_equal(text, " (Did you mean memload, MEM_LOAD_A, MEM_LOAD_B or "
				  "MEM_LOAD_C?)");
	closest_matches_init(&n, "LOA", 3);
	closest_matches_try(&n, "MEM_LOAD");
	assert_int_equal(n.nr, 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(distance_counts_edits),
		cmocka_unit_test(long_words_never_match),
		cmocka_unit_test(keeps_the_closest_match),
		cmocka_unit_test(keeps_several_matches_in_order),
		cmocka_unit_test(a_word_that_contains_the_other_matches),
	};

	return UNIT_RUN(cases);
}
