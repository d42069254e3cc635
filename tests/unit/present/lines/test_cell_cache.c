/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the texts of values: kept as they were stored, and not for invalid values. */
#include "present/lines/cell_cache.h"

#include <stdlib.h>
#include <string.h>

#include "alloc_fail.h"
#include "unit.h"

static void assert_put(const struct cell_cache *c, uint64_t value, const char *text)
{
	struct buf out = { 0 };

	buf_put(&out, "<", 1);
	assert_int_equal(cell_cache_put(c, value, &out), text != NULL);
	assert_int_equal(out.len, 1 + (text ? strlen(text) : 0));
	if (text)
		assert_memory_equal(out.data + 1, text, strlen(text));
	buf_done(&out);
}

static void returns_stored_texts(void **state)
{
	struct cell_cache c;

	(void)state;
	cell_cache_init(&c, 3);
	assert_put(&c, 0, NULL);
	cell_cache_keep(&c, 0, "main", 4);
	cell_cache_keep(&c, 2, "", 0);
	cell_cache_keep(&c, 3, "beyond", 6);
	assert_put(&c, 0, "main");
	assert_put(&c, 1, NULL);
	assert_put(&c, 2, "");
	assert_put(&c, 3, NULL);
	assert_put(&c, UINT64_MAX, NULL);
	cell_cache_done(&c);
}

/* The texts of a key whose values are not numbered. */
static void without_values_there_are_no_texts(void **state)
{
	struct cell_cache c;

	(void)state;
	cell_cache_init(&c, 0);
	cell_cache_keep(&c, 0, "main", 4);
	assert_put(&c, 0, NULL);
	cell_cache_done(&c);
}

static void stops_growing(void **state)
{
	enum {
		LEN = 1 << 20
	};
	char *text = malloc(LEN);
	struct cell_cache c;
	size_t nr_kept = 0;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', LEN);
	cell_cache_init(&c, 100);
	for (uint64_t value = 0; value < 100; value++)
		cell_cache_keep(&c, value, text, LEN);
	for (uint64_t value = 0; value < 100; value++) {
		struct buf out = { 0 };

		nr_kept += cell_cache_put(&c, value, &out);
		buf_done(&out);
	}
	assert_in_range(nr_kept, 1, 10);
	cell_cache_done(&c);
	free(text);
}

static void stores_nothing_after_a_failed_allocation(void **state)
{
	struct cell_cache c;

	(void)state;
	alloc_fail_at(1);
	cell_cache_init(&c, 3);
	alloc_fail_off();
	cell_cache_keep(&c, 0, "main", 4);
	assert_put(&c, 0, NULL);
	cell_cache_done(&c);
	cell_cache_init(&c, 3);
	alloc_fail_at(1);
	cell_cache_keep(&c, 0, "main", 4);
	alloc_fail_off();
	assert_put(&c, 0, NULL);
	cell_cache_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returns_stored_texts),
		cmocka_unit_test(without_values_there_are_no_texts),
		cmocka_unit_test(stops_growing),
		cmocka_unit_test(stores_nothing_after_a_failed_allocation),
	};

	return UNIT_RUN(tests);
}
