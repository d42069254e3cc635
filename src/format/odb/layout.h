/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout.h - the offsets of the fields in an OProfile sample file; they depend on the machine and
 * the version of OProfile that wrote the file.
 * Layer: format. docs/oprofile-trees.md describes the file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

enum {
	ODB_VERSION_09 = 0x12, /* OProfile 0.9 */
	ODB_VERSION = 0x13,    /* OProfile 1.x */
	ODB_MAGIC_BYTES = 4,
	ODB_HEADER_MIN =
		8 /* magic and version, which are at the start in every layout */
};

/* The fields of the header that follow its version. */
enum odb_field {
	ODB_CPU_TYPE,
	ODB_CTR_EVENT,
	ODB_CTR_UM,
	ODB_CTR_COUNT,
	ODB_IS_KERNEL,
	ODB_CPU_SPEED,
	ODB_MTIME,
	ODB_CG_TO_IS_KERNEL,
	ODB_ANON_START,
	ODB_CG_TO_ANON_START,
	ODB_FIELDS
};

struct odb_layout {
	bool big_endian;
	uint32_t header_bytes;
	uint32_t field_at[ODB_FIELDS];
	/* The header is followed by the description of the table, the nodes, and the hash table. */
	uint32_t descr_bytes;
	uint32_t size_at;
	uint32_t used_at;
	uint32_t node_bytes;
	uint32_t key_at;
	uint32_t key_bytes; /* 4 or 8 */
	uint32_t value_at;
	uint32_t next_at;
	uint32_t index_bytes; /* size of an entry of the hash table */
};

/* Returns whether the file begins like a sample file. If so, stores its byte order and version. */
bool odb_recognise(const uint8_t *bytes, size_t len, bool *ret_big_endian,
		   uint32_t *ret_version);
/* Returns the layout of 64-bit machines (`wide`) or of i386, which aligns 8-byte fields to 4
 * bytes. `version` is one of the above. */
struct odb_layout odb_layout_of(uint32_t version, bool wide, bool big_endian);
bool odb_layout_equals(const struct odb_layout *a, const struct odb_layout *b);
/* Finds the layout that agrees with the size of the file: `given` (NULL: none) or else one of the
 * known layouts. Returns 0, or -EBADMSG with a message in *err. */
int odb_layout_find(const uint8_t *bytes, size_t len, const struct odb_layout *given,
		    struct odb_layout *ret_layout, struct err *err);
/* Parses an `abi` file.  Returns 0, or -EBADMSG with a message in *err if a line is malformed or
 * missing. */
int odb_abi_parse(const char *text, size_t len, struct odb_layout *ret_layout,
		  struct err *err);
/* Appends the text of the `abi` file for a layout. */
void odb_abi_put(const struct odb_layout *layout, struct buf *out);
