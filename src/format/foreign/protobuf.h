/* SPDX-License-Identifier: GPL-2.0-or-later */
/* protobuf.h - the fields of a message in the wire format of protocol buffers.
 * Layer: format, private to its readers. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"

enum protobuf_type {
	PROTOBUF_VARINT = 0,
	PROTOBUF_64 = 1,
	PROTOBUF_BYTES = 2,
	PROTOBUF_32 = 5
};

struct protobuf_field {
	uint32_t number;
	uint32_t type;
	uint64_t value; /* the value of a PROTOBUF_VARINT; 0 for other types */
	/* The bytes of any other type; borrowed from the message. */
	struct cursor bytes;
};

/* Reads the next field. Returns false at the end of the message, or with c->failed set if the
 * message is damaged. */
bool protobuf_next_field(struct cursor *c, struct protobuf_field *ret_f);
