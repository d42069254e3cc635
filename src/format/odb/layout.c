/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/odb/layout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "base/err.h"
#include "base/parse.h"

enum {
	DESCR_BYTES = 32,
	NODE_BYTES = 16,
	INDEX_BYTES = 4,
	VALUE_BYTES = 4,
	VERSION_AT = 4,
	/* Limits for the values in an abi file, so that sums do not overflow. */
	ABI_OFFSET_MAX = 4096,
	LINE_MAX_BYTES = 128
};

static const char magic[ODB_MAGIC_BYTES] = { 'D', 'A', 'E', '\n' };

bool odb_recognise(const uint8_t *bytes, size_t len, bool *ret_big_endian,
		   uint32_t *ret_version)
{
	if (len < ODB_HEADER_MIN || memcmp(bytes, magic, sizeof(magic)) != 0)
		return false;
	for (int big = 0; big < 2; big++) {
		const uint8_t *v = bytes + VERSION_AT;
		uint32_t version =
			big ? v[3] | (uint32_t)v[0] << 24 | (uint32_t)v[1] << 16 |
					(uint32_t)v[2] << 8
			    : v[0] | (uint32_t)v[3] << 24 | (uint32_t)v[2] << 16 |
					(uint32_t)v[1] << 8;

		if (version > 0xffff)
			continue;
		*ret_big_endian = big;
		*ret_version = version;
		return true;
	}
	return false;
}

/* Returns the offset of a field of `bytes` bytes and advances *at past it. */
static uint32_t odb_layout_place(uint32_t *at, uint32_t bytes, uint32_t align)
{
	uint32_t offset = (*at + align - 1) & ~(align - 1);

	*at = offset + bytes;
	return offset;
}

static uint32_t odb_layout_round(uint32_t bytes, uint32_t align)
{
	return (bytes + align - 1) & ~(align - 1);
}

struct odb_layout odb_layout_of(uint32_t version, bool wide, bool big_endian)
{
	struct odb_layout l = {
		.big_endian = big_endian,
		.descr_bytes = DESCR_BYTES,
		.size_at = 0,
		.used_at = 4,
		.node_bytes = NODE_BYTES,
		.key_at = 0,
		.key_bytes = 8,
		.value_at = 8,
		.next_at = 12,
		.index_bytes = INDEX_BYTES,
	};
	uint32_t align = wide ? 8 : 4;
	uint32_t at = ODB_HEADER_MIN;

	for (enum odb_field f = ODB_CPU_TYPE; f <= ODB_IS_KERNEL; f++)
		l.field_at[f] = odb_layout_place(&at, 4, 4);
	l.field_at[ODB_CPU_SPEED] = odb_layout_place(&at, 8, align);
	l.field_at[ODB_MTIME] = odb_layout_place(&at, 8, align);
	l.field_at[ODB_CG_TO_IS_KERNEL] = odb_layout_place(&at, 4, 4);
	if (version == ODB_VERSION_09) {
		(void)odb_layout_place(&at, 4, 4);     /* a field for Cell processors */
		(void)odb_layout_place(&at, 8, align); /* a field for Cell processors */
	}
	l.field_at[ODB_ANON_START] = odb_layout_place(&at, 8, align);
	l.field_at[ODB_CG_TO_ANON_START] = odb_layout_place(&at, 8, align);
	if (version == ODB_VERSION_09)
		(void)odb_layout_place(&at, 4, 4); /* reserved */
	l.header_bytes = odb_layout_round(at, align);
	return l;
}

static uint32_t odb_layout_u32(const uint8_t *bytes, bool big_endian)
{
	bool swap = big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	struct cursor c = cursor_of(bytes, 4, swap);

	return cursor_u32(&c);
}

/* Returns whether the file can have this layout: the table's size is a power of two, at least
 * one node is in use (node 0, which never contains a sample), and the file is long enough for
 * the table. */
static bool odb_layout_fits(const struct odb_layout *l, const uint8_t *bytes,
			    size_t len)
{
	uint64_t head = (uint64_t)l->header_bytes + l->descr_bytes;
	uint32_t size, used;

	if (len < head)
		return false;
	size = odb_layout_u32(bytes + l->header_bytes + l->size_at, l->big_endian);
	used = odb_layout_u32(bytes + l->header_bytes + l->used_at, l->big_endian);
	return size && !(size & (size - 1)) && used && used <= size &&
	       len >= head + (uint64_t)size * (l->node_bytes + l->index_bytes);
}

