/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/helper/allowance.h"

void allowance_begin(struct allowance *a, const struct allowance_rule *rule,
		     uint64_t now_ns)
{
	*a = (struct allowance){ .rule = rule,
				 .left_ns = rule->at_once_ns,
				 .at_ns = now_ns };
}

static uint64_t most_ns(const struct allowance *a)
{
	return (uint64_t)a->rule->at_once_ns + a->rule->owed_max_ns;
}

static void earn(struct allowance *a, uint64_t now_ns)
{
	const int64_t full = a->rule->at_once_ns;
	uint64_t earned = now_ns > a->at_ns ? (now_ns - a->at_ns) / a->rule->part : 0;

	/* Advance only by the whole units earned, so that the remainder is not lost. */
	a->at_ns += earned * a->rule->part;
	if (earned > most_ns(a))
		earned = most_ns(a);
	a->left_ns += (int64_t)earned;
	if (a->left_ns > full)
		a->left_ns = full;
}

uint64_t allowance_spend(struct allowance *a, uint64_t now_ns, uint64_t spent_ns)
{
	const int64_t owed_max = a->rule->owed_max_ns;
	const uint64_t most = most_ns(a);

	earn(a, now_ns);
	a->left_ns -= (int64_t)(spent_ns < most ? spent_ns : most);
	if (a->left_ns < -owed_max)
		a->left_ns = -owed_max;
	return a->left_ns < 0 ? (uint64_t)-a->left_ns * a->rule->part : 0;
}

bool allowance_is_full(struct allowance *a, uint64_t now_ns)
{
	earn(a, now_ns);
	return a->left_ns == a->rule->at_once_ns;
}
