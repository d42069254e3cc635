/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stack_budget.h - limits what the stacks of each user cost a recorder of all users: CPU time for
 * unwinding, and memory and disk for stacks that were not seen before.
 * Layer: resolve. The budget of a user grows with the time of the samples. While it is used up,
 * the user's stacks are cut after a few frames, so that the recorder keeps up with other users. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct stack_account {
	uint32_t user;
	int64_t left;
	uint64_t updated_ns;
	uint64_t nr_cut; /* stacks that were cut */
};

struct stack_budget {
	uint64_t rate_hz; /* samples per second of all CPUs; 0: no limit */
	VEC(struct stack_account) accounts;
	uint32_t last; /* account that was used last */
	/* Called when a stack of a user is cut for the first time. May be NULL. */
	void (*on_cut)(void *ctx, uint32_t user);
	void *ctx;
};

enum {
	/* Costs, in units of about 30 ns: a frame that is unwound or looked up; a new frame or
	 * stack, which also needs memory and disk for as long as the recording exists. */
	STACK_BUDGET_STEP = 4,
	STACK_BUDGET_NEW = 50,
	STACK_BUDGET_OPS = 8, /* operations of DWARF expressions per unit */
	STACK_BUDGET_PER_SAMPLE =
		500, /* earned with the time of each sample of the recording */
	/* The initial and maximum budget of a user: the earnings of this many seconds. */
	STACK_BUDGET_SECONDS = 40,
	/* Frames of a stack when the budget is used up. */
	STACK_BUDGET_FRAMES = 4
};

/* Returns false if stacks cost nothing: only recorders of all users limit them. */
static inline bool stack_budget_has_limit(const struct stack_budget *b)
{
	return b->rate_hz;
}
void stack_budget_done(struct stack_budget *b);
/* Returns how many frames the next stack of `user` may have: `max`, or a few if the budget is used
 * up. Root has no budget. */
uint32_t stack_budget_frames(struct stack_budget *b, uint32_t user, uint64_t now_ns,
			     uint32_t max);
/* Charges a cost, in the units above, to the user. */
void stack_budget_spend(struct stack_budget *b, uint32_t user, uint64_t cost);