bool odb_layout_equals(const struct odb_layout *a, const struct odb_layout *b)
{
	for (size_t i = 0; i < ODB_FIELDS; i++)
		if (a->field_at[i] != b->field_at[i])
			return false;
	return a->big_endian == b->big_endian && a->header_bytes == b->header_bytes &&
	       a->descr_bytes == b->descr_bytes && a->size_at == b->size_at &&
	       a->used_at == b->used_at && a->node_bytes == b->node_bytes &&
	       a->key_at == b->key_at && a->key_bytes == b->key_bytes &&
	       a->value_at == b->value_at && a->next_at == b->next_at &&
	       a->index_bytes == b->index_bytes;
}

int odb_layout_find(const uint8_t *bytes, size_t len, const struct odb_layout *given,
		    struct odb_layout *ret_layout, struct err *err)
{
	uint32_t version = 0;
	bool big_endian = false;

	if (!odb_recognise(bytes, len, &big_endian, &version))
		return err_set(err, -EBADMSG, "not a sample file of OProfile");
	if (version != ODB_VERSION && version != ODB_VERSION_09)
		return err_set(
			err, -EBADMSG,
			"version 0x%x of sample files cannot be read, only 0x%x and 0x%x",
			version, ODB_VERSION_09, ODB_VERSION);
	if (given && given->big_endian == big_endian &&
	    odb_layout_fits(given, bytes, len)) {
		*ret_layout = *given;
		return 0;
	}
	for (int wide = 1; wide >= 0; wide--) {
		struct odb_layout l = odb_layout_of(version, wide, big_endian);

		if (!odb_layout_fits(&l, bytes, len))
			continue;
		*ret_layout = l;
		return 0;
	}
	return err_set(
		err, -EBADMSG,
		"the sample file is truncated or damaged: its table does not fit");
}

/* ---- the abi file ---- */

enum {
	ABI_FIXED = 0x10000 /* the value must be `at` */
};

#define ABI_OF(member) (uint32_t) offsetof(struct odb_layout, member)
#define ABI_FIELD(field) (ABI_OF(field_at) + (field) * (uint32_t)sizeof(uint32_t))

/* The lines of an abi file, in OProfile's order. A line whose value never varies has ABI_FIXED
 * plus that value. */
static const struct {
	const char *name;
	uint32_t at; /* offset in struct odb_layout, or ABI_FIXED + value */
} abi_rows[] = {
	{ "sizeof_double", ABI_FIXED + 8 },
	{ "sizeof_u64", ABI_FIXED + 8 },
	{ "sizeof_u8", ABI_FIXED + 1 },
	{ "sizeof_u32", ABI_FIXED + 4 },
	{ "sizeof_int", ABI_FIXED + 4 },
	{ "sizeof_unsigned_int", ABI_FIXED + 4 },
	{ "sizeof_odb_key_t", ABI_OF(key_bytes) },
	{ "sizeof_odb_index_t", ABI_OF(index_bytes) },
	{ "sizeof_odb_value_t", ABI_FIXED + VALUE_BYTES },
	{ "sizeof_odb_node_nr_t", ABI_FIXED + 4 },
	{ "sizeof_odb_descr_t", ABI_OF(descr_bytes) },
	{ "sizeof_odb_node_t", ABI_OF(node_bytes) },
	{ "sizeof_struct_opd_header", ABI_OF(header_bytes) },
	{ "offsetof_node_key", ABI_OF(key_at) },
	{ "offsetof_node_value", ABI_OF(value_at) },
	{ "offsetof_node_next", ABI_OF(next_at) },
	{ "offsetof_descr_size", ABI_OF(size_at) },
	{ "offsetof_descr_current_size", ABI_OF(used_at) },
	{ "offsetof_header_magic", ABI_FIXED + 0 },
	{ "offsetof_header_version", ABI_FIXED + VERSION_AT },
	{ "offsetof_header_cpu_type", ABI_FIELD(ODB_CPU_TYPE) },
	{ "offsetof_header_ctr_event", ABI_FIELD(ODB_CTR_EVENT) },
	{ "offsetof_header_ctr_um", ABI_FIELD(ODB_CTR_UM) },
	{ "offsetof_header_ctr_count", ABI_FIELD(ODB_CTR_COUNT) },
	{ "offsetof_header_is_kernel", ABI_FIELD(ODB_IS_KERNEL) },
	{ "offsetof_header_cpu_speed", ABI_FIELD(ODB_CPU_SPEED) },
	{ "offsetof_header_mtime", ABI_FIELD(ODB_MTIME) },
	{ "offsetof_header_cg_to_is_kernel", ABI_FIELD(ODB_CG_TO_IS_KERNEL) },
	{ "offsetof_header_anon_start", ABI_FIELD(ODB_ANON_START) },
	{ "offsetof_header_cg_to_anon_start", ABI_FIELD(ODB_CG_TO_ANON_START) },
};
static const char abi_little[] = "little_endian";

static uint32_t *abi_member(struct odb_layout *l, uint32_t at)
{
	return (uint32_t *)(void *)((char *)l + at);
}

