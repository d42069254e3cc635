/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints lines of trees, from paths with given samples. */
#include "present/text/tree_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/call_sums.h"
#include "aggregate/profile/groups.h"
#include "aggregate/profile/profile.h"
#include "alloc_fail.h"
#include "unit.h"

enum {
	NR_FUNCTIONS = 6, /* 'a' to 'f' */
	NR_EVENTS = 2,
	TEXT_MAX = 4096
};

struct world {
	struct key_list keys;
	struct profile p;
	struct call_sums sums;
	char text[TEXT_MAX];
	size_t len;
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct profile_options options = { .calls = true };

	if (!w || keys_parse(&w->keys, "comm", NULL))
		return -1;
	options.keys = &w->keys;
	assert_int_equal(profile_init(&w->p, &options), 0);
	for (int i = 0; i < NR_EVENTS; i++)
		assert_true(
			vec_push(&w->p.events, (struct profile_event){ .count = 1 }));
	assert_true(vec_push(&w->p.images, (struct profile_image){ 0 }));
	for (int i = 0; i < NR_FUNCTIONS; i++) {
		const char name[] = { (char)('a' + i), 0 };
		struct profile_function f = { .kind = FUNCTION_NAMED,
					      .shown = DICT_NONE };

		f.raw = strtab_add(&w->p.strings, name);
		assert_true(vec_push(&w->p.functions, f));
	}
	*state = w;
	return 0;
}

static int free_world(void **state)
{
	struct world *w = *state;

	call_sums_done(&w->sums);
	profile_done(&w->p);
	keys_done(&w->keys);
	free(w);
	return 0;
}

/* "abc": a called b, which called c; a leading '-': truncated. */
static void add(struct world *w, const char *path, uint32_t event, uint64_t samples)
{
	uint32_t node = *path == '-' ? CALL_TRUNCATED : CALL_ROOT;
	uint64_t who = 0, where, row;

	for (path += *path == '-'; *path; path++)
		node = call_tree_node(&w->p.calls, node, (uint32_t)(*path - 'a'));
	where = node;
	row = groups_row_of(&w->p, groups_tuple(&w->p, GROUP_WHO, &who),
			    groups_tuple(&w->p, GROUP_WHERE, &where), event);
	assert_int_not_equal(row, DICT_NONE);
	w->p.rows.at[row].samples += samples;
}

/* Prints a line as "depth:function samples/self ", with ~ before chained functions. */
static int put(void *ctx, const struct tree_line *line)
{
	struct world *w = ctx;

	w->len += (size_t)snprintf(
		w->text + w->len, TEXT_MAX - w->len, "%s%u:%c %llu/%llu%s ",
		line->chained ? "~" : "", line->level,
		line->function == DICT_NONE ? '-' : 'a' + (char)line->function,
		(unsigned long long)line->samples[0], (unsigned long long)line->self[0],
		line->is_last ? "" : "+");
	assert_true(w->len < TEXT_MAX);
	return 0;
}

static const char *lines(struct world *w, enum tree_part part, const char *focus,
			 double threshold)
{
	uint8_t in_focus[NR_FUNCTIONS] = { 0 };
	struct tree_how how = { .sums = &w->sums,
				.part = part,
				.threshold = threshold,
				.chains = true,
				.put = put,
				.ctx = w };

	call_sums_done(&w->sums);
	assert_int_equal(call_sums_make(&w->sums, &w->p, NULL, NR_EVENTS), 0);
	how.total = call_sums_at(&w->sums, CALL_ROOT, 0)->samples +
		    call_sums_at(&w->sums, CALL_TRUNCATED, 0)->samples;
	if (focus) {
		in_focus[*focus - 'a'] = 1;
		how.focus = in_focus;
	}
	w->len = 0;
	w->text[0] = '\0';
	assert_int_equal(tree_lines_put(&w->p, &how), 0);
	return w->text;
}

static void prints_callers_and_callees_as_trees(void **state)
{
	struct world *w = *state;

	add(w, "ab", 0, 5);
	add(w, "abc", 0, 3);
	add(w, "ad", 0, 8);
	add(w, "-bc", 0, 4);
	/* Equal ones are sorted by name; truncated ones come last. */
	assert_string_equal(lines(w, TREE_CALLEES, NULL, 0),
			    "0:a 16/0+ 1:b 8/5+ 2:c 3/3 1:d 8/8 0:- 4/0 ~0:b 4/0 "
			    "~0:c 4/4 ");
	assert_string_equal(lines(w, TREE_CALLERS, NULL, 0),
			    "0:d 8/0+ ~0:a 8/0 0:c 7/0+ ~0:b 7/0 1:a 3/0+ 1:- 4/0 "
			    "0:b 5/0 ~0:a 5/0 ");
}

static void joins_chains_that_are_equal_in_both_columns(void **state)
{
	struct world *w = *state;

	add(w, "abc", 0, 3);
	assert_string_equal(lines(w, TREE_CALLEES, NULL, 0),
			    "0:a 3/0 ~0:b 3/0 ~0:c 3/3 ");
	add(w, "ab", 1, 1);
	assert_string_equal(lines(w, TREE_CALLEES, NULL, 0),
			    "0:a 3/0 ~0:b 3/0 1:c 3/3 ");
}

static void omits_nodes_below_the_threshold(void **state)
{
	struct world *w = *state;

	add(w, "ab", 0, 90);
	add(w, "ac", 0, 6);
	add(w, "adefb", 0, 4);
	/* a has more samples than b, so they do not form a chain. */
	assert_string_equal(lines(w, TREE_CALLEES, NULL, 10), "0:a 100/0 1:b 90/90 ");
	assert_string_equal(lines(w, TREE_CALLERS, NULL, 5),
			    "0:b 94/0+ 1:a 90/0 0:c 6/0 ~0:a 6/0 ");
}

static void focuses_on_the_outermost_frame(void **state)
{
	struct world *w = *state;

	add(w, "abab", 0, 2);
	add(w, "cb", 0, 3);
	add(w, "c", 0, 5);
	assert_string_equal(lines(w, TREE_CALLERS, "b", 0),
			    "0:b 5/0 1:c 3/0+ 1:a 2/0 ");
	assert_string_equal(lines(w, TREE_CALLEES, "b", 0),
			    "0:b 5/3 1:a 2/0 ~1:b 2/2 ");
	assert_string_equal(lines(w, TREE_CALLEES, "f", 0), "");
}

static void handles_allocation_failure(void **state)
{
	struct world *w = *state;
	struct tree_how how = { .sums = &w->sums, .total = 1, .put = put, .ctx = w };
	int r = -1;

	add(w, "abab", 0, 2);
	add(w, "-cb", 0, 3);
	assert_int_equal(call_sums_make(&w->sums, &w->p, NULL, NR_EVENTS), 0);
	for (unsigned long n = 1; r; n++) {
		w->len = 0;
		alloc_fail_at(n);
		r = tree_lines_put(&w->p, &how);
		(void)alloc_fail_off();
		assert_true(!r || r == -ENOMEM);
		assert_true(n < 1000);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(prints_callers_and_callees_as_trees,
						make_world, free_world),
		cmocka_unit_test_setup_teardown(
			joins_chains_that_are_equal_in_both_columns, make_world,
			free_world),
		cmocka_unit_test_setup_teardown(omits_nodes_below_the_threshold,
						make_world, free_world),
		cmocka_unit_test_setup_teardown(focuses_on_the_outermost_frame,
						make_world, free_world),
		cmocka_unit_test_setup_teardown(handles_allocation_failure, make_world,
						free_world),
	};

	return UNIT_RUN(cases);
}
