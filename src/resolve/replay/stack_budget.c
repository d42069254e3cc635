/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/replay/stack_budget.h"

#include "base/clock.h"

void stack_budget_done(struct stack_budget *b)
{
	vec_done(&b->accounts);
	*b = (struct stack_budget){ 0 };
}

static int64_t stack_budget_max(const struct stack_budget *b)
{
	return (int64_t)(STACK_BUDGET_SECONDS * STACK_BUDGET_PER_SAMPLE * b->rate_hz);
}

/* Returns the account of a user, which is created if necessary; NULL if the user has no limit, or
 * memory is short. */
static struct stack_account *stack_budget_account(struct stack_budget *b, uint32_t user)
{
	const struct stack_account first = { .user = user,
					     .left = stack_budget_max(b) };

	if (!b->rate_hz || !user)
		return NULL;
	if (b->last < b->accounts.nr && b->accounts.at[b->last].user == user)
		return &b->accounts.at[b->last];
	for (b->last = 0; b->last < b->accounts.nr; b->last++)
		if (b->accounts.at[b->last].user == user)
			return &b->accounts.at[b->last];
	return vec_push(&b->accounts, first) ? &b->accounts.at[b->last] : NULL;
}

static void stack_budget_refill(const struct stack_budget *b, struct stack_account *a,
				uint64_t now_ns)
{
	uint64_t ns = now_ns > a->updated_ns ? now_ns - a->updated_ns : 0;
	int64_t most = stack_budget_max(b);
	double more =
		(double)ns / NS_PER_S * STACK_BUDGET_PER_SAMPLE * (double)b->rate_hz;

	/* Returns if the time did not advance: samples of different CPUs are only roughly in
	 * order. */
	if (!ns)
		return;
	a->updated_ns = now_ns;
	a->left = more >= (double)(most - a->left) ? most : a->left + (int64_t)more;
}

uint32_t stack_budget_frames(struct stack_budget *b, uint32_t user, uint64_t now_ns,
			     uint32_t max)
{
	struct stack_account *a = stack_budget_account(b, user);

	if (!a || max <= STACK_BUDGET_FRAMES)
		return max;
	stack_budget_refill(b, a, now_ns);
	if (a->left > 0)
		return max;
	if (!a->nr_cut++ && b->on_cut)
		b->on_cut(b->ctx, user);
	return STACK_BUDGET_FRAMES;
}

void stack_budget_spend(struct stack_budget *b, uint32_t user, uint64_t cost)
{
	struct stack_account *a = stack_budget_account(b, user);

	if (a)
		a->left -= (int64_t)cost;
}
