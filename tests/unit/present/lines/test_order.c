/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/order.h"

#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"

#include "unit.h"

static void every_name_is_a_key_once(void **state)
{
	struct order order = { 0 };

	(void)state;
	assert_int_equal(order_parse(&order, "image,vma,image", NULL), 0);
	assert_int_equal(order_parse(&order, "vma,sample,symbol,debug,app-name", NULL),
			 0);
	assert_int_equal(order.nr, ORDER_KEY_COUNT);
	assert_int_equal(order.keys[0], ORDER_IMAGE);
	assert_int_equal(order.keys[1], ORDER_VMA);
	assert_int_equal(order.keys[2], ORDER_SAMPLE);
	assert_true(order_has(&order, ORDER_APP));
}

static void rejects_a_key_of_by_by_its_name(void **state)
{
	struct order order = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_true(order_parse(&order, "sample,comm", &err) < 0);
	assert_string_equal(
		err.text, "unknown sort option: comm (to group by it, use --by comm)");
	assert_true(order_parse(&order, "comm,dso,symbol", &err) < 0);
	assert_string_equal(
		err.text,
		"unknown sort option: comm (to group by it, use --by comm,dso,symbol)");
	assert_true(order_parse(&order, "comm,nonsense", &err) < 0);
	assert_non_null(strstr(err.text, "--by comm)"));
	assert_true(order_parse(&order, "line", &err) < 0);
	assert_non_null(strstr(err.text, "--by line"));
	assert_true(order_parse(&order, "time:10ms", &err) < 0);
	assert_non_null(strstr(err.text, "--by time:10ms"));
	assert_true(order_parse(&order, "samples", &err) < 0);
	assert_null(strstr(err.text, "--by"));
	assert_true(order_parse(&order, "", &err) < 0);
}

struct resolved {
	struct key_list keys;
	struct profile p;
	struct tie_keys before;
	struct tie_keys after;
};

static void resolve(struct resolved *r, const char *by, const char *sort,
		    enum line_order usual, unsigned int without)
{
	struct order order = { 0 };

	memset(r, 0, sizeof(*r));
	assert_int_equal(keys_parse(&r->keys, by, NULL), 0);
	if (*sort)
		assert_int_equal(order_parse(&order, sort, NULL), 0);
	r->p.options.keys = &r->keys;
	r->p.nr_keys = r->keys.keys.nr;
	order_resolve(&order, usual, without, &r->p, &r->before, &r->after);
}

static void expect_keys(const struct tie_keys *got, const struct tie_key *want,
			size_t nr)
{
	assert_int_equal(got->nr, nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(got->at[i].key, want[i].key);
		assert_int_equal(got->at[i].by, want[i].by);
	}
}

static void sorts_functions_in_oprofiles_order(void **state)
{
	const struct tie_key usual[] = { { 1, TIE_BY_BASE },
					 { 0, TIE_BY_BASE },
					 { 2, TIE_BY_VALUE },
					 { 2, TIE_BY_VMA } };
	const struct tie_key by_symbol[] = { { 2, TIE_BY_VALUE } };
	const struct tie_key rest[] = { { 1, TIE_BY_BASE },
					{ 0, TIE_BY_BASE },
					{ 2, TIE_BY_VMA } };
	struct resolved r;

	(void)state;
	resolve(&r, "app,image,symbol", "", LINES_BY_FUNCTION, 0);
	expect_keys(&r.before, NULL, 0);
	expect_keys(&r.after, usual, 4);
	keys_done(&r.keys);
	resolve(&r, "app,image,symbol", "symbol", LINES_BY_FUNCTION, 0);
	expect_keys(&r.before, by_symbol, 1);
	expect_keys(&r.after, rest, 3);
	keys_done(&r.keys);
}

static void rejects_keys_that_make_columns(void **state)
{
	const struct tie_key want[] = { { 0, TIE_BY_VALUE }, { 2, TIE_BY_VALUE } };
	const struct tie_key lead[] = { { 2, TIE_BY_VALUE } };
	struct resolved r;

	(void)state;
	resolve(&r, "comm,tid,image", "", LINES_BY_KEYS, 1u << KEY_TID);
	expect_keys(&r.before, NULL, 0);
	expect_keys(&r.after, want, 2);
	keys_done(&r.keys);
	resolve(&r, "comm,event,image", "image", LINES_BY_KEYS, 0);
	expect_keys(&r.before, lead, 1);
	expect_keys(&r.after, want, 2);
	keys_done(&r.keys);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(every_name_is_a_key_once),
		cmocka_unit_test(rejects_a_key_of_by_by_its_name),
		cmocka_unit_test(sorts_functions_in_oprofiles_order),
		cmocka_unit_test(rejects_keys_that_make_columns),
	};

	return UNIT_RUN(cases);
}
