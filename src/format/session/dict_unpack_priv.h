/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dict_unpack_priv.h - shared by the files that decode sections of a dict.
 * Layer: format, private to dict_unpack*.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict_block.h"

struct dict_unpacker {
	struct dict *d;
	struct dict_scratch *s;
	struct column_decoder *dec;
	struct cursor in; /* the section's columns */
	size_t first;
	size_t nr;
	bool holes;
};

/* Reads the next column. A column that an older writer did not know reads as zeros. Returns 0,
 * -EBADMSG or -ENOMEM. */
int dict_unpack_values(struct dict_unpacker *u, uint64_t *values, size_t nr);
bool dict_unpack_has_image(const struct dict *d, uint32_t image);
/* Returns true if a file of this length can contain this many more entries. */
bool dict_unpack_has_room(const struct dict_unpacker *u, uint64_t more);
bool dict_unpack_add_frame_hole(struct dict *d);
bool dict_unpack_add_stack_hole(struct dict *d);
/* Repairs a stack that refers to lost entries: if its frame is lost, it becomes a hole; if its
 * caller is lost, it becomes truncated. */
void dict_unpack_repair_stack(struct dict_unpacker *u, uint32_t number);
/* Decode sections of calls. They return 0, -EBADMSG or -ENOMEM. */
int dict_unpack_calls(struct dict_unpacker *u);
int dict_unpack_old_calls(struct dict_unpacker *u);
