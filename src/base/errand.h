/* SPDX-License-Identifier: GPL-2.0-or-later */
/* errand.h - calls that may not come back: a file may lie where a server does not answer, and so may
 * memory of a process that maps it.  A thread makes them, and is left where it hangs.
 * Layer: base.  For one thread of a process; the errands' own run beside it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum errand_kind {
	ERRAND_FILE,
	ERRAND_MEMORY,
	ERRAND_KINDS
};

/* Begins what a call is about, allocated with all that it needs. */
struct errand {
	enum errand_kind kind;
	uint64_t
		about; /* what would hang, such as a device: nothing else about it is begun then */
	void (*run)(struct errand *e);
	/* Frees it and what came of it, when nobody waits any more; by the thread. */
	void (*drop)(struct errand *e);
};

/* Has `e` run, and waits for its end, up to `patience_ns`.
 * 0: it has ended, and is the caller's as before.
 * -ETIMEDOUT: it goes on, and is not the caller's any more.
 * -EBUSY: one that is about the same has not come back, or too many of its kind have not;
 * -ENOMEM, -EAGAIN: there is no thread.  It was not begun, and is the caller's. */
int errand_run(struct errand *e, uint64_t patience_ns);
/* How many have not come back. */
unsigned int errand_nr_away(void);
