/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as output of opreport. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "format/foreign/opreport_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opreport_reader reader = { 0 };
	struct opreport_line line;
	struct err err;

	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) : size;

		opreport_parse(&reader, (const char *)data, len, &line, &err);
		data += len;
		size -= len;
		if (size) {
			data++;
			size--;
		}
	}
	return 0;
}
