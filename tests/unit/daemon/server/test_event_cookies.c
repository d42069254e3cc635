/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/event_cookies.h"

#include <stdio.h>

#include "unit.h"

static void a_binary_has_one_number(void **state)
{
	struct event_cookies c = { 0 };
	struct image plain = { .dev = 1, .inode = 2 };
	struct image moved = { .dev = 1, .inode = 3 };
	struct image known = { .dev = 1, .inode = 2, .build_id = { 2, { 0xab, 1 } } };
	struct image again = { .dev = 9, .inode = 9, .build_id = { 2, { 0xab, 1 } } };

	(void)state;
	assert_int_equal(event_cookie(&c, "/bin/a", &plain), 1);
	assert_int_equal(event_cookie(&c, "/bin/a", &moved), 2);
	assert_int_equal(event_cookie(&c, "/bin/a", &known), 3);
	assert_int_equal(event_cookie(&c, "/bin/b", &known), 4);
	/* A build-id alone identifies a file. */
	assert_int_equal(event_cookie(&c, "/bin/b", &again), 4);
	assert_int_equal(event_cookie(&c, "/bin/a", &plain), 1);
	assert_string_equal(event_cookie_find(&c, 2)->path, "/bin/a");
	assert_int_equal(event_cookie_find(&c, 2)->build_id.len, 0);
	assert_string_equal(event_cookie_find(&c, 4)->path, "/bin/b");
	assert_int_equal(event_cookie_find(&c, 4)->build_id.bytes[0], 0xab);
	assert_null(event_cookie_find(&c, 0));
	assert_null(event_cookie_find(&c, 5));
	assert_null(event_cookie_find(&c, UINT64_MAX));
	/* Numbers stay valid while there are so few of them. */
	event_cookies_tidy(&c);
	assert_int_equal(event_cookie(&c, "/bin/b", &known), 4);
	event_cookies_done(&c);
}

static void their_number_is_bounded(void **state)
{
	struct event_cookies c = { 0 };
	struct image image = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= EVENT_COOKIES_MAX; i++) {
		image.inode = i;
		assert_int_equal(event_cookie(&c, "/tmp/x", &image), i);
	}
	image.inode++;
	assert_int_equal(event_cookie(&c, "/tmp/x", &image), EVENT_INVALID_COOKIE);
	image.inode = 7;
	assert_int_equal(event_cookie(&c, "/tmp/x", &image), 7);
	/* Numbers are never reused. */
	event_cookies_tidy(&c);
	assert_null(event_cookie_find(&c, 7));
	assert_int_equal(event_cookie(&c, "/tmp/x", &image), EVENT_COOKIES_MAX + 1);
	assert_null(event_cookie_find(&c, EVENT_COOKIES_MAX));
	assert_non_null(event_cookie_find(&c, EVENT_COOKIES_MAX + 1));
	event_cookies_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_binary_has_one_number),
		cmocka_unit_test(their_number_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
