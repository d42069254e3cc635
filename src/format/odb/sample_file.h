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
	const uint8_t *nodes; /* the nodes after the first one, which is not used */
	uint32_t nr_nodes;
	uint32_t size; /* room of the table, and number of its chains */
};

/* Offset and count; for calls, the high 32 bits are the caller's offset and the low ones the
 * callee's. */
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

/* The hash table. These return a node's number plus 1, which can be wrong in a damaged file; 0 is the
 * end of a chain. */
uint32_t odb_file_chain(const struct odb_file *file,
			uint32_t slot); /* slot < file->size */
uint32_t odb_file_next(const struct odb_file *file,
		       uint32_t i); /* i < file->nr_nodes */
/* Returns the slot of the chain to which a key belongs. */
uint32_t odb_file_slot(const struct odb_file *file, uint64_t key);
/* Returns the length of the file, which its header and the room of the table determine. */
size_t odb_file_bytes(const struct odb_file *file);

typedef VEC(struct odb_node) odb_nodes;

/* Appends the bytes of a sample file with these nodes, whose keys must all differ. Sets
 * out->failed if memory is short. */
void odb_file_put(const struct odb_layout *layout, const struct odb_header *header,
		  const odb_nodes *nodes, struct buf *out);
