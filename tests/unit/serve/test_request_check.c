/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/request_check.h"

#include <string.h>

#include "base/array.h"
#include "unit.h"

enum {
	PORT = 4021
};

static const char token[SERVE_TOKEN_DIGITS + 1] = "0123456789abcdef0123456789abcdef";

static void strips_the_token_only_if_all_of_it_is_right(void **state)
{
	static const char *const wrong[] = {
		"",
		"/",
		"//",
		"/0123456789abcdef0123456789abcde/",
		"/0123456789abcdef0123456789abcdeF/",
		"/0123456789abcdef0123456789abcdef",
		"/0123456789abcdef0123456789abcdef0/",
		"0123456789abcdef0123456789abcdef//",
		"/1123456789abcdef0123456789abcdef/api/1/info",
		"/x/0123456789abcdef0123456789abcdef/",
	};

	(void)state;
	assert_string_equal(
		request_token_strip("/0123456789abcdef0123456789abcdef/", token), "");
	assert_string_equal(
		request_token_strip("/0123456789abcdef0123456789abcdef/api/1/info",
				    token),
		"api/1/info");
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		assert_null(request_token_strip(wrong[i], token));
}

static void makes_a_different_token_each_time(void **state)
{
	char a[SERVE_TOKEN_DIGITS + 1], b[SERVE_TOKEN_DIGITS + 1];

	(void)state;
	assert_int_equal(request_token_make(a), 0);
	assert_int_equal(request_token_make(b), 0);
	assert_int_equal(strspn(a, "0123456789abcdef"), SERVE_TOKEN_DIGITS);
	assert_int_equal(strlen(a), SERVE_TOKEN_DIGITS);
	assert_string_not_equal(a, b);
}

static void permits_requests_of_the_page(void **state)
{
	static const struct request_heads own[] = {
		{ .method = "GET", .host = "127.0.0.1:4021" },
		{ .method = "GET", .host = "LOCALHOST:4021" },
		{ .method = "GET", .host = "[::1]:4021", .fetch_site = "none" },
		{ .method = "GET",
		  .host = "localhost:4021",
		  .origin = "http://localhost:4021",
		  .fetch_site = "same-origin" },
		{ .method = "POST",
		  .host = "127.0.0.1:4021",
		  .origin = "http://127.0.0.1:4021",
		  .content_type = "application/json; charset=utf-8" },
	};
	const struct request_heads link = { .method = "GET",
					    .host = "127.0.0.1:4021",
					    .fetch_site = "cross-site" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(own); i++)
		assert_null(request_refusal(&own[i], PORT, false));
	assert_null(request_refusal(&link, PORT, true));
	assert_non_null(request_refusal(&link, PORT, false));
}

static void refuses_requests_of_other_sites(void **state)
{
	static const char own[] = "127.0.0.1:4021";
	static const char json[] = "application/json";
	static const struct request_heads foreign[] = {
		{ .method = "GET" },
		{ .method = "GET", .host = "" },
		{ .method = "GET", .host = "127.0.0.1" },
		{ .method = "GET", .host = "127.0.0.1:4022" },
		{ .method = "GET", .host = "evil.example:4021" },
		{ .method = "GET", .host = "127.0.0.1:4021.evil.example" },
		{ .method = "GET", .host = "localhost:04021" },
		{ .method = "GET", .host = own, .origin = "null" },
		{ .method = "GET", .host = own, .origin = "http://evil.example" },
		{ .method = "GET", .host = own, .origin = "https://127.0.0.1:4021" },
		{ .method = "GET", .host = own, .origin = "http://localhost:4021" },
		{ .method = "GET", .host = own, .fetch_site = "same-site" },
		{ .method = "POST", .host = own, .content_type = json },
		{ .method = "POST", .host = own, .origin = "http://127.0.0.1:4021" },
		{ .method = "POST",
		  .host = own,
		  .origin = "http://127.0.0.1:4021",
		  .content_type = "text/plain" },
		{ .method = "POST",
		  .host = own,
		  .origin = "http://127.0.0.1:4021",
		  .content_type = "application/jsonx" },
		{ .method = "POST",
		  .host = own,
		  .origin = "http://127.0.0.1:4022",
		  .content_type = json },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(foreign); i++)
		assert_non_null(request_refusal(&foreign[i], PORT, false));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(strips_the_token_only_if_all_of_it_is_right),
		cmocka_unit_test(makes_a_different_token_each_time),
		cmocka_unit_test(permits_requests_of_the_page),
		cmocka_unit_test(refuses_requests_of_other_sites),
	};

	return UNIT_RUN(cases);
}
