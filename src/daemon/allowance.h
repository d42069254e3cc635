/* allowance.h - CPU time that others may have of this process: so much at once, and a share of time.
 * Layer: daemon. */
#pragma once
#include <stdint.h>

struct allowance {
	int64_t left_ns; /* below 0: owed */
	uint64_t at_ns;
};

/* All of it, at `now_ns`. */
void allowance_begin(struct allowance *a, uint64_t now_ns);
/* `spent_ns` of CPU time went.  For how long nothing more is to be spent from `now_ns` on, at most some
 * seconds: who had one large thing does not wait for ever; 0: there is some left. */
uint64_t allowance_spend(struct allowance *a, uint64_t now_ns, uint64_t spent_ns);
