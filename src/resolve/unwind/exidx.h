/* exidx.h - the frames of 32-bit ARM: .ARM.exidx has a word of unwinding instructions for each
 * function, or where they are in .ARM.extab.
 * Layer: resolve, for unwind/table.c.  Everything is borrowed from the sections' bytes.
 * They hold for the body of a function: nothing tells of its beginning and its end.
 * Source of the format: Exception Handling ABI for the Arm Architecture (IHI 0038), sections 6
 * (index table), 7 (entries) and 10.3 (instructions). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_state;

struct exidx_section {
	const uint8_t *bytes; /* NULL: there is none */
	size_t len;
	uint64_t vaddr;
};

struct exidx {
	struct exidx_section index;
	struct exidx_section extra; /* .ARM.extab */
	bool swap;
	uint64_t entry; /* where the program begins: there stacks end; 0: unknown */
};

size_t exidx_nr(const struct exidx *x);
/* Where the i-th entry begins, and its length: up to the next one.  False: it is not in
 * order. */
bool exidx_function(const struct exidx *x, size_t i, uint64_t *ret_start,
		    uint64_t *ret_bytes);
/* What holds in it.  .base is UNWIND_NONE where that is not known. */
void exidx_state(const struct exidx *x, size_t i, struct cfi_state *ret_state);
