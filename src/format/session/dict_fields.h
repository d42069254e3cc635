/* dict_fields.h - the integer fields of the dict's tables, in the order in which their
 * columns lie in a block.  New fields go at the end of a table: an old reader skips them,
 * a new one gives them 0 where an old file has none.
 * Layer: format, private to dict_pack and dict_unpack. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict_block.h"

/* What is written in a column in place of the field itself. */
enum field_code {
	FIELD_PLAIN,
	FIELD_AFTER_PREVIOUS, /* less the same field of the entry before (0 at first) */
	FIELD_AFTER_OTHER     /* less an earlier field of the same entry */
};

struct dict_field {
	size_t at;    /* offset in the struct */
	size_t bytes; /* 4: sign-extended (DICT_NONE is -1), or 8 */
	enum field_code code;
	size_t other; /* FIELD_AFTER_OTHER: offset of the other, which has 4 bytes */
};

struct dict_fields {
	size_t entry_bytes;
	const struct dict_field *at;
	size_t nr; /* 0: strings, frames and stacks, which have codes of their own */
};

extern const struct dict_fields dict_fields[DICT_TABLE_COUNT];

/* The column of a field of `nr` entries, and back. */
void dict_field_get(const struct dict_fields *f, const struct dict_field *field,
		    const void *entries, size_t nr, uint64_t *ret_values);
void dict_field_set(const struct dict_fields *f, const struct dict_field *field,
		    void *entries, size_t nr, const uint64_t *values);
