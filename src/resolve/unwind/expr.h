/* SPDX-License-Identifier: GPL-2.0-or-later */
/* expr.h - evaluates the DWARF expressions of call frame information.
 * Layer: resolve, for unwind.c.
 * Source: DWARF 5, sections 2.5 and 6.4.2. There are no operations on objects and no calls; the
 * frame's address is available only if it is on the stack at the start. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_arch;

struct unwind_expr_env {
	const struct unwind_arch *arch;
	bool swap; /* the expression's numbers have the other byte order */
	const uint64_t *registers;
	uint64_t known; /* bit mask of slots: their registers have values */
	/* Reads `bytes` (1 to 8) of memory; returns false if they are not available. */
	bool (*read)(void *ctx, uint64_t address, unsigned int bytes,
		     uint64_t *ret_value);
	void *ctx;
	/* Number of operations that may still run; each operation decrements it. NULL: the limit
	 * is 1000 per expression. */
	uint32_t *steps_left;
};

/* Evaluates an expression; if `has_first`, `first` is on the stack at the start. Returns 0,
 * -ENODATA (a register or memory is not available), or -EBADMSG (invalid, or too many
 * operations). */
int unwind_expr(const uint8_t *code, size_t len, const struct unwind_expr_env *env,
		bool has_first, uint64_t first, uint64_t *ret_value);
