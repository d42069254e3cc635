/* dict_unpack_priv.h - what the files that unpack sections of a dict share.
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

/* The next column.  One that an older writer did not know is all 0.  0, -EBADMSG or -ENOMEM. */
int dict_unpack_values(struct dict_unpacker *u, uint64_t *values, size_t nr);
bool dict_unpack_has_image(const struct dict *d, uint32_t image);
/* Whether so many entries more are believed of a file as long as this. */
bool dict_unpack_has_room(const struct dict_unpacker *u, uint64_t more);
bool dict_unpack_add_frame_hole(struct dict *d);
bool dict_unpack_add_stack_hole(struct dict *d);
/* A stack without its frame is a hole, one without its caller ends as truncated. */
void dict_unpack_mend_stack(struct dict_unpacker *u, uint32_t number);
/* Sections of calls.  0, -EBADMSG or -ENOMEM. */
int dict_unpack_calls(struct dict_unpacker *u);
int dict_unpack_old_calls(struct dict_unpacker *u);
