/* assembly.h - functions that have samples, and their instructions: what listings of code are
 * made of.
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
	bool no_code;     /* the bytes are not known */
	bool apart;       /* something is left out in front of it */
	uint64_t *counts; /* NULL: no samples */
};

struct assembly {
	const struct annotation *a;
	VEC(struct assembly_hit) hits;           /* by function and address */
	VEC(struct assembly_function) functions; /* the most samples first */
	VEC(struct assembly_row) rows; /* of the last assembly_rows(), by address */
};

/* From an annotation, which outlives it; its profile has the keys symbol and address.  0 or
 * -ENOMEM (-EINVAL: a key is not there).  assembly_done() in any case. */
int assembly_make(struct assembly *s, const struct annotation *a);
void assembly_done(struct assembly *s);
/* Fills s->rows with the function's instructions; those at whose bytes there are samples have
 * their sum.  `code` NULL: only the addresses of samples.  0 or -ENOMEM. */
int assembly_rows(struct assembly *s, const struct assembly_function *function,
		  struct code *code);
/* The row of an instruction at `address`, or NULL. */
struct assembly_row *assembly_row_at(struct assembly *s, uint64_t address);
