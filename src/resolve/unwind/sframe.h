/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sframe.h - reads .sframe: for each function, rows that locate the frame, the return address
 * and the caller's frame pointer.
 * Layer: resolve, for unwind/table.c. All data is borrowed from the section's bytes. Supports
 * versions 1 to 3, for x86-64 and AArch64.
 * Source of the format: "The SFrame Format", documents of binutils 2.40 (version 1), 2.41 (2)
 * and 2.46 (3). */
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
	bool from_field; /* addresses of functions are relative to their own field */
	int8_t fixed_fp; /* relative to the CFA; 0: in the rows */
	int8_t fixed_return;
	uint32_t nr; /* number of functions */
	size_t functions;
	size_t rows;
};

struct sframe_function {
	uint64_t start; /* link-time address */
	uint32_t bytes;
	uint32_t nr_rows;
	size_t rows; /* offset of the first row */
	uint8_t info;
	uint8_t repeat; /* the rows repeat after this many bytes; 0: no repetition */
	bool is_flexible;
};

/* Opens the section in `bytes`, which are borrowed. Returns false if it is malformed, or the
 * machine or version is not supported. */
bool sframe_open(struct sframe *s, const struct unwind_arch *arch, const void *bytes,
		 size_t len, uint64_t vaddr, bool swap);
bool sframe_function(const struct sframe *s, uint32_t i, struct sframe_function *ret);
bool sframe_is_signal(const struct sframe_function *f);
/* Calls `fn` for each row. Returns 0, the result of `fn`, or -EBADMSG if the remaining rows
 * cannot be decoded. */
int sframe_run(const struct sframe *s, const struct sframe_function *f, cfi_row_fn fn,
	       void *ctx);
