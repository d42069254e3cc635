/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_metrics_request.c - any bytes as a client's request on the metrics port. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/server/metrics_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parses a copy of the request in a separate allocation, so that a read beyond its end is
 * detected. */
static enum metrics_request parse(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1);
	enum metrics_request what;

	assert(copy);
	memcpy(copy, data, size);
	what = metrics_request_parse(copy, size);
	free(copy);
	return what;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum metrics_request what;

	if (size > METRICS_REQUEST_MAX)
		size = METRICS_REQUEST_MAX;
	what = parse(data, size);
	assert(what < METRICS_REQUEST_COUNT);
	/* An incomplete request is not recognized earlier. */
	if (what == METRICS_MORE || what == METRICS_TOO_LONG)
		for (size_t len = 0; len < size; len++)
			assert(parse(data, len) == METRICS_MORE);
	return 0;
}
