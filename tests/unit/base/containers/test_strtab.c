/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/strtab.h"

#include <errno.h>
#include <stdio.h>

#include "alloc_fail.h"
#include "unit.h"

static void number_0_is_empty(void **state)
{
	struct strtab t;

	(void)state;
	assert_int_equal(strtab_init(&t), 0);
	assert_int_equal(strtab_add(&t, ""), 0);
	assert_string_equal(strtab_get(&t, 0), "");
	assert_string_equal(strtab_get(&t, 1), "");
	assert_string_equal(strtab_get(&t, STRTAB_FAILED), "");
	strtab_done(&t);
}

static void equal_strings_have_one_number(void **state)
{
	struct strtab t;
	char text[16];

	(void)state;
	assert_int_equal(strtab_init(&t), 0);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 3000; i++) {
			snprintf(text, sizeof(text), "s%u", i);
			assert_int_equal(strtab_add(&t, text), i + 1);
		}
	}
	assert_string_equal(strtab_get(&t, 1234), "s1233");
	assert_int_equal(strtab_find(&t, "s7"), 8);
	assert_true(strtab_find(&t, "s3000") == STRTAB_FAILED);
	strtab_done(&t);
}

static void a_length_truncates(void **state)
{
	struct strtab t;
	uint32_t abc, ab;

	(void)state;
	assert_int_equal(strtab_init(&t), 0);
	abc = strtab_add(&t, "abc");
	ab = strtab_add_len(&t, "abc", 2);
	assert_int_not_equal(abc, ab);
	assert_string_equal(strtab_get(&t, ab), "ab");
	assert_int_equal(strtab_add(&t, "ab"), ab);
	assert_int_equal(strtab_add_len(&t, "abc", 0), 0);
	strtab_done(&t);
}

/* Bytes of a file: a NUL ends the string, and the bytes after it are ignored. */
static void a_nul_byte_truncates(void **state)
{
	struct strtab t;
	uint32_t number;

	(void)state;
	assert_int_equal(strtab_init(&t), 0);
	number = strtab_add_len(&t, "ab\0cdefghijklmnopqrstuvw", 24);
	assert_string_equal(strtab_get(&t, number), "ab");
	assert_int_equal(strtab_add_len(&t, "ab\0cdefghijklmnopqrstuvw", 24), number);
	assert_int_equal(strtab_add(&t, "ab"), number);
	strtab_done(&t);
}

static void handles_every_allocation_failure(void **state)
{
	(void)state;
	for (unsigned long n = 1;; n++) {
		struct strtab t;
		uint32_t number = STRTAB_FAILED;
		int r;

		alloc_fail_at(n);
		r = strtab_init(&t);
		if (!r)
			number = strtab_add(&t, "name");
		if (!alloc_fail_off()) {
			assert_int_equal(number, 1);
			strtab_done(&t);
			assert_true(n > 3);
			return;
		}
		assert_true(r == -ENOMEM || number == STRTAB_FAILED);
		/* After memory is available again, the table works as if nothing had failed. */
		if (!r) {
			assert_true(strtab_find(&t, "name") == STRTAB_FAILED);
			assert_int_equal(strtab_add(&t, "name"), 1);
		}
		strtab_done(&t);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(number_0_is_empty),
		cmocka_unit_test(equal_strings_have_one_number),
		cmocka_unit_test(a_length_truncates),
		cmocka_unit_test(a_nul_byte_truncates),
		cmocka_unit_test(handles_every_allocation_failure),
	};

	return UNIT_RUN(cases);
}
