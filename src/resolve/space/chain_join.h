/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chain_join.h - chains of samples whose user callers are elsewhere: in the CPU's branch stack
 * (--call-graph lbr), or in a record that the kernel writes when the thread returns to user space
 * (attr.defer_callchain, Linux 6.19).
 * Layer: resolve. */
#pragma once
#include "base/buf.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "decode/record.h"

/* How the callers are put into the chain. */
enum chain_form {
	CHAIN_OF_RETURNS, /* as others: return addresses behind the sample's own address */
	CHAIN_AS_PERF     /* where the calls are; first, where the last one led to */
};

/* Whether a sample's chain can have a part elsewhere: false for nearly all, which need not be looked at. */
static inline bool chain_may_be_apart(const struct decoder *d,
				      const struct record_sample *s)
{
	return s->nr_chain &&
	       (s->has & PERF_SAMPLE_BRANCH_STACK ||
		(s->nr_chain > 1 &&
		 chain_mark_of(decoder_chain_at(d, s, s->nr_chain - 2)) ==
			 CHAIN_USER_DEFERRED));
}

/* Where the attr has PERF_SAMPLE_BRANCH_CALL_STACK and the sample has a user part: replaces
 * that by what is in the branch stack.  The new chain is in `room`, as long as that is not
 * touched.  With CHAIN_OF_RETURNS a word that is no address follows a stack which is as deep
 * as CPUs keep them.  0 or -ENOMEM. */
int chain_join_branches(const struct decoder *d, enum chain_form form, struct buf *room,
			struct record *rec);

/* User parts that came in a span of time. */
struct deferred_span {
	struct map by_cookie; /* (cookie, tid) -> index */
	VEC(struct deferred_chain {
		size_t at; /* in `words` */
		uint64_t nr;
	})
	list;
	struct buf words; /* in the data's byte order */
	uint64_t newest_ns;
};
/* Those that came so far, less what is old. */
struct deferred_chains {
	struct deferred_span now, before;
};

/* Copies what a CALLCHAIN_DEFERRED record says.  0 or -ENOMEM. */
int deferred_chains_add(struct deferred_chains *c, const struct record *rec);
/* No sample from now on asks for a record that is older: some of them are dropped. */
void deferred_chains_forget(struct deferred_chains *c, uint64_t time_ns);
void deferred_chains_done(struct deferred_chains *c);
/* Where the sample's chain ends with a cookie: puts the user part there, as chain_join_branches()
 * does.  1: it is not known yet, nothing is changed; with `last` (it will not come) the chain ends where
 * the sample is, with a word that is no address as above. */
int chain_join_deferred(const struct deferred_chains *c, const struct decoder *d,
			enum chain_form form, bool last, struct buf *room,
			struct record *rec);