/* Applies a line of an abi file to the layout, and sets its bit in *seen. Returns 0 or -EBADMSG
 * with a message. */
static int abi_take_line(const char *name, uint64_t value, struct odb_layout *l,
			 uint64_t *seen, struct err *err)
{
	size_t i = 0;

	if (!strcmp(name, abi_little)) {
		*seen |= 1ULL << COUNT_OF(abi_rows);
		l->big_endian = !value;
		return 0;
	}
	while (i < COUNT_OF(abi_rows) && strcmp(abi_rows[i].name, name) != 0)
		i++;
	if (i == COUNT_OF(abi_rows))
		return 0; /* unknown fields are ignored, because no reader needs them */
	if (abi_rows[i].at >= ABI_FIXED ? value != abi_rows[i].at - ABI_FIXED
					: value > ABI_OFFSET_MAX)
		return err_set(err, -EBADMSG, "%s %llu is not supported", name,
			       (unsigned long long)value);
	*seen |= 1ULL << i;
	if (abi_rows[i].at < ABI_FIXED)
		*abi_member(l, abi_rows[i].at) = (uint32_t)value;
	return 0;
}

static int abi_take_text(const char *text, size_t len, struct odb_layout *l,
			 uint64_t *seen, struct err *err)
{
	for (size_t pos = 0; pos < len;) {
		const char *end = memchr(text + pos, '\n', len - pos);
		size_t nr = end ? (size_t)(end - text) - pos : len - pos;
		char line[LINE_MAX_BYTES];
		uint64_t value;
		char *blank;
		int r;

		snprintf(line, sizeof(line), "%.*s",
			 (int)(nr < sizeof(line) ? nr : sizeof(line) - 1), text + pos);
		pos += nr + 1;
		if (!line[0])
			continue;
		blank = strchr(line, ' ');
		if (!blank || !parse_u64(blank + 1, &value))
			return err_set(err, -EBADMSG, "malformed line '%s'", line);
		*blank = '\0';
		r = abi_take_line(line, value, l, seen, err);
		if (r)
			return r;
	}
	return 0;
}

/* Returns whether each field lies within its structure. */
static bool abi_is_sane(const struct odb_layout *l)
{
	for (size_t i = 0; i < ODB_FIELDS; i++)
		if (l->field_at[i] + 8 > l->header_bytes &&
		    l->field_at[i] + 4 > l->header_bytes)
			return false;
	return l->field_at[ODB_CPU_SPEED] + 8 <= l->header_bytes &&
	       l->field_at[ODB_MTIME] + 8 <= l->header_bytes &&
	       l->field_at[ODB_ANON_START] + 8 <= l->header_bytes &&
	       l->field_at[ODB_CG_TO_ANON_START] + 8 <= l->header_bytes &&
	       l->size_at + 4 <= l->descr_bytes && l->used_at + 4 <= l->descr_bytes &&
	       (l->key_bytes == 4 || l->key_bytes == 8) &&
	       l->key_at + l->key_bytes <= l->node_bytes &&
	       l->value_at + VALUE_BYTES <= l->node_bytes &&
	       l->next_at + INDEX_BYTES <= l->node_bytes &&
	       l->index_bytes == INDEX_BYTES;
}

int odb_abi_parse(const char *text, size_t len, struct odb_layout *ret_layout,
		  struct err *err)
{
	struct odb_layout l = { 0 };
	uint64_t seen = 0;
	int r = abi_take_text(text, len, &l, &seen, err);

	if (r)
		return r;
	for (size_t i = 0; i < COUNT_OF(abi_rows); i++)
		if (!(seen & 1ULL << i))
			return err_set(err, -EBADMSG, "%s is missing",
				       abi_rows[i].name);
	if (!(seen & 1ULL << COUNT_OF(abi_rows)))
		return err_set(err, -EBADMSG, "%s is missing", abi_little);
	if (!abi_is_sane(&l))
		return err_set(err, -EBADMSG, "an offset is outside of its structure");
	*ret_layout = l;
	return 0;
}

void odb_abi_put(const struct odb_layout *layout, struct buf *out)
{
	struct odb_layout l = *layout;

	for (size_t i = 0; i < COUNT_OF(abi_rows); i++) {
		uint32_t at = abi_rows[i].at;

		buf_put(out, abi_rows[i].name, strlen(abi_rows[i].name));
		buf_put_u8(out, ' ');
		buf_put_decimal(out,
				at >= ABI_FIXED ? at - ABI_FIXED : *abi_member(&l, at));
		buf_put_u8(out, '\n');
	}
	buf_put(out, abi_little, strlen(abi_little));
	buf_put(out, l.big_endian ? " 0\n" : " 1\n", 3);
}
