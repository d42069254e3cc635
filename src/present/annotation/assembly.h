/* SPDX-License-Identifier: GPL-2.0-or-later */
/* assembly.h - lists the functions that have samples, and their instructions with counts.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct annotation;
struct code;

/* Samples at an address. */
struct assembly_hit {
	uint32_t function;
	uint64_t address;
	const uint64_t *counts;
};

struct assembly_function {
	uint32_t function; /* of the profile */
	uint32_t image;    /* of the profile */
	size_t first_hit;
	size_t nr_hits;
	const uint64_t *counts;
};

struct assembly_row {
	uint64_t address;
	uint64_t end;
	bool no_code; /* the bytes are unknown */
	bool apart;   /* there is omitted code between this row and the previous one */
	uint64_t *counts; /* NULL: no samples */
};

struct assembly {
	const struct annotation *a;
	VEC(struct assembly_hit) hits;           /* sorted by function and address */
	VEC(struct assembly_function) functions; /* most samples first */
	VEC(struct assembly_row) rows; /* from the last assembly_rows(), by address */
};

/* Builds the listing from an annotation, which must outlive it.  The profile needs the keys symbol
 * and address.  Returns 0, -ENOMEM, or -EINVAL if a key is missing.  Call assembly_done() in every
 * case. */
int assembly_make(struct assembly *s, const struct annotation *a);
void assembly_done(struct assembly *s);
/* Fills s->rows with the function's instructions.  An instruction gets the sum of the samples at
 * its bytes.  If `code` is NULL, there are rows only for addresses with samples.  Returns 0 or
 * -ENOMEM. */
int assembly_rows(struct assembly *s, const struct assembly_function *function,
		  struct code *code);
/* Returns the row of the instruction at `address`, or NULL. */
struct assembly_row *assembly_row_at(struct assembly *s, uint64_t address);
