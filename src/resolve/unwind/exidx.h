/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exidx.h - unwind information of 32-bit ARM: for each function, .ARM.exidx contains a word of
 * instructions, or their location in .ARM.extab.
 * Layer: resolve, for unwind/table.c. All data is borrowed from the sections' bytes.
 * The instructions are valid in the body of a function; there is no information about its
 * prologue and epilogue.
 * Source of the format: Exception Handling ABI for the Arm Architecture (IHI 0038), sections 6
 * (index table), 7 (entries) and 10.3 (instructions). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_state;

struct exidx_section {
	const uint8_t *bytes; /* NULL: no such section */
	size_t len;
	uint64_t vaddr;
};

struct exidx {
	struct exidx_section index;
	struct exidx_section extra; /* .ARM.extab */
	bool swap;
	uint64_t entry; /* entry point of the program, where stacks end; 0: unknown */
};

size_t exidx_nr(const struct exidx *x);
/* Sets *ret_start to the start of the i-th entry's function, and *ret_bytes to its length: up to
 * the next entry, except for the last entry and the program's entry point, whose lengths are
 * assumed. Returns false if the entries are not sorted. */
bool exidx_function(const struct exidx *x, size_t i, uint64_t *ret_start,
		    uint64_t *ret_bytes);
/* Sets *ret_state to the state that the i-th entry describes; .base is UNWIND_NONE if the entry
 * cannot be decoded. */
void exidx_state(const struct exidx *x, size_t i, struct cfi_state *ret_state);
