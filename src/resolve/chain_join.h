/* chain_join.h - the chain of a sample whose user callers the CPU kept in its branch stack
 * (--call-graph lbr).
 * Layer: resolve. */
#pragma once
#include "decode/record.h"

struct buf;

/* How the callers are put into the chain. */
enum chain_form {
	CHAIN_OF_RETURNS, /* as others: return addresses behind the sample's own address */
	CHAIN_AS_PERF     /* where the calls are; first, where the last one led to */
};

/* Where the attr has PERF_SAMPLE_BRANCH_CALL_STACK and the sample has a user part: replaces
 * that by what is in the branch stack.  The new chain is in `room`, as long as that is not
 * touched.  With CHAIN_OF_RETURNS a word that is no address follows a stack which is as deep
 * as CPUs keep them.  0 or -ENOMEM. */
int chain_join_branches(const struct decoder *d, enum chain_form form, struct buf *room,
			struct record *rec);
