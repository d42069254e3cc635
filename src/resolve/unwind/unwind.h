/* unwind.h - from the registers and the stack of one moment to the whole call stack.
 * Layer: resolve.  Any thread; nothing is kept between two stacks. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/unwind/arch.h"

struct unwind_table;

/* Why a stack ends where it ends. */
enum unwind_end {
	UNWIND_END_ROOT,    /* whole: the first frame of its thread */
	UNWIND_END_NO_RULE, /* code that says nothing about its frames */
	UNWIND_END_SHORT,   /* the rest lies behind the end of what was copied */
	UNWIND_END_MEMORY,  /* the rules lead elsewhere than to the stack */
	UNWIND_END_ADDRESS, /* a return address where no code is */
	UNWIND_END_LIMIT,   /* as many frames as were asked for, and there are more */
	UNWIND_ENDS
};
/* "no unwind information" ... */
const char *unwind_end_text(enum unwind_end end);

struct unwind_regs {
	uint64_t at[UNWIND_REGS]; /* by slot */
	uint64_t known;           /* bit of a slot: it has a value */
	uint64_t pc;
};

/* The part of a stack that was copied, from the stack pointer up. */
struct unwind_window {
	const uint8_t *bytes;
	size_t len;
	uint64_t start; /* address of bytes[0] */
	bool swap;      /* of the other byte order than this machine */
};

/* What is at an address. */
enum unwind_code {
	UNWIND_CODE_NOWHERE, /* nothing that could be executed */
	UNWIND_CODE_WITHOUT, /* code of which no table is there */
	UNWIND_CODE_WITH_TABLE
};

struct unwind_ops {
	enum unwind_code (*find)(void *ctx, uint64_t pc,
				 const struct unwind_table **ret_table,
				 uint64_t *ret_offset);
	/* A word of memory outside the window; or NULL.  False: not at hand. */
	bool (*read)(void *ctx, uint64_t address, unsigned int bytes,
		     uint64_t *ret_value);
	void *ctx;
};

struct record_regs;
struct decoder;

/* The registers that a sample has.  False: the program counter or the stack pointer is not
 * among them. */
bool unwind_regs_of_sample(const struct unwind_arch *arch, const struct decoder *d,
			   const struct record_regs *sample,
			   struct unwind_regs *ret_regs);
struct unwind_moment {
	const struct unwind_arch *arch;
	const struct unwind_window *window;
	const struct unwind_ops *ops;
	struct unwind_regs *regs; /* are changed */
};

/* Puts the program counters of all frames, innermost first, into `pcs`: the first is
 * regs->pc, the others are return addresses, so that the byte before each is its frame's; of
 * what a signal interrupted it is the address behind its first byte.  At most `max`; *ret_nr of
 * them are there whatever the end is. */
enum unwind_end unwind_stack(const struct unwind_moment *m, uint64_t *pcs, size_t max,
			     size_t *ret_nr);

/* The same for several stacks, which wait for memory together: the tables of binaries and the
 * stacks themselves are seldom in the CPU's caches. */
enum {
	UNWIND_TOGETHER = 8 /* at most */
};
struct unwind_job {
	struct unwind_moment moment;
	uint64_t *pcs;
	size_t max;
	size_t nr; /* this and `end` are filled in */
	enum unwind_end end;
};
void unwind_stacks(struct unwind_job *jobs, size_t nr);
