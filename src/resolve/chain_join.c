#include "resolve/chain_join.h"

#include <errno.h>

#include "base/buf.h"

/* In the data's byte order, as chains are. */
static void put_word(const struct decoder *d, struct buf *out, uint64_t word)
{
	word = d->swap ? __builtin_bswap64(word) : word;
	buf_put(out, &word, sizeof(word));
}

/* Entries that CPUs have for it: there, the callers further up are gone. */
static bool is_full(uint64_t nr)
{
	return nr == 8 || nr == 16 || nr >= 32;
}

/* Where in user space the sample is.  The branch stack knows only the begin of that function. */
static uint64_t user_address(const struct decoder *d, const struct record *rec,
			     uint64_t user_at)
{
	const struct record_sample *s = &rec->sample;
	uint64_t word;

	if ((rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER)
		return s->ip.v;
	if (user_at + 1 < s->nr_chain) {
		word = decoder_chain_at(d, s, user_at + 1);
		if (chain_mark_of(word) == CHAIN_ADDRESS)
			return word;
	}
	return decoder_branch_at(d, s, 0).to;
}

/* The words up to the user's marker; nr_chain: there is none. */
static uint64_t find_user(const struct decoder *d, const struct record_sample *s)
{
	uint64_t i = 0;

	while (i < s->nr_chain &&
	       chain_mark_of(decoder_chain_at(d, s, i)) != CHAIN_USER)
		i++;
	return i;
}

/* The order is that of resolve_lbr_callchain_sample(), tools/perf/util/machine.c. */
int chain_join_branches(const struct decoder *d, enum chain_form form, struct buf *room,
			struct record *rec)
{
	const struct perf_event_attr *a = &d->attrs.at[rec->id.event];
	struct record_sample *s = &rec->sample;
	bool perf = form == CHAIN_AS_PERF;
	uint64_t user;

	if (!s->nr_chain || !(a->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) ||
	    !(s->has & PERF_SAMPLE_BRANCH_STACK) || !s->nr_branches)
		return 0;
	user = find_user(d, s);
	if (user == s->nr_chain)
		return 0;
	buf_clear(room);
	buf_put(room, s->chain, (user + 1) * sizeof(uint64_t));
	put_word(d, room,
		 perf ? decoder_branch_at(d, s, 0).to : user_address(d, rec, user));
	for (uint64_t i = 0; i < s->nr_branches; i++)
		put_word(d, room, decoder_branch_at(d, s, i).from + !perf);
	if (!perf && is_full(s->nr_branches))
		put_word(d, room, UINT64_MAX);
	if (room->failed)
		return -ENOMEM;
	s->chain = room->data;
	s->nr_chain = room->len / sizeof(uint64_t);
	return 0;
}
