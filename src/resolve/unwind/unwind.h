/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unwind.h - computes a call stack from the registers and the stack memory of a sample.
 * Layer: resolve. Thread-safe; no state is kept between stacks. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/unwind/arch.h"

struct unwind_bare;
struct unwind_bare_ops;
struct unwind_table;

/* Why a stack ends. */
enum unwind_end {
	UNWIND_END_ROOT,    /* complete: the first frame of its thread */
	UNWIND_END_NO_RULE, /* code without unwind information */
	UNWIND_END_SHORT,   /* the rest is after the end of the copied part */
	UNWIND_END_MEMORY,  /* the rules lead to an address outside of the stack */
	UNWIND_END_ADDRESS, /* a return address that is not in code */
	UNWIND_END_LIMIT,   /* `max` frames were found, and there are more */
	UNWIND_ENDS
};
/* Returns a text such as "no unwind information". */
const char *unwind_end_text(enum unwind_end end);

struct unwind_regs {
	uint64_t at[UNWIND_REGS]; /* by slot */
	uint64_t known;           /* bit mask of slots: they have values */
	uint64_t pc;
};

/* The copied part of a stack, from the stack pointer up. */
struct unwind_window {
	const uint8_t *bytes;
	size_t len;
	uint64_t start; /* address of bytes[0] */
	bool swap;      /* the byte order differs from this machine's */
};

/* The result of looking up an address. */
enum unwind_code {
	UNWIND_CODE_NOWHERE, /* not executable */
	UNWIND_CODE_WITHOUT, /* code without a table */
	UNWIND_CODE_WITH_TABLE
};

struct unwind_ops {
	enum unwind_code (*find)(void *ctx, uint64_t pc,
				 const struct unwind_table **ret_table,
				 uint64_t *ret_offset);
	/* Reads a word of memory outside the window; may be NULL. Returns false if it is not
	 * available. */
	bool (*read)(void *ctx, uint64_t address, unsigned int bytes,
		     uint64_t *ret_value);
	/* Returns the object that finds callers in code without rules (bare.h), or NULL if there
	 * is none. Also sets *ret_code to the function that reads the code, and *ret_space to
	 * the number of the address space. Called for x86-64, i386 and AArch64 only; may be
	 * NULL. */
	struct unwind_bare *(*bare)(void *ctx, struct unwind_bare_ops *ret_code,
				    uint64_t *ret_space);
	void *ctx;
};

struct record_regs;
struct decoder;

/* Gets the registers of a sample. Returns false if the program counter or the stack pointer is
 * missing. */
bool unwind_regs_of_sample(const struct unwind_arch *arch, const struct decoder *d,
			   const struct record_regs *sample,
			   struct unwind_regs *ret_regs);
struct unwind_moment {
	const struct unwind_arch *arch;
	const struct unwind_window *window;
	const struct unwind_ops *ops;
	struct unwind_regs *regs; /* modified */
	/* Counter to which the operations of DWARF expressions are added; NULL: not counted. */
	uint64_t *nr_steps;
};

/* Stores the program counters of all frames in `pcs`, innermost first. The first is regs->pc.
 * The others are return addresses, so the byte before each belongs to its frame; for a frame
 * interrupted by a signal, the stored value is its address plus 1. Stores at most `max`;
 * *ret_nr are valid whatever the result is. */
enum unwind_end unwind_stack(const struct unwind_moment *m, uint64_t *pcs, size_t max,
			     size_t *ret_nr);

/* Like unwind_stack(), for several stacks. Their memory accesses overlap, because the tables of
 * binaries and the stacks are rarely in the CPU's caches. */
enum {
	UNWIND_TOGETHER = 8 /* maximum number of stacks */
};
struct unwind_job {
	struct unwind_moment moment;
	uint64_t *pcs;
	size_t max;
	size_t nr; /* this and `end` are results */
	enum unwind_end end;
};
void unwind_stacks(struct unwind_job *jobs, size_t nr);
