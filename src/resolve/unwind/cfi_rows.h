/* cfi_rows.h - runs the programs of call frame information: what holds where in a function.
 * Layer: resolve, for unwind/table.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/unwind/cfi.h"
#include "resolve/unwind/table.h"

/* What is known of a register.  CFI_SAME: the caller's value is the frame's own. */
enum {
	CFI_SAME = 0xff
};
struct cfi_register {
	uint8_t how; /* enum unwind_how, or CFI_SAME */
	uint16_t code_len;
	int32_t value; /* of expressions: where they are in the section */
};

struct cfi_state {
	uint8_t base; /* enum unwind_base */
	uint8_t reg;
	uint16_t code_len;
	int32_t offset; /* or where the expression is */
	struct cfi_register registers[UNWIND_REGS];
};

/* Called for each span of a function with one state, in the order of addresses.  Not 0 ends
 * the run and is returned. */
typedef int (*cfi_row_fn)(void *ctx, uint64_t start, const struct cfi_state *state);

/* Runs the program of `fde`.  0; what `fn` returned; or -EBADMSG: the rest of the function
 * is not known. */
int cfi_run(const struct unwind_arch *arch, const struct cfi_walk *walk,
	    const struct cfi_fde *fde, cfi_row_fn fn, void *ctx);
