/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chain_join.h - completes the chains of samples: with user callers that are stored in the CPU's
 * branch stack (--call-graph lbr), or in a record that the kernel writes when the thread returns
 * to user space (attr.defer_callchain, Linux 6.19); and with the address of a precise event.
 * Layer: resolve. */
#pragma once
#include "base/buf.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "decode/record.h"

/* The form in which callers are added to the chain. */
enum chain_form {
	/* Like other chains: return addresses after the sample's address. */
	CHAIN_OF_RETURNS,
	/* Addresses of the calls; before them, the target of the last call. */
	CHAIN_AS_PERF
};

/* Returns whether a part of a sample's chain can be stored elsewhere. This is false for nearly
 * all samples. */
static inline bool chain_may_be_apart(const struct decoder *d,
				      const struct record_sample *s)
{
	return s->nr_chain &&
	       (s->has & PERF_SAMPLE_BRANCH_STACK ||
		(s->nr_chain > 1 &&
		 chain_mark_of(decoder_chain_at(d, s, s->nr_chain - 2)) ==
			 CHAIN_USER_DEFERRED));
}

/* If the attr has PERF_SAMPLE_BRANCH_CALL_STACK and the sample has a user part, replaces that
 * part with the callers in the branch stack. The new chain is in `room`, and is valid until that
 * buffer changes. If the stack fills the CPU's branch stack, callers can be missing: with
 * CHAIN_OF_RETURNS, an invalid address then follows the last caller. Returns 0 or -ENOMEM. */
int chain_join_branches(const struct decoder *d, enum chain_form form, struct buf *room,
			struct record *rec);

/* Returns whether `first`, the address at which the thread was interrupted, is probably a later
 * instruction of the function that contains `ip`, the sample's address: the two are near each
 * other. Returns false if `ip` is nearer to the return address `second` (0: none), because then
 * the instruction at `ip` probably called the interrupted function. */
bool chain_is_skid(uint64_t ip, uint64_t first, uint64_t second);
/* Makes the sample's address the innermost one of its chain. A precise event (PEBS, IBS) reports
 * the instruction that caused it, but the kernel walks the stack from the later instruction at
 * which the interrupt arrived. If that is in the same function (chain_is_skid()), the sample's
 * address replaces the first one of the chain. If it is elsewhere, even in another cpu mode, the
 * sample's address is added before the chain, as if it was called from there. The new chain is
 * in `room`, which can already contain the sample's chain. Returns 0 or -ENOMEM. */
int chain_join_place(const struct decoder *d, struct buf *room, struct record *rec);

/* User parts received in one time span. */
struct deferred_span {
	struct map by_cookie; /* (cookie, tid) -> index */
	VEC(struct deferred_chain {
		size_t at; /* offset in `words` */
		uint64_t nr;
	})
	list;
	struct buf words; /* in the data's byte order */
	uint64_t newest_ns;
};
/* The user parts received so far, without old ones. */
struct deferred_chains {
	struct deferred_span now, before;
};

/* Copies the user part of a CALLCHAIN_DEFERRED record. Returns 0 or -ENOMEM. */
int deferred_chains_add(struct deferred_chains *c, const struct record *rec);
/* Drops some of the older user parts: later samples do not need records before `time_ns`. */
void deferred_chains_forget(struct deferred_chains *c, uint64_t time_ns);
void deferred_chains_done(struct deferred_chains *c);
/* If the sample's chain ends with a cookie, replaces the cookie with the user part that was
 * received for it. Returns 0; 1 if the user part has not been received yet, and the chain is
 * unchanged; or -ENOMEM. With `last`, no further user parts will be received: instead of
 * returning 1, ends the chain with the sample's address, if it is a user address, and (with
 * CHAIN_OF_RETURNS) an invalid address. */
int chain_join_deferred(const struct deferred_chains *c, const struct decoder *d,
			enum chain_form form, bool last, struct buf *room,
			struct record *rec);
