/* expr.h - evaluates the DWARF expressions of call frame information.
 * Layer: resolve, for unwind.c.
 * Source: DWARF 5, sections 2.5 and 6.4.2: no operations on objects, calls, or the frame's
 * own address but what is on the stack at the start. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_arch;

struct unwind_expr_env {
	const struct unwind_arch *arch;
	bool swap; /* of the expression's own numbers */
	const uint64_t *registers;
	uint64_t known; /* bit of a slot: its register has a value */
	/* `bytes` (1 to 8) of memory; false: not at hand. */
	bool (*read)(void *ctx, uint64_t address, unsigned int bytes,
		     uint64_t *ret_value);
	void *ctx;
};

/* 0, -ENODATA (a register or memory that is not at hand), -EBADMSG (no valid expression, or
 * one that does not end). */
int unwind_expr(const uint8_t *code, size_t len, const struct unwind_expr_env *env,
		bool has_first, uint64_t first, uint64_t *ret_value);
