/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/events/tracepoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/files/io.h"
#include "base/parse.h"

enum {
	FORMAT_MAX = 64 * 1024,
	PATH_BYTES = 256
};

/* Parses the number that follows a word. Any character can follow the number. */
static int number_after(const char *text, const char *word, uint64_t max,
			uint64_t *ret_number)
{
	const char *at = strstr(text, word);
	char digits[24];
	size_t len;

	if (!at)
		return -EBADMSG;
	at += strlen(word);
	len = strspn(at, "0123456789");
	if (!len || len >= sizeof(digits))
		return -EBADMSG;
	memcpy(digits, at, len);
	digits[len] = '\0';
	return parse_u64_max(digits, max, ret_number) ? 0 : -EBADMSG;
}

int tracepoint_parse(const char *format, struct tracepoint *ret_tracepoint)
{
	const char *field = strstr(format, "__data_loc char[] name;");
	struct tracepoint t;
	uint64_t offset;

	if (number_after(format, "\nID: ", UINT32_MAX, &t.id) || !field ||
	    number_after(field, "offset:", UINT16_MAX, &offset))
		return -EBADMSG;
	t.name_at = (uint32_t)offset;
	*ret_tracepoint = t;
	return 0;
}

int tracepoint_read(const char *which, struct tracepoint *ret_tracepoint)
{
	static const char *const mounts[] = { "/sys/kernel/tracing",
					      "/sys/kernel/debug/tracing" };
	struct buf text = { 0 };
	int r = -ENOENT;

	for (size_t i = 0; r && i < COUNT_OF(mounts); i++) {
		char path[PATH_BYTES];

		snprintf(path, sizeof(path), "%s/events/%s/format", mounts[i], which);
		buf_clear(&text);
		r = io_read_file(path, &text, FORMAT_MAX);
	}
	buf_put_u8(&text, 0);
	if (!r)
		r = text.failed
			    ? -ENOMEM
			    : tracepoint_parse((const char *)text.data, ret_tracepoint);
	buf_done(&text);
	return r;
}

const char *tracepoint_name(const struct tracepoint *t, const void *raw, size_t len)
{
	const char *bytes = raw;
	uint16_t loc[2]; /* offset and length */
	uint32_t word;

	if (len < sizeof(word) || t->name_at > len - sizeof(word))
		return NULL;
	/* kernel/trace: __data_loc is (length << 16 | offset) in native byte order */
	memcpy(&word, bytes + t->name_at, sizeof(word));
	loc[0] = (uint16_t)word;
	loc[1] = (uint16_t)(word >> 16);
	if (!loc[1] || loc[0] > len || loc[1] > len - loc[0] ||
	    bytes[loc[0] + loc[1] - 1])
		return NULL;
	return bytes + loc[0];
}
