/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bare.h - finds the caller of x86-64 and i386 code without unwind information, such as functions
 * in assembly, and whole libraries that were compiled without it.
 * Layer: resolve. Not thread-safe.
 *
 * The instructions from the program counter to a return show where the return address is, and
 * which registers are restored. The result counts only if the instruction before that address is a
 * call whose target leads to the program counter, or whose target is unknown: an indirect call, or
 * a call of a PLT entry. So no caller is guessed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BARE_SAVED = 6 /* registers that a function preserves */
};

/* An address relative to a register at the program counter. */
enum bare_base {
	BARE_UNKNOWN,
	BARE_SP,
	BARE_FP
};
struct bare_place {
	uint8_t base; /* enum bare_base */
	int32_t offset;
};

/* How to find the caller of a location. */
struct bare_caller {
	struct bare_place return_address;
	struct bare_place
		saved[BARE_SAVED]; /* BARE_UNKNOWN: the register keeps its value */
	uint32_t popped; /* bytes that the return removes after the return address */
};

struct unwind_bare;
/* Returns the slot (arch.h) of a preserved register, or UNWIND_NO_REG: i386 has fewer. */
uint8_t unwind_bare_slot(bool is_i386, unsigned int saved);
struct unwind_bare_ops {
	/* Reads code at an address of the process. Returns the number of bytes. */
	size_t (*code)(void *ctx, uint64_t address, uint8_t *ret_bytes, size_t len);
	void *ctx;
	bool is_i386;
};

int unwind_bare_new(struct unwind_bare **ret_bare); /* 0 or -ENOMEM */
void unwind_bare_free(struct unwind_bare *b);       /* accepts NULL */
/* Sets *ret to the candidates for the caller of the code at `pc`, valid until the next call, and
 * returns their number, at most BARE_CALLERS. `space` identifies the address space, in which the
 * code does not change. */
enum {
	BARE_CALLERS = 3
};
size_t unwind_bare_callers(struct unwind_bare *b, const struct unwind_bare_ops *ops,
			   uint64_t space, uint64_t pc, const struct bare_caller **ret);
/* Returns whether `address`, the word at way->return_address, is the return address of a call that
 * can have led to `pc`. */
bool unwind_bare_is_call(struct unwind_bare *b, const struct unwind_bare_ops *ops,
			 uint64_t space, uint64_t pc, const struct bare_caller *way,
			 uint64_t address);
/* For functions that do not return, in which no return instruction can be found. Returns whether
 * there is a direct call before `address`, and the code that it calls leads to `pc` with the
 * return address exactly `depth` bytes above the stack pointer. If the call leads into another
 * library, checks instead the code of functions that seem to begin near `pc`. */
bool unwind_bare_is_entered(struct unwind_bare *b, const struct unwind_bare_ops *ops,
			    uint64_t space, uint64_t pc, uint64_t address,
			    int64_t depth);
