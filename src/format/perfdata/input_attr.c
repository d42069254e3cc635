/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_attr.c - reads the attrs and ids in the header of a perf.data file. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "format/perfdata/input_priv.h"

enum {
	ATTR_BYTES_MAX = 4096,
	ATTR_FLAGS_AT = 40, /* offset of the bit fields, which begin with `disabled` */
	SECTION_BYTES = sizeof(struct perf_data_section)
};
static_assert(offsetof(struct perf_event_attr, wakeup_events) == ATTR_FLAGS_AT + 8,
	      "the bit fields of struct perf_event_attr");

uint32_t perf_attr_bytes(const struct cursor *at)
{
	struct cursor c = *at;
	uint32_t bytes;

	cursor_u32(&c); /* type */
	bytes = cursor_u32(&c);
	return bytes ? bytes : PERF_ATTR_SIZE_VER0;
}

static uint8_t reversed(uint8_t byte)
{
	byte = (uint8_t)((byte & 0xf0) >> 4 | (byte & 0x0f) << 4);
	byte = (uint8_t)((byte & 0xcc) >> 2 | (byte & 0x33) << 2);
	return (uint8_t)((byte & 0xaa) >> 1 | (byte & 0x55) << 1);
}

/* Decodes the bit fields of an attr. Compilers for big-endian machines allocate bit fields from the
 * top bit of the first byte.  Only precise_ip has more than one bit; it straddles two bytes, and
 * its bits arrive in reverse order. */
static void decode_flags(struct cursor *c, struct perf_event_attr *attr)
{
	uint8_t flags[8] = { 0 };
	const void *at = cursor_take(c, sizeof(flags));

	if (at)
		memcpy(flags, at, sizeof(flags));
	for (size_t i = 0; c->swap && i < sizeof(flags); i++)
		flags[i] = reversed(flags[i]);
	memcpy((uint8_t *)attr + ATTR_FLAGS_AT, flags, sizeof(flags));
	if (c->swap)
		attr->precise_ip = (attr->precise_ip << 1 | attr->precise_ip >> 1) & 3U;
}

void perf_attr_decode(struct cursor *in, size_t len, struct perf_event_attr *ret_attr)
{
	const void *bytes = cursor_take(in, len);
	struct cursor c = cursor_of(bytes, bytes ? len : 0, in->swap);
	struct perf_event_attr a = { 0 };

	a.type = cursor_u32(&c);
	a.size = cursor_u32(&c);
	a.config = cursor_u64(&c);
	a.sample_period = cursor_u64(&c);
	a.sample_type = cursor_u64(&c);
	a.read_format = cursor_u64(&c);
	decode_flags(&c, &a);
	a.wakeup_events = cursor_u32(&c);
	a.bp_type = cursor_u32(&c);
	a.config1 = cursor_u64(&c);
	a.config2 = cursor_u64(&c);
	a.branch_sample_type = cursor_u64(&c);
	a.sample_regs_user = cursor_u64(&c);
	a.sample_stack_user = cursor_u32(&c);
	a.clockid = (int32_t)cursor_u32(&c);
	a.sample_regs_intr = cursor_u64(&c);
	a.aux_watermark = cursor_u32(&c);
	a.sample_max_stack = cursor_u16(&c);
	cursor_u16(&c);
	a.aux_sample_size = cursor_u32(&c);
	cursor_u32(&c);
	a.sig_data = cursor_u64(&c);
	a.size = len < sizeof(a) ? (uint32_t)len : sizeof(a);
	*ret_attr = a;
}

static int read_ids(struct perf_input *in, struct perf_input_event *event,
		    const struct perf_data_section *ids, uint64_t *left)
{
	struct buf bytes = { 0 };
	struct cursor c;
	int r;

	/* The id tables of events do not overlap, so all of them together must fit into the
	 * file. */
	if (ids->size > *left)
		return -EBADMSG;
	*left -= ids->size;
	r = perf_file_read(in, ids->offset, ids->size, &bytes);
	c = cursor_of(bytes.data, bytes.len, in->info.swap);
	while (r == 0 && cursor_left(&c) >= sizeof(uint64_t)) {
		if (!vec_push(&event->ids, cursor_u64(&c)))
			r = -ENOMEM;
	}
	buf_done(&bytes);
	return r;
}

/* Reads an entry of the attr table: an attr, whose size can vary, and then the section of its
 * ids. */
static int perf_input_attr_read_entry(struct perf_input *in, struct cursor *c,
				      size_t attr_bytes, uint64_t *ids_left)
{
	struct perf_input_event *event;
	struct perf_data_section ids;
	int r;

	if (!vec_grow(&in->info.events))
		return -ENOMEM;
	event = &in->info.events.at[in->info.events.nr++];
	*event = (struct perf_input_event){ 0 };
	perf_attr_decode(c, attr_bytes, &event->attr);
	ids.offset = cursor_u64(c);
	ids.size = cursor_u64(c);
	r = read_ids(in, event, &ids, ids_left);
	if (r == -EBADMSG) {
		in->damage.bad_features++;
		r = 0;
	}
	return r;
}

int perf_attrs_read(struct perf_input *in, const struct perf_data_header *header,
		    struct err *err)
{
	uint64_t entry = header->attr_size;
	uint64_t ids_left = in->main_size;
	struct buf table = { 0 };
	struct cursor c;
	int r;

	if (entry < PERF_ATTR_SIZE_VER0 + SECTION_BYTES || entry > ATTR_BYTES_MAX ||
	    header->attrs.size < entry)
		return err_set(
			err, -EBADMSG,
			"'%s' is damaged: the header contains no description of an event",
			in->name);
	r = perf_file_read(in, header->attrs.offset, header->attrs.size, &table);
	if (r)
		return err_set(
			err, r,
			"'%s' is truncated or damaged: cannot read the table of events",
			in->name);
	c = cursor_of(table.data, table.len, in->info.swap);
	while (r == 0 && cursor_left(&c) >= entry)
		r = perf_input_attr_read_entry(in, &c, entry - SECTION_BYTES,
					       &ids_left);
	buf_done(&table);
	return r < 0 ? err_sys(err, r, "cannot read '%s'", in->name) : 0;
}
