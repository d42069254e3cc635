/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/helper/table_budget.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/containers/vec.h"
#include "base/log.h"
#include "record/helper/allowance.h"
#include "record/helper/table_account.h"

enum {
	/* All users together get half a percent of the time of all CPUs. */
	ALL_PART = 200,
	ALL_PART_MIN = 10,
	ACCOUNTS_MAX = 256 /* further users share one account */
};

/* A burst of one second of CPU time, enough for dozens of large programs, then 0.2 s per minute.
 * One table costs at most 4 s: two attempts of two seconds. */
static const struct allowance_rule user_rule = { .at_once_ns = NS_PER_S,
						 .owed_max_ns = 4 * NS_PER_S,
						 .part = 300 };

struct table_user {
	uint64_t account;
	struct allowance allowance;
	bool is_logged; /* already logged that the budget is spent */
};

struct table_budget {
	pthread_mutex_t lock; /* protects all fields below */
	struct allowance_rule all_rule;
	struct table_user all;
	struct table_user rest; /* users without a separate account */
	VEC(struct table_user) users;
	uint64_t spent_ns;
	uint64_t nr_refused;
};

int table_budget_new(unsigned int nr_cpus, uint64_t now_ns,
		     struct table_budget **ret_budget)
{
	struct table_budget *b = calloc(1, sizeof(*b));
	unsigned int part = ALL_PART / (nr_cpus ? nr_cpus : 1);

	if (!b)
		return -ENOMEM;
	pthread_mutex_init(&b->lock, NULL);
	b->all_rule = user_rule;
	b->all_rule.at_once_ns *= 4;
	b->all_rule.part = part > ALL_PART_MIN ? part : ALL_PART_MIN;
	allowance_begin(&b->all.allowance, &b->all_rule, now_ns);
	allowance_begin(&b->rest.allowance, &user_rule, now_ns);
	*ret_budget = b;
	return 0;
}

/* Drops users with a full allowance: a user who is not listed starts with the same allowance. */
static void forget_full(struct table_budget *b, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->users.nr; i++)
		if (!allowance_is_full(&b->users.at[i].allowance, now_ns))
			b->users.at[kept++] = b->users.at[i];
	b->users.nr = kept;
}

static struct table_user *table_budget_find_user(struct table_budget *b,
						 uint64_t account, uint64_t now_ns)
{
	struct table_user user = { .account = account };

	for (size_t i = 0; i < b->users.nr; i++)
		if (b->users.at[i].account == account)
			return &b->users.at[i];
	if (b->users.nr == ACCOUNTS_MAX)
		forget_full(b, now_ns);
	allowance_begin(&user.allowance, &user_rule, now_ns);
	if (b->users.nr == ACCOUNTS_MAX || !vec_push(&b->users, user))
		return &b->rest;
	return &b->users.at[b->users.nr - 1];
}

/* Returns whether some allowance is left. Logs it if not, but only once until the budget has been
 * full again. */
static bool has_left(struct table_user *user, uint64_t now_ns)
{
	if (allowance_is_full(&user->allowance, now_ns))
		user->is_logged = false;
	return !allowance_spend(&user->allowance, now_ns, 0);
}

static void log_spent(const struct table_budget *b, struct table_user *user)
{
	char whose[64];
	uid_t uid;

	if (user->is_logged)
		return;
	user->is_logged = true;
	if (user == &b->all)
		snprintf(whose, sizeof(whose), "all users together");
	else if (user != &b->rest && table_account_uid(user->account, &uid))
		snprintf(whose, sizeof(whose), "user id %u", uid);
	else
		snprintf(whose, sizeof(whose), "subordinate user ids");
	log_say(LOG_WARNING,
		"unwind tables for binaries of %s: "
		"CPU time used up; falling back to frame pointers in more of these binaries until it recovers",
		whose);
}

bool table_budget_allows(struct table_budget *b, uint64_t account, uint64_t now_ns)
{
	struct table_user *user;

	if (account == TABLE_ACCOUNT_SYSTEM)
		return true;
	pthread_mutex_lock(&b->lock);
	user = table_budget_find_user(b, account, now_ns);
	if (has_left(user, now_ns))
		user = has_left(&b->all, now_ns) ? NULL : &b->all;
	if (user) {
		b->nr_refused++;
		log_spent(b, user);
	}
	pthread_mutex_unlock(&b->lock);
	return !user;
}

void table_budget_spend(struct table_budget *b, uint64_t account, uint64_t now_ns,
			uint64_t spent_ns)
{
	if (account == TABLE_ACCOUNT_SYSTEM)
		return;
	pthread_mutex_lock(&b->lock);
	(void)allowance_spend(&table_budget_find_user(b, account, now_ns)->allowance,
			      now_ns, spent_ns);
	(void)allowance_spend(&b->all.allowance, now_ns, spent_ns);
	b->spent_ns += spent_ns;
	pthread_mutex_unlock(&b->lock);
}

uint64_t table_budget_spent_ns(struct table_budget *b)
{
	uint64_t spent_ns;

	pthread_mutex_lock(&b->lock);
	spent_ns = b->spent_ns;
	pthread_mutex_unlock(&b->lock);
	return spent_ns;
}

uint64_t table_budget_refused(struct table_budget *b)
{
	uint64_t nr;

	pthread_mutex_lock(&b->lock);
	nr = b->nr_refused;
	pthread_mutex_unlock(&b->lock);
	return nr;
}

void table_budget_free(struct table_budget *b)
{
	if (!b)
		return;
	pthread_mutex_destroy(&b->lock);
	vec_done(&b->users);
	free(b);
}
