/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/protobuf.h"

bool protobuf_next_field(struct cursor *c, struct protobuf_field *ret_f)
{
	struct protobuf_field f = { 0 };
	uint64_t head, len = 0;

	if (!cursor_left(c) || c->failed)
		return false;
	head = cursor_varint(c);
	f.number = (uint32_t)(head >> 3);
	f.type = head & 7;
	if (f.type == PROTOBUF_VARINT)
		f.value = cursor_varint(c);
	else if (f.type == PROTOBUF_BYTES)
		len = cursor_varint(c);
	else if (f.type == PROTOBUF_64 || f.type == PROTOBUF_32)
		len = f.type == PROTOBUF_64 ? 8 : 4;
	else
		c->failed = true;
	if (len > cursor_left(c))
		c->failed = true;
	if (c->failed)
		return false;
	f.bytes = cursor_le(c->data + c->pos, (size_t)len);
	c->pos += (size_t)len;
	*ret_f = f;
	return true;
}
