/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/source/btf.h"

#include <stdbool.h>
#include <string.h>

enum {
	BTF_MAGIC_NUMBER = 0xeb9f,
	WORD = sizeof(uint32_t),
	KIND_SHIFT = 24,
	KIND_MASK = 0x1f,
	NR_MASK = 0xffff
};

struct btf_header {
	uint16_t magic;
	uint8_t version;
	uint8_t flags;
	uint32_t len;
	/* Offsets relative to the end of the header. */
	uint32_t types, types_len;
	uint32_t strings, strings_len;
};

struct type {
	uint32_t name; /* offset in the strings */
	uint32_t info; /* kind and number of members */
	uint32_t what;
};

/* How many words follow a type of a certain kind, and how many follow for each of its members. */
struct btf_trailer {
	uint8_t known, once, each;
};

static const struct btf_trailer trailers[KIND_MASK + 1] = {
	[1] = { 1, 1, 0 },  /* integer */
	[2] = { 1, 0, 0 },  /* pointer */
	[3] = { 1, 3, 0 },  /* array */
	[4] = { 1, 0, 3 },  /* struct */
	[5] = { 1, 0, 3 },  /* union */
	[6] = { 1, 0, 2 },  /* enum */
	[7] = { 1, 0, 0 },  /* forward declaration */
	[8] = { 1, 0, 0 },  /* typedef */
	[9] = { 1, 0, 0 },  /* volatile */
	[10] = { 1, 0, 0 }, /* const */
	[11] = { 1, 0, 0 }, /* restrict */
	[12] = { 1, 0, 0 }, /* function */
	[13] = { 1, 0, 2 }, /* function's prototype */
	[14] = { 1, 1, 0 }, /* variable */
	[15] = { 1, 0, 3 }, /* section */
	[16] = { 1, 0, 0 }, /* floating point */
	[17] = { 1, 1, 0 }, /* tag of a declaration */
	[18] = { 1, 0, 0 }, /* tag of a type */
	[19] = { 1, 0, 3 }, /* enum of 64 bits */
};

/* Returns a section of the data, or NULL if it is outside of the `len` bytes. */
static const uint8_t *btf_part(const uint8_t *bytes, size_t len,
			       const struct btf_header *h, uint32_t from,
			       uint32_t part_len)
{
	uint64_t start = (uint64_t)h->len + from;

	return start + part_len <= len ? bytes + start : NULL;
}

static bool find_type(const uint8_t *types, uint32_t len, uint32_t id,
		      struct type *ret_type)
{
	uint64_t at = 0;

	for (uint32_t i = 1; at + sizeof(*ret_type) <= len; i++) {
		struct type type;
		const struct btf_trailer *b;

		memcpy(&type, types + at, sizeof(type));
		if (i == id) {
			*ret_type = type;
			return true;
		}
		b = &trailers[type.info >> KIND_SHIFT & KIND_MASK];
		if (!b->known)
			return false;
		at += sizeof(type) +
		      WORD * (b->once + b->each * (uint64_t)(type.info & NR_MASK));
	}
	return false;
}

const char *btf_name(const void *btf, size_t len, uint32_t id)
{
	const uint8_t *bytes = btf, *types, *strings;
	struct btf_header h;
	struct type type;

	if (len < sizeof(h))
		return NULL;
	memcpy(&h, bytes, sizeof(h));
	if (h.magic != BTF_MAGIC_NUMBER || h.len < sizeof(h))
		return NULL;
	types = btf_part(bytes, len, &h, h.types, h.types_len);
	strings = btf_part(bytes, len, &h, h.strings, h.strings_len);
	if (!types || !strings || !find_type(types, h.types_len, id, &type) ||
	    type.name >= h.strings_len || !strings[type.name] ||
	    !memchr(strings + type.name, 0, h.strings_len - type.name))
		return NULL;
	return (const char *)strings + type.name;
}
