#include "daemon/allowance.h"

enum {
	AT_ONCE_NS = 20000000, /* hundreds of small requests, or a handful of dumps */
	OWED_MAX_NS = 6000000,
	SHARE = 500 /* one part in so many of time */
};

void allowance_begin(struct allowance *a, uint64_t now_ns)
{
	*a = (struct allowance){ .left_ns = AT_ONCE_NS, .at_ns = now_ns };
}

static void earn(struct allowance *a, uint64_t now_ns)
{
	uint64_t earned = now_ns > a->at_ns ? (now_ns - a->at_ns) / SHARE : 0;

	/* What is left of the division is not lost. */
	a->at_ns += earned * SHARE;
	if (earned > AT_ONCE_NS + OWED_MAX_NS)
		earned = AT_ONCE_NS + OWED_MAX_NS;
	a->left_ns += (int64_t)earned;
	if (a->left_ns > AT_ONCE_NS)
		a->left_ns = AT_ONCE_NS;
}

uint64_t allowance_spend(struct allowance *a, uint64_t now_ns, uint64_t spent_ns)
{
	const uint64_t most = AT_ONCE_NS + OWED_MAX_NS;

	earn(a, now_ns);
	a->left_ns -= (int64_t)(spent_ns < most ? spent_ns : most);
	if (a->left_ns < -OWED_MAX_NS)
		a->left_ns = -OWED_MAX_NS;
	return a->left_ns < 0 ? (uint64_t)-a->left_ns * SHARE : 0;
}
