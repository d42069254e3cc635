/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "daemon/server/metrics_request.h"

#include <string.h>

#include "unit.h"

static void parses_requests(void **state)
{
	static const struct {
		const char *bytes;
		enum metrics_request what;
	} rows[] = {
		{ "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", METRICS_GET },
		{ "GET /metrics?a=b HTTP/1.0\n\n", METRICS_GET },
		{ "HEAD /metrics HTTP/1.1\r\n\r\n", METRICS_HEAD },
		{ "GET / HTTP/1.1\r\n\r\n", METRICS_OTHER_PATH },
		{ "GET /metrics/ HTTP/1.1\r\n\r\n", METRICS_OTHER_PATH },
		{ "GET ?/metrics HTTP/1.1\r\n\r\n", METRICS_OTHER_PATH },
		{ "POST /metrics HTTP/1.1\r\n\r\n", METRICS_OTHER_METHOD },
		{ "get /metrics HTTP/1.1\r\n\r\n", METRICS_OTHER_METHOD },
		{ "GET /metrics\r\n\r\n", METRICS_BAD },
		{ "GET  /metrics HTTP/1.1\r\n\r\n", METRICS_BAD },
		{ "GET /metrics HTTP/1.1 \r\n\r\n", METRICS_BAD },
		{ "GET /metrics HTTP/2.0\r\n\r\n", METRICS_BAD },
		{ "\r\n\r\n", METRICS_BAD },
		{ "", METRICS_MORE },
		{ "GET /metrics HTTP/1.1\r\nHost: x\r\n", METRICS_MORE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		enum metrics_request what =
			metrics_request_parse(rows[i].bytes, strlen(rows[i].bytes));

		if (what != rows[i].what)
			fail_msg("\"%s\": %d", rows[i].bytes, (int)what);
	}
}

static void waits_for_the_rest_of_a_prefix(void **state)
{
	static const char bytes[] = "GET /metrics HTTP/1.1\r\nAccept: */*\r\n\r\n";

	(void)state;
	for (size_t len = 0; len < sizeof(bytes) - 2; len++)
		assert_int_equal(metrics_request_parse(bytes, len), METRICS_MORE);
	assert_int_equal(metrics_request_parse(bytes, sizeof(bytes) - 1), METRICS_GET);
}

static void rejects_endless_requests(void **state)
{
	static char bytes[METRICS_REQUEST_MAX];

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(metrics_request_parse(bytes, sizeof(bytes) - 1), METRICS_MORE);
	assert_int_equal(metrics_request_parse(bytes, sizeof(bytes)), METRICS_TOO_LONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_requests),
		cmocka_unit_test(waits_for_the_rest_of_a_prefix),
		cmocka_unit_test(rejects_endless_requests),
	};

	return UNIT_RUN(tests);
}
