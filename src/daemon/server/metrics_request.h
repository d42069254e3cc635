/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_request.h - what a peer asks of the metrics' port: one request of HTTP/1.
 * Layer: daemon.  Source: RFC 9112, sections 2.2, 3 and 5. */
#pragma once
#include <stddef.h>

enum {
	METRICS_REQUEST_MAX = 4096 /* bytes, up to the empty line */
};

enum metrics_request {
	METRICS_MORE, /* it is not whole yet */
	METRICS_GET,
	METRICS_HEAD,
	METRICS_OTHER_PATH,
	METRICS_OTHER_METHOD,
	METRICS_TOO_LONG,
	METRICS_BAD,
	METRICS_REQUEST_COUNT
};

/* Of what came in so far.  Headers are not looked at: none changes the answer, which is always the
 * same text and the connection's last. */
enum metrics_request metrics_request_parse(const char *bytes, size_t len);
