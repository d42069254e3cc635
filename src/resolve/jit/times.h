/* times.h - which code of a JIT compiler was at an address, at a moment.
 * Layer: resolve.  Built once, then read-only. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "format/jit/jitdump.h"

struct jit_time {
	uint64_t start;
	uint64_t time_ns;
	uint64_t end;
	uint64_t top;  /* no code that starts here or before ends behind it */
	uint32_t code; /* JITDUMP_NO_CODE: it was unloaded */
	uint32_t order;
};

struct jit_times {
	struct jit_time *at; /* by start, then time, then place in the file */
	size_t nr;
};

/* `shift_ns` is added to the times.  0 or -ENOMEM; jit_times_done() in any case. */
int jit_times_make(struct jit_times *t, const struct jitdump *dump, int64_t shift_ns);
void jit_times_done(struct jit_times *t);

/* What is at an address from `from_ns` to before `to_ns`. */
struct jit_found {
	uint32_t code;   /* JITDUMP_NO_CODE: nothing is known */
	uint64_t offset; /* from its first byte */
	uint64_t from_ns;
	uint64_t to_ns;
};
/* The code that was loaded there last at `time_ns`.  Before the first that was ever there, it is
 * that one: some compilers tell of their code when it runs already.  Code that another one
 * was loaded over at the same start is gone as a whole. */
struct jit_found jit_times_find(const struct jit_times *t, uint64_t address,
				uint64_t time_ns);
