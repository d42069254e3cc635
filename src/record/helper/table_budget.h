/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_budget.h - limits the CPU time for unwind tables of users' binaries. Each user has a
 * budget, and all users share another one. So if a binary is costly to read, its owner gets no
 * further tables for a while, but no samples of other users are lost.
 * Layer: record. Any thread may call; times are CLOCK_MONOTONIC, or supplied by a test. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct table_budget;

/* Creates the budget for a machine with `nr_cpus` CPUs.  Returns 0 or -ENOMEM. */
int table_budget_new(unsigned int nr_cpus, uint64_t now_ns,
		     struct table_budget **ret_budget);
/* Returns whether a table may be built that is charged to `account` (table_account.h).  If not,
 * counts the refusal, and logs it once until the budget has recovered. */
bool table_budget_allows(struct table_budget *b, uint64_t account, uint64_t now_ns);
/* Charges CPU time that was spent on a table. */
void table_budget_spend(struct table_budget *b, uint64_t account, uint64_t now_ns,
			uint64_t spent_ns);
/* Returns the CPU time charged to users' accounts so far. */
uint64_t table_budget_spent_ns(struct table_budget *b);
/* Returns the number of tables refused so far. */
uint64_t table_budget_refused(struct table_budget *b);
void table_budget_free(struct table_budget *b); /* NULL is allowed */
