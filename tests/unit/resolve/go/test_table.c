/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fail.h"
#include "resolve/go/go_maker.h"
#include "resolve/go/table.h"

enum {
	CODE_END = 0x1080
};

static const uint32_t layouts[] = { GO_MADE_12, GO_MADE_116, GO_MADE_118, GO_MADE_120 };

static int open_made(const struct go_made *made, size_t len,
		     struct go_table **ret_table)
{
	return go_table_open_bytes(made->bytes, len, made->swap, GO_MADE_TEXT, CODE_END,
				   ret_table);
}

static void expect_run(struct go_runs *runs, uint64_t low, uint64_t high, int32_t value)
{
	assert_true(go_runs_next(runs));
	assert_int_equal(runs->low, low);
	assert_int_equal(runs->high, high);
	assert_int_equal(runs->value, value);
}

static void check_table(const struct go_made *made, const struct go_table *t)
{
	int32_t hot = made->layout == GO_MADE_12;
	struct go_function fn;
	struct go_runs runs;

	assert_int_equal(go_table_count(t), 2);
	assert_true(go_table_function(t, 0, &fn));
	assert_string_equal(fn.name, "main.hot");
	assert_int_equal(fn.low, 0x1000);
	assert_int_equal(fn.high, 0x1040);
	assert_int_equal(fn.line, made->layout == GO_MADE_120 ? 9 : 0);
	assert_false(fn.is_first);
	go_runs_begin(&runs, t, &fn, GO_LINE);
	expect_run(&runs, 0x1000, 0x1010, 10);
	expect_run(&runs, 0x1010, 0x1030, 12);
	assert_false(go_runs_next(&runs));
	assert_string_equal(go_table_path(t, &fn, hot), "/src/hot.go");
	assert_null(go_table_path(t, &fn, -1));
	assert_null(go_table_path(t, &fn, 1 << 20));

	assert_true(go_table_function(t, 1, &fn));
	assert_string_equal(fn.name, "main.work");
	assert_int_equal(fn.high, CODE_END);
	go_runs_begin(&runs, t, &fn, GO_LINE);
	expect_run(&runs, 0x1040, 0x1050, 20);
	expect_run(&runs, 0x1050, 0x1060, 12);
	expect_run(&runs, 0x1060, 0x1080, 19);
	assert_false(go_runs_next(&runs));
	go_runs_begin(&runs, t, &fn, GO_FILE);
	expect_run(&runs, 0x1040, 0x1050, hot + 1);
	expect_run(&runs, 0x1050, 0x1060, hot);
	assert_string_equal(go_table_path(t, &fn, hot + 1), "/src/work.go");
	go_runs_begin(&runs, t, &fn, GO_FRAME);
	expect_run(&runs, 0x1040, 0x1048, 0);
	expect_run(&runs, 0x1048, 0x1080, 24);
	assert_int_equal(fn.is_first, made->layout != GO_MADE_12);
	go_runs_begin(&runs, t, &fn, GO_INLINE);
	assert_false(go_runs_next(&runs));
	assert_false(go_table_function(t, 2, &fn));
}

static void reads_all_layouts_orders_and_pointer_sizes(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 16; i++) {
		struct go_made made = { .layout = layouts[i / 4],
					.ptr_bytes = i & 1 ? 4 : 8,
					.swap = i & 2 };
		struct go_table *t;

		go_made_fill(&made);
		assert_int_equal(open_made(&made, GO_MADE_BYTES, &t), 0);
		check_table(&made, t);
		go_table_free(t);
	}
}

/* Reads everything that a damaged table claims to have. */
static void read_all(const struct go_table *t)
{
	for (size_t i = 0; i < go_table_count(t); i++) {
		struct go_function fn;
		struct go_runs runs;

		if (!go_table_function(t, i, &fn))
			continue;
		assert_true(fn.low < fn.high && fn.high <= CODE_END);
		assert_true(strlen(fn.name) > 0);
		for (int v = GO_FILE; v <= GO_INLINE; v++) {
			go_runs_begin(&runs, t, &fn, (enum go_value)v);
			while (go_runs_next(&runs)) {
				assert_true(runs.low < runs.high &&
					    runs.high <= fn.high);
				(void)go_table_path(t, &fn, runs.value);
			}
		}
	}
}

static void truncated_or_damaged_tables_are_safe(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct go_made made = { .layout = layouts[i], .ptr_bytes = 8 };
		struct go_table *t;

		go_made_fill(&made);
		for (size_t len = 0; len < GO_MADE_BYTES; len++) {
			if (open_made(&made, len, &t))
				continue;
			read_all(t);
			go_table_free(t);
		}
		for (size_t at = 0; at < GO_MADE_BYTES; at++) {
			for (int bit = 0; bit < 8; bit++) {
				made.bytes[at] ^= (uint8_t)(1 << bit);
				if (!open_made(&made, GO_MADE_BYTES, &t)) {
					read_all(t);
					go_table_free(t);
				}
				made.bytes[at] ^= (uint8_t)(1 << bit);
			}
		}
	}
}

static void rejects_unsorted_functions(void **state)
{
	struct go_made made = { .layout = GO_MADE_120, .ptr_bytes = 8 };
	struct go_table *t;

	(void)state;
	go_made_fill(&made);
	go_made_put(&made, GO_MADE_FUNCTIONS + 8, 0x90, 4);
	assert_int_equal(open_made(&made, GO_MADE_BYTES, &t), -EBADMSG);
	go_made_fill(&made);
	made.bytes[4] = 1;
	assert_int_equal(open_made(&made, GO_MADE_BYTES, &t), -EBADMSG);
}

static void names_outlive_the_table(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct go_made made = { .layout = layouts[i], .ptr_bytes = 8 };
		struct go_function fn;
		struct go_table *t;
		char *names;

		go_made_fill(&made);
		assert_int_equal(open_made(&made, GO_MADE_BYTES, &t), 0);
		assert_true(go_table_function(t, 1, &fn));
		go_table_take_names(t, &names);
		go_table_free(t);
		assert_string_equal(fn.name, "main.work");
		free(names);
	}
}

static void handles_allocation_failure(void **state)
{
	struct go_made made = { .layout = GO_MADE_120, .ptr_bytes = 8 };

	(void)state;
	go_made_fill(&made);
	for (unsigned long n = 1;; n++) {
		struct go_table *t;
		int r;

		alloc_fail_at(n);
		r = open_made(&made, GO_MADE_BYTES, &t);
		if (!alloc_fail_off()) {
			assert_int_equal(r, 0);
			go_table_free(t);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(reads_all_layouts_orders_and_pointer_sizes),
		cmocka_unit_test(truncated_or_damaged_tables_are_safe),
		cmocka_unit_test(rejects_unsorted_functions),
		cmocka_unit_test(names_outlive_the_table),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}
