/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dict_fields.h - the integer fields of the dict's tables, in the order of their columns in a
 * block. Add new fields at the end of a table: old readers skip them, and new readers set them
 * to 0 if an old file lacks them.
 * Layer: format, private to dict_pack and dict_unpack. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict_block.h"

/* How a column stores a field. */
enum field_code {
	FIELD_PLAIN,
	/* as its difference from the same field of the previous entry (for the first entry, from
	 * 0) */
	FIELD_AFTER_PREVIOUS,
	FIELD_AFTER_OTHER /* as its difference from an earlier field of the same entry */
};

struct dict_field {
	size_t at;    /* offset in the struct */
	size_t bytes; /* 4 (sign-extended: DICT_NONE is -1) or 8 */
	enum field_code code;
	size_t other; /* FIELD_AFTER_OTHER: offset of the other field, which has 4 bytes */
};

struct dict_fields {
	size_t entry_bytes;
	const struct dict_field *at;
	size_t nr; /* 0 for strings, frames and stacks, which are encoded differently */
};

extern const struct dict_fields dict_fields[DICT_TABLE_COUNT];

/* dict_field_get() copies a field of `nr` entries to a column, dict_field_set() a column to the
 * field. */
void dict_field_get(const struct dict_fields *f, const struct dict_field *field,
		    const void *entries, size_t nr, uint64_t *ret_values);
void dict_field_set(const struct dict_fields *f, const struct dict_field *field,
		    void *entries, size_t nr, const uint64_t *values);
