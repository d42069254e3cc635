/* SPDX-License-Identifier: GPL-2.0-or-later */
/* assembly_jumps.h - arrows from jumps to their targets, for a terminal.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/containers/vec.h"

struct assembly;
struct code;

enum {
	JUMP_LANES = 6 /* columns for arrows; a jump without a free lane has no arrow */
};

struct jump {
	size_t from; /* index of a row, like `to` */
	size_t to;
	unsigned int lane; /* 0 is next to the code */
};

struct assembly_jumps {
	VEC(struct jump) all;
	unsigned int nr_lanes;
};

/* Finds the jumps within the current rows.  Returns 0 or -ENOMEM. */
int assembly_jumps_find(struct assembly_jumps *j, struct assembly *s,
			struct code *code);
void assembly_jumps_done(struct assembly_jumps *j);
/* Writes the arrows before a row, nr_lanes * 2 columns. */
void assembly_jumps_put(FILE *out, const struct assembly_jumps *j, size_t row,
			bool utf8);
