/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests budgets of users for unwind tables, with a clock that the test sets. */
#include "record/helper/table_budget.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "record/helper/table_account.h"

#include "unit.h"

static const uint64_t ms = 1000000;
static const uint64_t s = 1000000000;
static const uint64_t minute = 60000000000;

static unsigned int nr_lines;
static char last_line[256];

static void take_line(enum log_level level, const char *text)
{
	(void)level;
	nr_lines++;
	snprintf(last_line, sizeof(last_line), "%s", text);
}

static struct table_budget *begin_budget(unsigned int nr_cpus)
{
	struct table_budget *b;

	nr_lines = 0;
	log_set_sink(take_line);
	assert_int_equal(table_budget_new(nr_cpus, s, &b), 0);
	return b;
}

static void end_budget(struct table_budget *b)
{
	table_budget_free(b);
	log_set_sink(NULL);
}

/* A burst of one second, then 0.2 s per minute. */
static void each_user_has_a_budget(void **state)
{
	struct table_budget *b = begin_budget(16);
	uint64_t now = s;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		assert_true(table_budget_allows(b, 1000, now));
		table_budget_spend(b, 1000, now, 300 * ms);
	}
	assert_false(table_budget_allows(b, 1000, now));
	assert_false(table_budget_allows(b, 1000, now + minute - 1));
	assert_true(table_budget_allows(b, 1000, now + minute));
	assert_int_equal(table_budget_refused(b), 2);
	assert_int_equal(table_budget_spent_ns(b), 1200 * ms);
	/* Over ten hours, the user gets exactly the earned time. */
	now += minute;
	for (unsigned int i = 0; i < 36000; i++, now += s)
		if (table_budget_allows(b, 1000, now))
			table_budget_spend(b, 1000, now, 500 * ms);
	assert_in_range(table_budget_spent_ns(b), 119 * s, 122 * s);
	end_budget(b);
}

/* One table can cost more than the budget: all of it must be earned before the next one. */
static void debts_are_paid_first(void **state)
{
	struct table_budget *b = begin_budget(16);

	(void)state;
	assert_true(table_budget_allows(b, 1000, s));
	table_budget_spend(b, 1000, s, 4 * s);
	assert_false(table_budget_allows(b, 1000, s + 15 * minute - 1));
	assert_true(table_budget_allows(b, 1000, s + 15 * minute));
	end_budget(b);
}

static void other_users_and_the_system_have_own_budgets(void **state)
{
	struct table_budget *b = begin_budget(16);

	(void)state;
	table_budget_spend(b, 1000, s, 2 * s);
	assert_false(table_budget_allows(b, 1000, s));
	assert_true(table_budget_allows(b, 1001, s));
	/* The budget of system files has no limit here: the governor limits their cost. */
	table_budget_spend(b, TABLE_ACCOUNT_SYSTEM, s, 100 * s);
	assert_true(table_budget_allows(b, TABLE_ACCOUNT_SYSTEM, s));
	assert_int_equal(table_budget_spent_ns(b), 2 * s);
	end_budget(b);
}

static void logs_a_used_up_budget_once(void **state)
{
	struct table_budget *b = begin_budget(16);

	(void)state;
	table_budget_spend(b, 1000, s, 2 * s);
	for (unsigned int i = 0; i < 100; i++)
		assert_false(table_budget_allows(b, 1000, s + i));
	assert_int_equal(nr_lines, 1);
	assert_non_null(strstr(last_line, "user id 1000"));
	table_budget_spend(b, 1ULL << 62, s, 2 * s);
	assert_false(table_budget_allows(b, 1ULL << 62, s));
	assert_int_equal(nr_lines, 2);
	assert_non_null(strstr(last_line, "subordinate user ids"));
	/* After a part was earned, exhaustion is not reported again; after all was earned, it
	 * is. */
	assert_true(table_budget_allows(b, 1000, s + 5 * minute));
	table_budget_spend(b, 1000, s + 5 * minute, s);
	assert_false(table_budget_allows(b, 1000, s + 5 * minute));
	assert_int_equal(nr_lines, 2);
	assert_true(table_budget_allows(b, 1000, s + 60 * minute));
	table_budget_spend(b, 1000, s + 60 * minute, 2 * s);
	assert_false(table_budget_allows(b, 1000, s + 60 * minute));
	assert_int_equal(nr_lines, 3);
	end_budget(b);
}

/* Half a percent of two CPUs for all users together. */
static void all_users_share_a_total_budget(void **state)
{
	struct table_budget *b = begin_budget(2);
	uint64_t now = s;
	uint64_t account = 1000;

	(void)state;
	while (table_budget_allows(b, account, now) && account < 2000)
		table_budget_spend(b, account++, now, 500 * ms);
	assert_int_equal(account, 1009);
	assert_int_equal(nr_lines, 1);
	assert_non_null(strstr(last_line, "all users together"));
	for (unsigned int i = 0; i < 36000; i++, now += s)
		if (table_budget_allows(b, account, now))
			table_budget_spend(b, account++, now, 500 * ms);
	assert_in_range(table_budget_spent_ns(b), 360 * s, 366 * s);
	end_budget(b);
}

/* Users without a free account share one; accounts with a full budget are free. */
static void bounds_the_number_of_accounts(void **state)
{
	struct table_budget *b = begin_budget(64);

	(void)state;
	for (uint64_t account = 0; account < 256; account++)
		table_budget_spend(b, account, s, ms);
	table_budget_spend(b, 1000, s, 2 * s);
	assert_false(table_budget_allows(b, 1000, s));
	assert_false(table_budget_allows(b, 1001, s));
	assert_true(table_budget_allows(b, 255, s));
	assert_true(table_budget_allows(b, 1000, s + minute));
	assert_true(table_budget_allows(b, 1001, s + minute));
	end_budget(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_user_has_a_budget),
		cmocka_unit_test(debts_are_paid_first),
		cmocka_unit_test(other_users_and_the_system_have_own_budgets),
		cmocka_unit_test(logs_a_used_up_budget_once),
		cmocka_unit_test(all_users_share_a_total_budget),
		cmocka_unit_test(bounds_the_number_of_accounts),
	};

	return UNIT_RUN(tests);
}
