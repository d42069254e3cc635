/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shares.h - how much each user has of something that all share.
 * Layer: base.  When room is short, the user with the largest amount gives some up, so that no
 * user can take from another who has less. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct user_share {
	uint32_t user;
	uint64_t amount;
};

struct shares {
	VEC(struct user_share) users; /* each with an amount that is not 0 */
	uint64_t total;
};

void shares_done(struct shares *s);
/* 0 or -ENOMEM: then nothing is changed. */
int shares_add(struct shares *s, uint32_t user, uint64_t amount);
/* Subtracts from what was added. */
void shares_remove(struct shares *s, uint32_t user, uint64_t amount);
uint64_t shares_of(const struct shares *s, uint32_t user);
/* The user who has to give up something for `amount` more of `user`: the one with the largest
 * amount then.  At equal amounts, and if no user has anything, it is `user`. */
uint32_t shares_giver(const struct shares *s, uint32_t user, uint64_t amount);
