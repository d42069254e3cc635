/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_budget.h - CPU time for unwind tables of users' binaries.  Each user has a budget, and all users
 * together have one: a costly binary costs its owner tables, not everybody samples.
 * Layer: record.  Any thread may call; times are CLOCK_MONOTONIC, or a test's. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct table_budget;

/* For a machine with so many CPUs.  0 or -ENOMEM. */
int table_budget_new(unsigned int nr_cpus, uint64_t now_ns,
		     struct table_budget **ret_budget);
/* Whether a table may be made that `account` pays for (table_account.h).  False: not before the budget has
 * recovered; it is counted, and logged once until then. */
bool table_budget_allows(struct table_budget *b, uint64_t account, uint64_t now_ns);
/* So much CPU time was spent on it. */
void table_budget_spend(struct table_budget *b, uint64_t account, uint64_t now_ns,
			uint64_t spent_ns);
/* CPU time so far that users' accounts paid for. */
uint64_t table_budget_spent_ns(struct table_budget *b);
/* Tables so far that were not made. */
uint64_t table_budget_refused(struct table_budget *b);
void table_budget_free(struct table_budget *b); /* NULL is fine */
