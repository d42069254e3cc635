/* shares.h - how much each user has of something that all share.
 * Layer: base.  Where there is no room for more, the user who has the most gives way: then none can
 * take from another who has less. */
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
/* Of what was added. */
void shares_remove(struct shares *s, uint32_t user, uint64_t amount);
uint64_t shares_of(const struct shares *s, uint32_t user);
/* Who has to give way for `amount` more of `user`: the one who has the most then, at equal amounts
 * `user`.  It is `user` also if nobody has anything. */
uint32_t shares_giver(const struct shares *s, uint32_t user, uint64_t amount);
