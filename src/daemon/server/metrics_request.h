/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_request.h - parses a request to the metrics port: one HTTP/1 request.
 * Layer: daemon.  Source: RFC 9112, sections 2.2, 3 and 5. */
#pragma once
#include <stddef.h>

enum {
	METRICS_REQUEST_MAX = 4096 /* bytes, up to the empty line */
};

enum metrics_request {
	METRICS_MORE, /* incomplete */
	METRICS_GET,
	METRICS_HEAD,
	METRICS_OTHER_PATH,
	METRICS_OTHER_METHOD,
	METRICS_TOO_LONG,
	METRICS_BAD,
	METRICS_REQUEST_COUNT
};

/* Parses the bytes received so far, and returns whether they are a complete request and which
 * answer it gets. Ignores headers: none of them changes the answer, which is always the same text,
 * after which the connection is closed. */
enum metrics_request metrics_request_parse(const char *bytes, size_t len);
