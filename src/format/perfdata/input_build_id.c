/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_build_id.c - reads build-ids from the header and the records of a perf.data file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfdata/input_priv.h"

/* Layout of struct perf_record_header_build_id: header, pid, id[20], size, three bytes of padding,
 * name. */
enum {
	MISC_SIZE = 1 << 15, /* PERF_RECORD_MISC_BUILD_ID_SIZE */
	ID_FIELD_BYTES = 24,
	HEADER_BYTES = sizeof(struct perf_event_header)
};

/* Returns the length of a build-id. Without MISC_SIZE, it is unknown: a shorter id is padded with
 * zeros. */
static uint8_t id_length(uint16_t misc, const uint8_t *field)
{
	uint8_t len = BUILD_ID_MAX;
	static const uint8_t zeros[4];

	if (misc & MISC_SIZE)
		return field[BUILD_ID_MAX] < BUILD_ID_MAX ? field[BUILD_ID_MAX]
							  : BUILD_ID_MAX;
	while (len && memcmp(field + len - sizeof(zeros), zeros, sizeof(zeros)) == 0)
		len = (uint8_t)(len - sizeof(zeros));
	return len;
}

int perf_build_id_add(struct perf_input *in, uint16_t misc, struct cursor *body)
{
	struct perf_input_build_id row = { .misc = misc };
	const uint8_t *field;
	const char *name;

	row.pid = (int32_t)cursor_u32(body);
	field = cursor_take(body, ID_FIELD_BYTES);
	if (!field || !cursor_left(body))
		return -EBADMSG;
	name = (const char *)body->data + body->pos;
	row.id.len = id_length(misc, field);
	memcpy(row.id.bytes, field, row.id.len);
	row.name = strndup(name, cursor_left(body));
	if (row.name && vec_push(&in->info.build_ids, row))
		return 0;
	free(row.name);
	return -ENOMEM;
}

/* Returns whether the entries have no pid, as those of perf before 2.6.34. The only sign is the
 * name of the first entry, which is the kernel's: in today's layout, it lacks the first four
 * letters (perf_header__read_build_ids_abi_quirk()). */
static bool lacks_pid(const struct cursor *payload)
{
	static const char cut_name[] = "nel.kallsyms]";
	size_t at = HEADER_BYTES + sizeof(int32_t) + ID_FIELD_BYTES;

	return cursor_left(payload) >= at + sizeof(cut_name) &&
	       memcmp(payload->data + payload->pos + at, cut_name, sizeof(cut_name)) ==
		       0;
}

static int add_old(struct perf_input *in, uint16_t misc, struct cursor *body)
{
	uint8_t bytes[sizeof(int32_t) + ID_FIELD_BYTES] = { 0xff, 0xff, 0xff, 0xff };
	const uint8_t *id = cursor_take(body, ID_FIELD_BYTES);
	struct buf row = { 0 };
	struct cursor c;
	int r;

	if (!id)
		return -EBADMSG;
	memcpy(bytes + sizeof(int32_t), id, ID_FIELD_BYTES);
	buf_put(&row, bytes, sizeof(bytes));
	buf_put(&row, body->data + body->pos, cursor_left(body));
	c = cursor_of(row.data, row.len, body->swap);
	r = row.failed ? -ENOMEM : perf_build_id_add(in, misc, &c);
	buf_done(&row);
	return r;
}

int perf_build_ids_parse(struct perf_input *in, struct cursor *payload)
{
	bool old = lacks_pid(payload);

	while (cursor_left(payload)) {
		uint16_t misc, size;
		const void *bytes;
		struct cursor body;
		int r;

		cursor_u32(payload); /* type: 0 or HEADER_BUILD_ID */
		misc = cursor_u16(payload);
		size = cursor_u16(payload);
		if (payload->failed || size < HEADER_BYTES)
			return -EBADMSG;
		bytes = cursor_take(payload, size - HEADER_BYTES);
		if (!bytes)
			return -EBADMSG;
		body = cursor_of(bytes, size - HEADER_BYTES, payload->swap);
		r = old ? add_old(in, misc, &body) : perf_build_id_add(in, misc, &body);
		if (r)
			return r;
	}
	return 0;
}
