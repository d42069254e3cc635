/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/number_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "unit.h"

enum {
	MANY = 300000 /* does not fit into memory */
};

static void push_range(struct number_queue *q, int64_t from, int64_t to)
{
	for (int64_t i = from; i < to; i++)
		assert_int_equal(number_queue_push(q, -i), 0);
}

static void pop_range(struct number_queue *q, int64_t from, int64_t to)
{
	int64_t number;

	for (int64_t i = from; i < to; i++) {
		assert_int_equal(number_queue_pop(q, &number), 0);
		assert_int_equal(number, -i);
	}
}

static void test_numbers_come_in_order(void **state)
{
	struct number_queue q = { 0 };
	int64_t number;

	(void)state;
	for (int round = 0; round < 2; round++) {
		push_range(&q, 0, MANY);
		pop_range(&q, 0, MANY / 2);
		push_range(&q, MANY, MANY + 10);
		pop_range(&q, MANY / 2, MANY + 10);
		assert_int_equal(number_queue_pop(&q, &number), -ENODATA);
		push_range(&q, 0, MANY);
		number_queue_clear(&q);
		assert_int_equal(number_queue_pop(&q, &number), -ENODATA);
	}
	number_queue_done(&q);
}

static void test_a_short_queue_needs_no_file(void **state)
{
	struct number_queue q = { 0 };

	(void)state;
	for (int64_t i = 0; i < MANY; i++) {
		push_range(&q, i, i + 1);
		pop_range(&q, i, i + 1);
	}
	assert_false(q.has_file);
	number_queue_done(&q);
}

static void test_a_missing_directory_is_an_error(void **state)
{
	struct number_queue q = { 0 };
	struct err err = { 0 };
	int r = 0;

	(void)state;
	setenv("TMPDIR", "/nonexistent", 1);
	for (int64_t i = 0; !r && i < MANY; i++)
		r = number_queue_push(&q, i);
	unsetenv("TMPDIR");
	assert_int_equal(r, -ENOENT);
	assert_int_equal(number_queue_explain(&q, r, &err), -ENOENT);
	assert_non_null(strstr(err.text, "temporary file"));
	number_queue_done(&q);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(test_numbers_come_in_order),
		cmocka_unit_test(test_a_short_queue_needs_no_file),
		cmocka_unit_test(test_a_missing_directory_is_an_error),
	};

	return UNIT_RUN(cases);
}
