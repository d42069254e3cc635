/* SPDX-License-Identifier: GPL-2.0-or-later */
/* times.h - finds the code of a JIT compiler at an address, at a given time.
 * Layer: resolve. Built once, then read-only. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "format/jit/jitdump.h"

struct jit_time {
	uint64_t start;
	uint64_t time_ns;
	uint64_t end;
	uint64_t top;  /* the maximum end of all code that starts here or before */
	uint32_t code; /* index of the code; JITDUMP_NO_CODE: it was unloaded */
	uint32_t order;
};

struct jit_times {
	struct jit_time *at; /* by start, then time, then order in the file */
	size_t nr;
};

/* Computes which code was loaded at which time, with `shift_ns` added to the times of the dump.
 * Returns 0 or -ENOMEM; the caller calls jit_times_done() in both cases. */
int jit_times_make(struct jit_times *t, const struct jitdump *dump, int64_t shift_ns);
void jit_times_done(struct jit_times *t);

/* The code at an address in the time span [from_ns, to_ns). */
struct jit_found {
	uint32_t code;   /* index of the code; JITDUMP_NO_CODE: unknown */
	uint64_t offset; /* relative to its first byte */
	uint64_t from_ns;
	uint64_t to_ns;
};
/* Returns the code that was loaded last at `address` before `time_ns`. If all code there was
 * loaded later, returns the first, because some compilers record code when it already runs. Code
 * is completely replaced if other code is loaded at the same start. */
struct jit_found jit_times_find(const struct jit_times *t, uint64_t address,
				uint64_t time_ns);
