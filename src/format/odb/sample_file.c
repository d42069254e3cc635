/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/odb/sample_file.h"

#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/err.h"

enum {
	FIRST_SIZE = 128 /* nodes of the smallest table */
};

static bool odb_swaps(const struct odb_layout *l)
{
	return l->big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

static uint32_t odb_u32(const struct odb_layout *l, const uint8_t *at)
{
	struct cursor c = cursor_of(at, 4, odb_swaps(l));

	return cursor_u32(&c);
}

static uint64_t odb_u64(const struct odb_layout *l, const uint8_t *at)
{
	struct cursor c = cursor_of(at, 8, odb_swaps(l));

	return cursor_u64(&c);
}

static double odb_double(uint64_t bits)
{
	double d;

	_Static_assert(sizeof(d) == sizeof(bits), "a double has 8 bytes");
	memcpy(&d, &bits, sizeof(d));
	return d;
}

static struct odb_header odb_read_header(const struct odb_layout *l,
					 const uint8_t *bytes)
{
	const uint32_t *at = l->field_at;
	struct odb_header h = {
		.version = odb_u32(l, bytes + ODB_MAGIC_BYTES),
		.cpu_type = odb_u32(l, bytes + at[ODB_CPU_TYPE]),
		.event = odb_u32(l, bytes + at[ODB_CTR_EVENT]),
		.unit_mask = odb_u32(l, bytes + at[ODB_CTR_UM]),
		.count = odb_u32(l, bytes + at[ODB_CTR_COUNT]),
		.is_kernel = odb_u32(l, bytes + at[ODB_IS_KERNEL]),
		.cg_to_is_kernel = odb_u32(l, bytes + at[ODB_CG_TO_IS_KERNEL]),
		.cpu_mhz = odb_double(odb_u64(l, bytes + at[ODB_CPU_SPEED])),
		.mtime_s = odb_u64(l, bytes + at[ODB_MTIME]),
		.anon_start = odb_u64(l, bytes + at[ODB_ANON_START]),
		.cg_to_anon_start = odb_u64(l, bytes + at[ODB_CG_TO_ANON_START]),
	};

	/* A value that is not a number, or not a plausible frequency, means unknown. */
	if (!(h.cpu_mhz > 0 && h.cpu_mhz < 1e9))
		h.cpu_mhz = 0;
	return h;
}

int odb_file_open(const uint8_t *bytes, size_t len, const struct odb_layout *given,
		  struct odb_file *ret_file, struct err *err)
{
	struct odb_file f = { 0 };
	const uint8_t *descr;
	int r = odb_layout_find(bytes, len, given, &f.layout, err);

	if (r)
		return r;
	f.header = odb_read_header(&f.layout, bytes);
	descr = bytes + f.layout.header_bytes;
	f.size = odb_u32(&f.layout, descr + f.layout.size_at);
	f.nr_nodes = odb_u32(&f.layout, descr + f.layout.used_at) - 1;
	f.nodes = descr + f.layout.descr_bytes + f.layout.node_bytes;
	*ret_file = f;
	return 0;
}

struct odb_node odb_file_node(const struct odb_file *file, uint32_t i)
{
	const struct odb_layout *l = &file->layout;
	const uint8_t *at = file->nodes + (size_t)i * l->node_bytes;

	return (struct odb_node){
		.key = l->key_bytes == 8 ? odb_u64(l, at + l->key_at)
					 : odb_u32(l, at + l->key_at),
		.value = odb_u32(l, at + l->value_at),
	};
}

/* ---- the hash table ---- */

/* Returns the hash of a key as OProfile computes it: t ^ t >> 8, modulo the size of the table,
 * where t is the xor of the two halves of the key. */
static uint32_t odb_hash(uint64_t key, uint32_t size)
{
	uint32_t t = (uint32_t)(key >> 32) ^ (uint32_t)key;

	return (t ^ t >> 8) & (size - 1);
}

uint32_t odb_file_chain(const struct odb_file *file, uint32_t slot)
{
	const struct odb_layout *l = &file->layout;
	/* `nodes` begins at node 1, so the chains follow size - 1 nodes. */
	const uint8_t *chains = file->nodes + (size_t)(file->size - 1) * l->node_bytes;

	return odb_u32(l, chains + (size_t)slot * l->index_bytes);
}

uint32_t odb_file_next(const struct odb_file *file, uint32_t i)
{
	const struct odb_layout *l = &file->layout;

	return odb_u32(l, file->nodes + (size_t)i * l->node_bytes + l->next_at);
}

uint32_t odb_file_slot(const struct odb_file *file, uint64_t key)
{
	return odb_hash(key, file->size);
}

size_t odb_file_bytes(const struct odb_file *file)
{
	const struct odb_layout *l = &file->layout;

	return l->header_bytes + l->descr_bytes +
	       (size_t)file->size * (l->node_bytes + l->index_bytes);
}

/* ---- writing ---- */

static void odb_store(const struct odb_layout *l, uint8_t *at, uint64_t value,
		      unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		at[l->big_endian ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static void odb_store_header(const struct odb_layout *l, const struct odb_header *h,
			     uint8_t *bytes)
{
	static const uint8_t magic[ODB_MAGIC_BYTES] = { 'D', 'A', 'E', '\n' };
	const uint32_t *at = l->field_at;
	uint64_t speed;

	memcpy(&speed, &h->cpu_mhz, sizeof(speed));
	memcpy(bytes, magic, sizeof(magic));
	odb_store(l, bytes + ODB_MAGIC_BYTES, h->version, 4);
	odb_store(l, bytes + at[ODB_CPU_TYPE], h->cpu_type, 4);
	odb_store(l, bytes + at[ODB_CTR_EVENT], h->event, 4);
	odb_store(l, bytes + at[ODB_CTR_UM], h->unit_mask, 4);
	odb_store(l, bytes + at[ODB_CTR_COUNT], h->count, 4);
	odb_store(l, bytes + at[ODB_IS_KERNEL], h->is_kernel, 4);
	odb_store(l, bytes + at[ODB_CPU_SPEED], speed, 8);
	odb_store(l, bytes + at[ODB_MTIME], h->mtime_s, 8);
	odb_store(l, bytes + at[ODB_CG_TO_IS_KERNEL], h->cg_to_is_kernel, 4);
	odb_store(l, bytes + at[ODB_ANON_START], h->anon_start, 8);
	odb_store(l, bytes + at[ODB_CG_TO_ANON_START], h->cg_to_anon_start, 8);
}

static uint32_t odb_size_for(size_t nr_nodes)
{
	uint32_t size = FIRST_SIZE;

	while (size < nr_nodes && size < 1U << 31)
		size *= 2;
	return size;
}

void odb_file_put(const struct odb_layout *layout, const struct odb_header *header,
		  const odb_nodes *nodes, struct buf *out)
{
	const struct odb_layout *l = layout;
	size_t used = nodes->nr + 1;
	uint32_t size = odb_size_for(used);
	size_t begin = l->header_bytes + l->descr_bytes;
	size_t bytes = begin + (size_t)size * (l->node_bytes + l->index_bytes);
	uint8_t *base, *hash;

	if (!buf_reserve(out, bytes))
		return;
	base = out->data + out->len;
	memset(base, 0, bytes);
	odb_store_header(l, header, base);
	odb_store(l, base + l->header_bytes + l->size_at, size, 4);
	odb_store(l, base + l->header_bytes + l->used_at, used, 4);
	hash = base + begin + (size_t)size * l->node_bytes;
	for (size_t i = 0; i < nodes->nr; i++) {
		const struct odb_node *n = &nodes->at[i];
		uint8_t *node = base + begin + (i + 1) * l->node_bytes;
		uint8_t *slot = hash + (size_t)odb_hash(n->key, size) * l->index_bytes;

		odb_store(l, node + l->key_at, n->key, l->key_bytes);
		odb_store(l, node + l->value_at, n->value, 4);
		odb_store(l, node + l->next_at, odb_u32(l, slot), 4);
		odb_store(l, slot, i + 1, 4);
	}
	out->len += bytes;
}
