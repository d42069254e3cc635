/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_control_request.c - any bytes as a client's request on the daemon's socket. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "daemon/server/control_line.h"
#include "daemon/server/control_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(char *line)
{
	struct control_request request;
	struct err err = { 0 };

	if (control_request_parse(line, &request, &err)) {
		assert(err.code && *err.text);
		return;
	}
	assert(request.nr_args <= CONTROL_ARGS_MAX);
	(void)control_request_is_for_all(&request);
	for (size_t i = 0; i < request.nr_args; i++) {
		struct buf word = { 0 };

		/* A parsed request can be formatted again. */
		control_put_word(&word, request.args[i]);
		buf_put_u8(&word, 0);
		assert(!control_unescape((char *)word.data));
		assert(!strcmp((char *)word.data, request.args[i]));
		buf_done(&word);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control_lines lines = { 0 };
	size_t half = size / 2;
	char *line;

	if (control_lines_add(&lines, data, half))
		return 0;
	while (control_lines_next(&lines, &line) == 1)
		take(line);
	if (!control_lines_add(&lines, data + half, size - half))
		while (control_lines_next(&lines, &line) == 1)
			take(line);
	control_lines_done(&lines);
	return 0;
}
