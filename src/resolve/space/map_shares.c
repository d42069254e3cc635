/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/space/map_shares.h"

#include "base/containers/shares.h"
#include "base/containers/vec.h"
#include "resolve/space/procs.h"
#include "resolve/space/space.h"

enum {
	/* Each round drops mappings of one user; rarely do more users than this hold so much. */
	ROUNDS_MAX = 16
};

struct map_holder {
	struct process *process;
	uint32_t user;
	size_t nr_mappings;
};

struct map_count {
	const struct map_shares *shares;
	struct shares by_user; /* bytes */
	VEC(struct map_holder) holders;
	uint64_t bytes; /* bytes of the process that is being counted */
};

static void map_count_add(void *ctx, const struct mapping *m)
{
	struct map_count *c = ctx;

	c->bytes += SPACE_NODE_BYTES + c->shares->image_bytes(c->shares->ctx, m->image);
}

/* Adds the bytes of the process's mappings to those of its user. Mappings that it shares with
 * processes that it forked count only for the first of them. Returns 0, or -1 if memory is
 * short. */
static int map_count_process(struct map_count *c, struct process *process)
{
	struct map_holder holder = { .process = process };

	c->bytes = 0;
	for (size_t i = 0; i < process->versions.nr; i++)
		space_visit(process->versions.at[i].root, map_count_add, c);
	holder.nr_mappings = space_count(process_newest(process)->root);
	if (!holder.nr_mappings && !c->bytes)
		return 0;
	holder.user = process_user(process, c->shares->user, c->shares->ctx);
	if (shares_add(&c->by_user, holder.user, c->bytes) ||
	    !vec_push(&c->holders, holder))
		return -1;
	return 0;
}

static void map_count_done(struct map_count *c)
{
	shares_done(&c->by_user);
	vec_done(&c->holders);
}

static int map_count_all(struct map_count *c, const struct procs *p)
{
	int r = 0;

	for (size_t i = 0; i < p->by_slot.nr; i++)
		for (struct process *q = p->by_slot.at[i]; q && !r; q = q->older)
			r = q->kernel ? 0 : map_count_process(c, q);
	for (size_t i = 0; i < p->by_slot.nr; i++)
		for (struct process *q = p->by_slot.at[i]; q; q = q->older)
			for (size_t k = 0; k < q->versions.nr; k++)
				space_end_visit(q->versions.at[k].root);
	return r;
}

/* Drops the mappings of the user's largest process and of those with at least half as many:
 * processes that it forked have about as many, and share them. */
static void take_largest(struct map_count *c, struct procs *p, uint32_t user)
{
	size_t largest = 0, nr = 0;

	for (size_t i = 0; i < c->holders.nr; i++)
		if (c->holders.at[i].user == user &&
		    c->holders.at[i].nr_mappings > largest)
			largest = c->holders.at[i].nr_mappings;
	for (size_t i = 0; i < c->holders.nr; i++) {
		const struct map_holder *h = &c->holders.at[i];

		if (h->user != user || h->nr_mappings < largest / 2)
			continue;
		procs_lose_maps(p, h->process);
		nr++;
	}
	if (nr && c->shares->on_lost)
		c->shares->on_lost(c->shares->ctx, user, nr);
}

/* Counts the bytes of all mappings. If they are more than `enough`, drops the mappings of the
 * largest processes of the user who holds the most. Returns the number of bytes that was
 * counted, or 0 if memory is short. */
static uint64_t map_shares_round(const struct map_shares *s, struct procs *p,
				 uint64_t enough)
{
	struct map_count count = { .shares = s };
	uint64_t bytes = 0;

	if (!map_count_all(&count, p)) {
		bytes = count.by_user.total;
		if (bytes > enough)
			take_largest(&count, p, shares_giver(&count.by_user, 0, 0));
	}
	map_count_done(&count);
	return bytes;
}

void map_shares_apply(struct map_shares *s, struct procs *p, uint64_t bytes)
{
	uint64_t enough = s->max_bytes, left;

	/* Counting is slow. After a count, do not count again until `bytes` has grown by an
	 * eighth of the limit. */
	if (bytes < s->checked)
		s->checked = bytes;
	if (!s->max_bytes || bytes <= s->max_bytes ||
	    bytes - s->checked < s->max_bytes / 8)
		return;
	for (int i = 0; i < ROUNDS_MAX; i++) {
		left = map_shares_round(s, p, enough);
		if (left <= enough)
			break;
		enough = s->max_bytes / 4 * 3;
	}
	s->checked = bytes;
}
