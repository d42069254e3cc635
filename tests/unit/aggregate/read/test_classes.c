/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/count/classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "aggregate/read/profile_feed.h"
#include "base/array.h"
#include "base/err.h"
#include "format/session/session.h"

#include "alloc_fail.h"
#include "unit.h"

enum {
	KEEP_ALL = KEEP_TGID | KEEP_TID | KEEP_CPU | KEEP_UNIT_MASK,
	MAX_MET = 16
};

static const struct class_event events[] = {
	{ "RETIRED", 50000, 0 },
	{ "CLK", 100000, 0 },
	{ "CLK", 50000, 0 },
	{ "CLK", 50000, 1 },
};

/* The combinations met, and the expected classes or error. */
struct row {
	unsigned int kept;
	struct class met[MAX_MET];
	size_t nr_met;
	enum class_axis axis;
	const char
		*titles; /* titles, each with a trailing blank; or the error message */
	bool fails;
};

static void check(const struct row *row)
{
	struct classes c;
	struct err err = { 0 };
	struct buf text = { 0 };
	int r;

	assert_int_equal(classes_init(&c, row->kept, events, 4), 0);
	for (size_t i = 0; i < row->nr_met; i++) {
		uint32_t number;
		uint32_t again;

		assert_int_equal(classes_add(&c, &row->met[i], &number), 0);
		assert_int_equal(classes_add(&c, &row->met[i], &again), 0);
		assert_int_equal(number, again);
	}
	r = classes_arrange(&c, &err);
	assert_int_equal(r, row->fails ? -EINVAL : 0);
	for (size_t i = 0; !r && i < c.columns.nr; i++) {
		classes_put_title(&c, i, &text);
		buf_put_u8(&text, ' ');
	}
	buf_put_u8(&text, 0);
	assert_string_equal(r ? err.text : (const char *)text.data, row->titles);
	if (!r)
		assert_int_equal(c.axis, row->axis);
	buf_done(&text);
	classes_done(&c);
}

