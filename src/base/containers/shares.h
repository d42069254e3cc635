/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shares.h - how much of a shared resource each user holds.
 * Layer: base. When the resource is short, the user with the largest amount loses some of it. So
 * no user can take from another one who holds less. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct user_share {
	uint32_t user;
	uint64_t amount;
};

struct shares {
	VEC(struct user_share) users; /* users with a nonzero amount */
	uint64_t total;
};

void shares_done(struct shares *s);
/* Adds to the amount of a user. Returns 0, or -ENOMEM without changing anything. */
int shares_add(struct shares *s, uint32_t user, uint64_t amount);
/* Subtracts an amount that was added before. */
void shares_remove(struct shares *s, uint32_t user, uint64_t amount);
uint64_t shares_of(const struct shares *s, uint32_t user);
/* Returns the user who must release something so that `user` can get `amount` more: the one who
 * would have the largest amount then; in case of a tie, `user`. */
uint32_t shares_giver(const struct shares *s, uint32_t user, uint64_t amount);
