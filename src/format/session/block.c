/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/block.h"

#include <errno.h>
#include <string.h>

#include "base/containers/hash.h"
#include "base/cursor.h"

/* As in PNG's signature, \r\n and ^Z show whether the file was damaged by a conversion of line
 * ends. */
static const uint8_t segment_magic[8] = { 'O', 'P', 'S', 'E', 'G', '\r', '\n', 0x1a };
static const uint8_t block_magic[4] = { 0xd3, 'O', 'P', 'B' };

enum {
	HEADER_SUMMED_BYTES = SEGMENT_HEADER_BYTES - 8,
	BLOCK_SUMMED_BYTES = 12
};

static void store_le(uint8_t *at, uint64_t v, size_t len)
{
	for (size_t i = 0; i < len; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

void segment_header_put(struct buf *out, uint64_t salt)
{
	size_t begin = out->len;

	buf_put(out, segment_magic, sizeof(segment_magic));
	buf_put_u16(out, SEGMENT_VERSION);
	buf_put_u16(out, 0);
	buf_put_u32(out, 0);
	buf_put_u64(out, salt);
	if (!out->failed)
		buf_put_u64(out, hash_bytes(out->data + begin, HEADER_SUMMED_BYTES, 0));
}

int segment_header_parse(const uint8_t bytes[SEGMENT_HEADER_BYTES], uint64_t *ret_salt)
{
	struct cursor in = cursor_le(bytes, SEGMENT_HEADER_BYTES);
	uint16_t version;
	uint64_t salt;

	if (memcmp(cursor_take(&in, sizeof(segment_magic)), segment_magic,
		   sizeof(segment_magic)))
		return -EBADMSG;
	version = cursor_u16(&in);
	cursor_take(&in, 6);
	salt = cursor_u64(&in);
	if (cursor_u64(&in) != hash_bytes(bytes, HEADER_SUMMED_BYTES, 0))
		return -EBADMSG;
	if (version > SEGMENT_VERSION)
		return -EPROTONOSUPPORT;
	*ret_salt = salt;
	return 0;
}

size_t block_begin(struct buf *out)
{
	static const uint8_t room[BLOCK_HEADER_BYTES];
	size_t begin = out->len;

	buf_put(out, room, sizeof(room));
	return begin;
}

void block_end(struct buf *out, size_t begin, enum block_type type, uint64_t salt)
{
	uint8_t *header;
	size_t len;

	if (out->failed)
		return;
	header = out->data + begin;
	len = out->len - begin - BLOCK_HEADER_BYTES;
	memcpy(header, block_magic, sizeof(block_magic));
	store_le(header + 4, type, 4);
	store_le(header + 8, len, 4);
	store_le(header + 12, hash_bytes(header, BLOCK_SUMMED_BYTES, salt), 4);
	store_le(header + 16, hash_bytes(header + BLOCK_HEADER_BYTES, len, salt), 8);
}

bool block_header_parse(const uint8_t bytes[BLOCK_HEADER_BYTES], uint64_t salt,
			struct block_header *ret_header)
{
	struct cursor in = cursor_le(bytes, BLOCK_HEADER_BYTES);
	struct block_header h = { 0 };
	uint32_t check;

	if (memcmp(cursor_take(&in, sizeof(block_magic)), block_magic,
		   sizeof(block_magic)))
		return false;
	h.type = cursor_u8(&in);
	cursor_take(&in, 3);
	h.len = cursor_u32(&in);
	check = cursor_u32(&in);
	h.sum = cursor_u64(&in);
	if (check != (uint32_t)hash_bytes(bytes, BLOCK_SUMMED_BYTES, salt) ||
	    h.len > BLOCK_BYTES_MAX)
		return false;
	*ret_header = h;
	return true;
}

bool block_payload_ok(const struct block_header *h, const uint8_t *payload,
		      uint64_t salt)
{
	return hash_bytes(payload, h->len, salt) == h->sum;
}

size_t block_scan(const uint8_t *bytes, size_t from, size_t len)
{
	while (from < len) {
		const uint8_t *at = memchr(bytes + from, block_magic[0], len - from);
		size_t left;

		if (!at)
			return len;
		from = (size_t)(at - bytes);
		left = len - from;
		if (!memcmp(at, block_magic,
			    left < sizeof(block_magic) ? left : sizeof(block_magic)))
			return from;
		from++;
	}
	return len;
}
