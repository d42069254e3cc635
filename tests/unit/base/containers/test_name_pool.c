/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/name_pool.h"

#include <errno.h>
#include <stdio.h>

#include "alloc_fail.h"
#include "unit.h"

static void a_name_has_one_number(void **state)
{
	struct name_pool p;
	uint32_t a, b;

	(void)state;
	assert_int_equal(name_pool_init(&p), 0);
	assert_int_equal(name_pool_get(&p, ""), 0);
	a = name_pool_get(&p, "a");
	b = name_pool_get(&p, "b");
	assert_int_not_equal(a, b);
	assert_int_equal(name_pool_get(&p, "a"), a);
	assert_string_equal(name_pool_text(&p, a), "a");
	assert_string_equal(name_pool_text(&p, b), "b");
	assert_string_equal(name_pool_text(&p, NAME_POOL_NONE), "");
	assert_int_equal(name_pool_count(&p), 3);
	assert_int_equal(p.names.at[a].number, NAME_POOL_NONE);
	name_pool_done(&p);
}

static void the_last_reference_frees_a_name(void **state)
{
	struct name_pool p;
	uint32_t a;

	(void)state;
	assert_int_equal(name_pool_init(&p), 0);
	a = name_pool_get(&p, "a");
	p.names.at[a].number = 7;
	assert_int_equal(name_pool_share(&p, a), a);
	name_pool_put(&p, a);
	assert_string_equal(name_pool_text(&p, a), "a");
	name_pool_put(&p, a);
	assert_int_equal(name_pool_count(&p), 1);
	/* Another name has the number of the removed one now, but none of its data. */
	assert_int_equal(name_pool_get(&p, "c"), a);
	assert_string_equal(name_pool_text(&p, a), "c");
	assert_int_equal(p.names.at[a].number, NAME_POOL_NONE);
	name_pool_put(&p, NAME_POOL_NONE);
	assert_int_equal(name_pool_share(&p, NAME_POOL_NONE), NAME_POOL_NONE);
	name_pool_done(&p);
}

static void new_names_reuse_memory(void **state)
{
	struct name_pool p;
	char text[16];

	(void)state;
	assert_int_equal(name_pool_init(&p), 0);
	for (int i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "n%d", i);
		name_pool_put(&p, name_pool_get(&p, text));
	}
	assert_int_equal(name_pool_count(&p), 1);
	assert_int_equal(p.names.nr, 2);
	assert_true(p.by_hash.mask < 256);
	name_pool_done(&p);
}

static void allocation_failure_leaves_the_pool_intact(void **state)
{
	struct name_pool p;
	uint32_t name = NAME_POOL_NONE;

	(void)state;
	alloc_fail_at(1);
	assert_int_equal(name_pool_init(&p), -ENOMEM);
	assert_true(alloc_fail_off());
	assert_int_equal(name_pool_init(&p), 0);
	alloc_fail_at(1);
	assert_int_equal(name_pool_get(&p, "a"), NAME_POOL_NONE);
	assert_true(alloc_fail_off());
	name = name_pool_get(&p, "a");
	assert_string_equal(name_pool_text(&p, name), "a");
	assert_int_equal(name_pool_count(&p), 2);
	name_pool_done(&p);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(a_name_has_one_number),
		cmocka_unit_test(the_last_reference_frees_a_name),
		cmocka_unit_test(new_names_reuse_memory),
		cmocka_unit_test(allocation_failure_leaves_the_pool_intact),
	};

	return UNIT_RUN(cases);
}