static void one_varying_axis_makes_the_columns(void **state)
{
	static const struct row rows[] = {
		{ .kept = KEEP_ALL, .titles = "" },
		{ .kept = KEEP_ALL,
		  .met = { { 1, 7, 8, 3 } },
		  .nr_met = 1,
		  .titles = "CLK:100000 " },
		/* By unit mask, then name, then count as a number. */
		{ .kept = KEEP_ALL,
		  .met = { { 3, 1, 1, 1 },
			   { 1, 1, 1, 1 },
			   { 0, 1, 1, 1 },
			   { 2, 1, 1, 1 } },
		  .nr_met = 4,
		  .titles = "CLK:50000 CLK:100000 RETIRED:50000 CLK:50000 " },
		{ .kept = KEEP_ALL & ~KEEP_UNIT_MASK,
		  .met = { { 3, 1, 1, 1 }, { 1, 1, 1, 1 }, { 2, 1, 1, 1 } },
		  .nr_met = 3,
		  .titles = "CLK:50000 CLK:100000 " },
		{ .kept = KEEP_ALL,
		  .met = { { 1, 1, 1, 10 }, { 1, 1, 1, 9 }, { 1, 1, 1, -1 } },
		  .nr_met = 3,
		  .axis = CLASS_CPU,
		  .titles = "cpu:-1 cpu:9 cpu:10 " },
		{ .kept = KEEP_ALL,
		  .met = { { 1, 5, 100, 0 }, { 1, 5, 20, 0 } },
		  .nr_met = 2,
		  .axis = CLASS_TID,
		  .titles = "tid:20 tid:100 " },
		/* Programs with one thread each. */
		{ .kept = KEEP_ALL,
		  .met = { { 1, 100, 100, 0 }, { 1, 20, 20, 0 } },
		  .nr_met = 2,
		  .axis = CLASS_TGID,
		  .titles = "tgid:20 tgid:100 " },
		{ .kept = KEEP_TGID | KEEP_UNIT_MASK,
		  .met = { { 1, 100, 101, 0 }, { 1, 20, 21, 1 }, { 1, 20, 22, 2 } },
		  .nr_met = 3,
		  .axis = CLASS_TGID,
		  .titles = "tgid:20 tgid:100 " },
		/* Merged axes are ignored. */
		{ .kept = KEEP_UNIT_MASK,
		  .met = { { 1, 1, 2, 3 }, { 0, 4, 5, 6 }, { 1, 7, 8, 9 } },
		  .nr_met = 3,
		  .titles = "CLK:100000 RETIRED:50000 " },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check(&rows[i]);
}

static void rejects_two_varying_axes(void **state)
{
	static const struct row rows[] = {
		{ .kept = KEEP_ALL,
		  .met = { { 1, 200, 200, 0 }, { 1, 100, 101, 0 } },
		  .nr_met = 2,
		  .fails = true,
		  .titles = "Already displaying results for parameter tgid with "
			    "values:\n"
			    "tgid:100,tgid:200,\n"
			    "which conflicts with parameter tid.\n"
			    "Suggestion: specify tgid: or --merge tgid" },
		{ .kept = KEEP_ALL,
		  .met = { { 1, 1, 5, 0 }, { 1, 1, 4, 1 } },
		  .nr_met = 2,
		  .fails = true,
		  .titles = "Already displaying results for parameter tid with "
			    "values:\n"
			    "tid:4,tid:5,\n"
			    "which conflicts with parameter cpu.\n"
			    "Suggestion: specify tid: or --merge tid" },
		{ .kept = KEEP_ALL,
		  .met = { { 1, 9, 9, 0 }, { 1, 10, 10, 1 } },
		  .nr_met = 2,
		  .fails = true,
		  .titles = "Already displaying results for parameter tgid with "
			    "values:\n"
			    "tgid:9,tgid:10,\n"
			    "which conflicts with parameter cpu.\n"
			    "Suggestion: specify tgid: or --merge tgid" },
		{ .kept = KEEP_ALL,
		  .met = { { 1, 1, 1, 0 }, { 0, 1, 1, 1 }, { 2, 1, 1, 1 } },
		  .nr_met = 3,
		  .fails = true,
		  .titles = "Already displaying results for parameter event with "
			    "values:\n"
			    "CLK:50000,CLK:100000,RETIRED:50000,\n"
			    "which conflicts with parameter cpu.\n"
			    "Suggestion: specify event:, count: or unit-mask: (see "
			    "also --merge=unitmask)" },
		{ .kept = KEEP_ALL,
		  .met = { { 1, 7, 7, 0 },
			   { 1, 6, 6, 1 },
			   { 1, 5, 5, 0 },
			   { 1, 4, 4, 0 },
			   { 1, 3, 3, 0 },
			   { 1, 2, 2, 0 },
			   { 1, 11, 11, 0 },
			   { 1, 7, 7, 1 } },
		  .nr_met = 8,
		  .fails = true,
		  .titles = "Already displaying results for parameter tgid with "
			    "values:\n"
			    "tgid:2,tgid:3,tgid:4,tgid:5,tgid:6, and 2 more,\n"
			    "which conflicts with parameter cpu.\n"
			    "Suggestion: specify tgid: or --merge tgid" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check(&rows[i]);
}

static void long_names_do_not_truncate_the_suggestion(void **state)
{
	struct class_event longs[8];
	char name[300];
	struct classes c;
	struct err err = { 0 };

	(void)state;
	memset(name, 'e', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 0; i < 8; i++)
		longs[i] = (struct class_event){ name, UINT64_MAX - i, 0 };
	assert_int_equal(classes_init(&c, KEEP_ALL, longs, 8), 0);
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t number;

		assert_int_equal(
			classes_add(&c, &(struct class){ i, 1, 1, i }, &number), 0);
	}
	assert_int_equal(classes_arrange(&c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "(see also --merge=unitmask)"));
	classes_done(&c);
}

static void columns_have_numbers_and_header_lines(void **state)
{
	static const struct {
		unsigned int kept;
		const char *about;
	} rows[] = {
		{ KEEP_TGID, "Processes with a thread group ID of 100" },
		{ KEEP_TID, "Processes with a thread ID of 100" },
		{ KEEP_CPU, "Samples on CPU 100" },
		{ 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct classes c;
		struct buf text = { 0 };
		uint32_t late;
		uint32_t early;

		assert_int_equal(classes_init(&c, rows[i].kept, events, 4), 0);
		assert_int_equal(
			classes_add(&c, &(struct class){ 1, 100, 100, 100 }, &late), 0);
		assert_int_equal(
			classes_add(&c, &(struct class){ 1, 20, 20, 20 }, &early), 0);
		assert_int_equal(classes_arrange(&c, NULL), 0);
		assert_int_equal(classes_column(&c, early), 0);
		assert_int_equal(classes_column(&c, late), rows[i].kept ? 1 : 0);
		classes_put_about(&c, c.columns.nr - 1, &text);
		buf_put_u8(&text, 0);
		assert_string_equal((const char *)text.data, rows[i].about);
		buf_done(&text);
		classes_done(&c);
	}
}

static void views_keep_the_requested_keys(void **state)
{
	(void)state;
	assert_int_equal(classes_kept(0, false, false, 0), KEEP_UNIT_MASK);
	assert_int_equal(classes_kept(0, true, false, 0),
			 KEEP_UNIT_MASK | KEEP_TGID | KEEP_TID);
	assert_int_equal(classes_kept(0, true, false, MERGE_TID),
			 KEEP_UNIT_MASK | KEEP_TGID);
	assert_int_equal(classes_kept(0, false, true, MERGE_UNIT_MASK), KEEP_CPU);
	assert_int_equal(classes_kept(SESSION_SEPARATE_THREAD | SESSION_SYSTEM_WIDE,
				      false, false, 0),
			 KEEP_UNIT_MASK | KEEP_TGID | KEEP_TID);
	assert_int_equal(classes_kept(SESSION_SEPARATE_CPU, false, false, MERGE_LIB),
			 KEEP_UNIT_MASK | KEEP_CPU);
	assert_int_equal(classes_kept(SESSION_SEPARATE_CPU | SESSION_SEPARATE_THREAD,
				      false, false, MERGE_CPU | MERGE_TGID),
			 KEEP_UNIT_MASK);
}

static void parses_merge_lists(void **state)
{
	static const struct {
		const char *list;
		unsigned int merge;
		const char *error;
	} rows[] = {
		{ "lib", MERGE_LIB | MERGE_LIB_BY_NAME, NULL },
		{ "library,cpu", MERGE_LIB | MERGE_LIB_BY_NAME | MERGE_CPU, NULL },
		{ "tid", MERGE_TID, NULL },
		{ "tgid", MERGE_TGID | MERGE_TID, NULL },
		{ "cpu,pid,unitmask",
		  MERGE_CPU | MERGE_TGID | MERGE_TID | MERGE_UNIT_MASK, NULL },
		{ "all",
		  MERGE_LIB | MERGE_CPU | MERGE_TID | MERGE_TGID | MERGE_UNIT_MASK |
			  MERGE_CORE,
		  NULL },
		{ "core", MERGE_CORE, NULL },
		{ "cpu,cp", 0, "unknown merge option: cp" },
		{ "", 0, "unknown merge option: " },
		{ "cpu,,tid", 0, "unknown merge option: " },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct err err = { 0 };
		unsigned int merge = 0;

		assert_int_equal(classes_parse_merge(rows[i].list, &merge, &err),
				 rows[i].error ? -EINVAL : 0);
		if (rows[i].error)
			assert_string_equal(err.text, rows[i].error);
		else
			assert_int_equal(merge, rows[i].merge);
	}
}

/* A profile of two threads on two CPUs, grouped by `keys`. */
static void make_profile(struct profile *p, struct key_list *keys, struct dict *d,
			 const char *by)
{
	static const struct session_info info = { .hostname = "",
						  .vmlinux = "",
						  .cpu_desc = "" };
	static const uint32_t number[] = { 0, 1, 1 };
	static const uint32_t zero[] = { 0, 0, 0 };
	static const uint32_t stack[] = { DICT_NONE, DICT_NONE, DICT_NONE };
	static const uint64_t period[] = { 1, 1, 1 };
	const struct profile_options options = { .keys = keys };
	const struct profile_source source = { .dict = d,
					       .info = &info,
					       .session = "s" };
	const struct sample_batch batch = { .nr = 3,
					    .period = period,
					    .thread = number,
					    .event = zero,
					    .stack = stack,
					    .cpu = number };
	struct thread t = { .pid = 10, .tid = 12, .app = DICT_NONE };
	struct event_desc e = { .name = dict_string(d, "CLK"), .count = 5 };

	assert_int_equal(dict_event(d, &e), 0);
	assert_int_equal(dict_thread(d, &t), 0);
	t.tid = 9;
	assert_int_equal(dict_thread(d, &t), 1);
	assert_int_equal(keys_parse(keys, by, NULL), 0);
	assert_int_equal(profile_init(p, &options), 0);
	assert_int_equal(profile_begin(p, &source), 0);
	assert_int_equal(profile_add(p, &batch, NULL), 0);
	assert_int_equal(profile_end(p, NULL), 0);
	profile_finish(p);
}

static void rows_of_a_profile_get_columns(void **state)
{
	struct dict d;
	struct key_list keys = { 0 };
	struct profile p;
	struct classes c;
	struct err err = { 0 };
	uint32_t *column_of;

	(void)state;
	assert_int_equal(dict_init(&d), 0);
	make_profile(&p, &keys, &d, "image,tgid,tid,cpu");
	assert_int_equal(
		classes_of_profile(&c, KEEP_TGID | KEEP_TID, &p, &column_of, &err), 0);
	assert_int_equal(c.axis, CLASS_TID);
	assert_int_equal(c.columns.nr, 2);
	assert_int_equal(p.rows.nr, 2);
	for (size_t i = 0; i < p.rows.nr; i++)
		assert_int_equal(column_of[i], p.rows.at[i].samples == 2 ? 0 : 1);
	free(column_of);
	classes_done(&c);
	assert_int_equal(
		classes_of_profile(&c, KEEP_TID | KEEP_CPU, &p, &column_of, &err),
		-EINVAL);
	classes_done(&c);
	assert_int_equal(classes_of_profile(&c, 0, &p, &column_of, &err), 0);
	assert_int_equal(c.columns.nr, 1);
	free(column_of);
	classes_done(&c);
	profile_done(&p);
	keys_done(&keys);
	dict_done(&d);
}

static void handles_allocation_failure(void **state)
{
	(void)state;
	for (unsigned long n = 1;; n++) {
		struct classes c;
		uint32_t number;
		int r;

		alloc_fail_at(n);
		r = classes_init(&c, KEEP_ALL, events, 4);
		for (int i = 0; !r && i < 20; i++)
			r = classes_add(&c, &(struct class){ 1, i, 0, i }, &number);
		if (!r)
			r = classes_arrange(&c, NULL);
		if (!alloc_fail_off()) {
			assert_int_equal(r, -EINVAL);
			classes_done(&c);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		classes_done(&c);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(one_varying_axis_makes_the_columns),
		cmocka_unit_test(rejects_two_varying_axes),
		cmocka_unit_test(long_names_do_not_truncate_the_suggestion),
		cmocka_unit_test(columns_have_numbers_and_header_lines),
		cmocka_unit_test(views_keep_the_requested_keys),
		cmocka_unit_test(parses_merge_lists),
		cmocka_unit_test(rows_of_a_profile_get_columns),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}
