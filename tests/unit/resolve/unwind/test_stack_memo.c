/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/containers/hash.h"
#include "resolve/unwind/stack_memo.h"

static uint64_t key_of(uint32_t stack)
{
	return hash_pair(stack, 7);
}

static void test_finds_nothing_when_empty(void **unused)
{
	struct stack_memo m = { 0 };

	(void)unused;
	assert_int_equal(stack_memo_get(&m, key_of(1)), DICT_NONE);
	stack_memo_prefetch(&m, key_of(1));
	stack_memo_put(&m, key_of(1), 1);
	assert_int_equal(stack_memo_get(&m, key_of(1)), 1);
	assert_int_equal(stack_memo_get(&m, key_of(2)), DICT_NONE);
	stack_memo_done(&m);
}

/* Most entries are kept while the table grows, and none is returned for another key. */
static void test_keeps_many_stacks(void **unused)
{
	enum {
		NR = 500000
	};
	struct stack_memo m = { 0 };
	size_t nr_kept = 0;

	(void)unused;
	for (uint32_t i = 0; i < NR; i++) {
		stack_memo_put(&m, key_of(i), i);
		assert_int_equal(stack_memo_get(&m, key_of(i)), i);
	}
	for (uint32_t i = 0; i < NR; i++) {
		uint32_t stack = stack_memo_get(&m, key_of(i));

		assert_true(stack == i || stack == DICT_NONE);
		nr_kept += stack == i;
	}
	assert_true(nr_kept > NR / 10 * 8);
	stack_memo_done(&m);
}

/* If there is no room, new entries replace others, and the memory does not grow. */
static void test_size_is_bounded(void **unused)
{
	enum {
		NR = 5000000
	};
	struct stack_memo m = { 0 };

	(void)unused;
	for (uint32_t i = 0; i < NR; i++)
		stack_memo_put(&m, key_of(i), i);
	assert_true(m.nr_lines * sizeof(*m.lines) <= 16 << 20);
	assert_int_equal(stack_memo_get(&m, key_of(NR - 1)), NR - 1);
	stack_memo_done(&m);
}

static void test_replaces_an_equal_key(void **unused)
{
	struct stack_memo m = { 0 };

	(void)unused;
	for (int i = 0; i < 10; i++)
		stack_memo_put(&m, key_of(1), 1);
	assert_int_equal(m.nr_keys, 1);
	stack_memo_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_nothing_when_empty),
		cmocka_unit_test(test_keeps_many_stacks),
		cmocka_unit_test(test_size_is_bounded),
		cmocka_unit_test(test_replaces_an_equal_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
