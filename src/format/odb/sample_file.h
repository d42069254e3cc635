/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_file.h - reads and writes a sample file of OProfile: counts by offset in a binary, or by
 * pairs of offsets for calls.
 * Layer: format.  docs/oprofile-trees.md describes the file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "format/odb/layout.h"

struct buf;
struct err;

struct odb_header {
	uint32_t version;
	/* CPU type, numbered as in the OProfile version that wrote the file. */
	uint32_t cpu_type;
	uint32_t event; /* code of the event */
	uint32_t unit_mask;
	uint32_t count;
	bool is_kernel;
	bool cg_to_is_kernel; /* in a file of calls: the callee is in the kernel */
	double cpu_mhz;       /* 0: unknown */
	uint64_t mtime_s; /* modification time of the binary, since 1970; 0: unknown */
	uint64_t anon_start; /* address of anonymous memory; 0: a file */
	uint64_t cg_to_anon_start;
};

/* A sample file in memory, which the caller keeps. */
struct odb_file {
	struct odb_layout layout;
	struct odb_header header;
	const uint8_t *nodes; /* node 1 and the following ones; node 0 is not used */
	uint32_t nr_nodes;
	/* capacity of the table in nodes; the hash table has as many chains */
	uint32_t size;
};

/* The number of samples at an offset or, in a file of calls, the number of calls: then the high
 * 32 bits of `key` are the caller's offset and the low ones the callee's. */
struct odb_node {
	uint64_t key;
	uint32_t value;
};

/* Reads the header; `given` has the same meaning as for odb_layout_find(). Returns 0, or -EBADMSG
 * with a message. */
int odb_file_open(const uint8_t *bytes, size_t len, const struct odb_layout *given,
		  struct odb_file *ret_file, struct err *err);
/* Returns node i < file->nr_nodes.  Its value can be 0. */
struct odb_node odb_file_node(const struct odb_file *file, uint32_t i);

/* Walk through the hash table: return the first node of a chain, or the node after node i. The
 * result is the index of a node plus 1, or 0 at the end of the chain. It can be out of range in
 * a damaged file. */
uint32_t odb_file_chain(const struct odb_file *file,
			uint32_t slot); /* slot < file->size */
uint32_t odb_file_next(const struct odb_file *file,
		       uint32_t i); /* i < file->nr_nodes */
/* Returns the slot of the chain to which a key belongs. */
uint32_t odb_file_slot(const struct odb_file *file, uint64_t key);
/* Returns the length that the file should have, according to its header and the capacity of its
 * table. */
size_t odb_file_bytes(const struct odb_file *file);

typedef VEC(struct odb_node) odb_nodes;

/* Appends the bytes of a sample file with these nodes, whose keys must all differ. Sets
 * out->failed if memory is short. */
void odb_file_put(const struct odb_layout *layout, const struct odb_header *header,
		  const odb_nodes *nodes, struct buf *out);
