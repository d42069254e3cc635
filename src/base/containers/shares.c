/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/shares.h"

#include <errno.h>

void shares_done(struct shares *s)
{
	vec_done(&s->users);
	s->total = 0;
}

/* Returns the entry of a user, or NULL if the user has no share. */
static struct user_share *shares_find(const struct shares *s, uint32_t user)
{
	for (size_t i = 0; i < s->users.nr; i++)
		if (s->users.at[i].user == user)
			return &s->users.at[i];
	return NULL;
}

int shares_add(struct shares *s, uint32_t user, uint64_t amount)
{
	struct user_share *share = shares_find(s, user);

	if (!amount)
		return 0;
	if (share)
		share->amount += amount;
	else if (!vec_push(&s->users, (struct user_share){ user, amount }))
		return -ENOMEM;
	s->total += amount;
	return 0;
}

void shares_remove(struct shares *s, uint32_t user, uint64_t amount)
{
	struct user_share *share = shares_find(s, user);

	if (!share)
		return;
	s->total -= amount;
	share->amount -= amount;
	if (!share->amount)
		*share = s->users.at[--s->users.nr];
}

uint64_t shares_of(const struct shares *s, uint32_t user)
{
	const struct user_share *share = shares_find(s, user);

	return share ? share->amount : 0;
}

uint32_t shares_giver(const struct shares *s, uint32_t user, uint64_t amount)
{
	struct user_share most = { user, shares_of(s, user) + amount };

	for (size_t i = 0; i < s->users.nr; i++)
		if (s->users.at[i].amount > most.amount)
			most = s->users.at[i];
	return most.user;
}
