/* sframe.h - .sframe: for each function rows that say where the frame, the return address and the
 * caller's frame pointer are, and no more.
 * Layer: resolve, for unwind/table.c.  Everything is borrowed from the section's bytes.
 * Versions 1 to 3, of x86-64 and AArch64.
 * Source of the format: "The SFrame Format", documents of binutils 2.40 (version 1), 2.41 (2) and
 * 2.46 (3). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/unwind/cfi_rows.h"

struct sframe {
	const uint8_t *bytes;
	size_t len;
	uint64_t vaddr; /* of bytes[0] */
	const struct unwind_arch *arch;
	bool swap;
	uint8_t version;
	bool from_field; /* functions' addresses count from where they are written */
	int8_t fixed_fp; /* of the CFA; 0: rows say where it is */
	int8_t fixed_return;
	uint32_t nr; /* functions */
	size_t functions;
	size_t rows;
};

struct sframe_function {
	uint64_t start; /* link-time address */
	uint32_t bytes;
	uint32_t nr_rows;
	size_t rows; /* place of the first one */
	uint8_t info;
	uint8_t repeat; /* bytes after which the rows begin again; 0: they do not */
	bool is_flexible;
};

/* False: it is none, or of a machine or a version that is not known. */
bool sframe_open(struct sframe *s, const struct unwind_arch *arch, const void *bytes,
		 size_t len, uint64_t vaddr, bool swap);
bool sframe_function(const struct sframe *s, uint32_t i, struct sframe_function *ret);
bool sframe_is_signal(const struct sframe_function *f);
/* Calls `fn` for each row.  0, what `fn` returned, or -EBADMSG: the rest is not known. */
int sframe_run(const struct sframe *s, const struct sframe_function *f, cfi_row_fn fn,
	       void *ctx);
