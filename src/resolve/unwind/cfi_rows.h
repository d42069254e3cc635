/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cfi_rows.h - runs the programs of call frame information, which compute the unwind rules at
 * each address of a function.
 * Layer: resolve, for unwind/table.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/unwind/cfi.h"
#include "resolve/unwind/table.h"

/* The rule of a register. CFI_SAME: the caller's value is the frame's value. */
enum {
	CFI_SAME = 0xff
};
struct cfi_register {
	uint8_t how; /* enum unwind_how, or CFI_SAME */
	uint16_t code_len;
	int32_t value; /* for expressions: offset in the section */
};

struct cfi_state {
	uint8_t base; /* enum unwind_base */
	uint8_t reg;
	uint16_t code_len;
	int32_t offset; /* or the offset of the expression */
	struct cfi_register registers[UNWIND_REGS];
};

/* Called for each address range of a function with one state, in the order of addresses. A
 * result other than 0 ends the run and is returned. */
typedef int (*cfi_row_fn)(void *ctx, uint64_t start, const struct cfi_state *state);

/* Runs the program of `fde`. Returns 0, the result of `fn`, or -EBADMSG if the rest of the
 * function cannot be decoded. */
int cfi_run(const struct unwind_arch *arch, const struct cfi_walk *walk,
	    const struct cfi_fde *fde, cfi_row_fn fn, void *ctx);
