/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/space/chain_join.h"

#include <errno.h>
#include <string.h>

enum {
	SPAN_MIN = 4096, /* number of chains that are always kept */
	SKID_MAX_BYTES =
		512,        /* distance of two instructions of one function, at most */
	PLACE_MAX_WORDS = 2 /* a marker and an address */
};

/* Appends a word in the data's byte order, like the other words of chains. */
static void chain_join_put_word(const struct decoder *d, struct buf *out, uint64_t word)
{
	word = d->swap ? __builtin_bswap64(word) : word;
	buf_put(out, &word, sizeof(word));
}

/* Returns whether a branch stack has the size of a CPU's: then callers can be missing. */
static bool is_full(uint64_t nr)
{
	return nr == 8 || nr == 16 || nr >= 32;
}

/* Returns the sample's address in user space. The branch stack contains only the start of that
 * function. */
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

/* Returns the index of the user marker; nr_chain: none. */
static uint64_t chain_join_find_user(const struct decoder *d,
				     const struct record_sample *s)
{
	uint64_t i = 0;

	while (i < s->nr_chain &&
	       chain_mark_of(decoder_chain_at(d, s, i)) != CHAIN_USER)
		i++;
	return i;
}

static int take_room(const struct buf *room, struct record_sample *s)
{
	if (room->failed)
		return -ENOMEM;
	s->chain = room->data;
	s->nr_chain = room->len / sizeof(uint64_t);
	return 0;
}

/* Replaces the user part of a chain with the branch stack. The order of the new chain is that of
 * resolve_lbr_callchain_sample() in tools/perf/util/machine.c. */
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
	user = chain_join_find_user(d, s);
	if (user == s->nr_chain)
		return 0;
	buf_clear(room);
	buf_put(room, s->chain, (user + 1) * sizeof(uint64_t));
	chain_join_put_word(d, room,
			    perf ? decoder_branch_at(d, s, 0).to
				 : user_address(d, rec, user));
	for (uint64_t i = 0; i < s->nr_branches; i++)
		chain_join_put_word(d, room, decoder_branch_at(d, s, i).from + !perf);
	if (!perf && is_full(s->nr_branches))
		chain_join_put_word(d, room, UINT64_MAX);
	return take_room(room, s);
}

int deferred_chains_add(struct deferred_chains *c, const struct record *rec)
{
	const struct record_callchain_deferred *from = &rec->deferred;
	struct deferred_span *s = &c->now;
	const struct deferred_chain chain = { s->words.len, from->nr };

	if (!from->chain || !from->nr || s->list.nr >= UINT32_MAX - 1)
		return 0;
	buf_put(&s->words, from->chain, from->nr * sizeof(uint64_t));
	if (s->words.failed || !vec_push(&s->list, chain))
		return -ENOMEM;
	if (s->newest_ns < rec->id.time_ns)
		s->newest_ns = rec->id.time_ns;
	return map_set(&s->by_cookie, from->cookie, (uint32_t)rec->id.tid,
		       (uint32_t)s->list.nr - 1);
}

static void span_done(struct deferred_span *s)
{
	map_done(&s->by_cookie);
	vec_done(&s->list);
	buf_done(&s->words);
	*s = (struct deferred_span){ 0 };
}

void deferred_chains_forget(struct deferred_chains *c, uint64_t time_ns)
{
	if (c->now.list.nr < SPAN_MIN || c->before.newest_ns >= time_ns)
		return;
	span_done(&c->before);
	c->before = c->now;
	c->now = (struct deferred_span){ 0 };
}

void deferred_chains_done(struct deferred_chains *c)
{
	span_done(&c->now);
	span_done(&c->before);
}

static const uint8_t *find_deferred(const struct deferred_span *s, uint64_t cookie,
				    int32_t tid, uint64_t *ret_nr)
{
	uint32_t index = map_get(&s->by_cookie, cookie, (uint32_t)tid);

	if (index == MAP_NONE)
		return NULL;
	*ret_nr = s->list.at[index].nr;
	return s->words.data + s->list.at[index].at;
}

/* Stores that the callers are unknown: the sample's address, if it is a user address, and an
 * invalid address at which the stack ends. */
static void chain_join_put_unknown(const struct decoder *d, enum chain_form form,
				   const struct record *rec, struct buf *room)
{
	if ((rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER) {
		chain_join_put_word(d, room, PERF_CONTEXT_USER);
		chain_join_put_word(d, room, rec->sample.ip.v);
	}
	if (form == CHAIN_OF_RETURNS)
		chain_join_put_word(d, room, UINT64_MAX);
}

/* Like sample__merge_deferred_callchain(), tools/perf/util/callchain.c: marker and cookie are
 * the last words, and the user part contains its own marker. */
int chain_join_deferred(const struct deferred_chains *c, const struct decoder *d,
			enum chain_form form, bool last, struct buf *room,
			struct record *rec)
{
	struct record_sample *s = &rec->sample;
	const uint8_t *words;
	uint64_t cookie, nr;

	if (s->nr_chain < 2 || chain_mark_of(decoder_chain_at(d, s, s->nr_chain - 2)) !=
				       CHAIN_USER_DEFERRED)
		return 0;
	cookie = decoder_chain_at(d, s, s->nr_chain - 1);
	words = find_deferred(&c->now, cookie, rec->id.tid, &nr);
	if (!words)
		words = find_deferred(&c->before, cookie, rec->id.tid, &nr);
	if (!words && !last)
		return 1;
	buf_clear(room);
	buf_put(room, s->chain, (s->nr_chain - 2) * sizeof(uint64_t));
	if (words)
		buf_put(room, words, nr * sizeof(uint64_t));
	else
		chain_join_put_unknown(d, form, rec, room);
	return take_room(room, s);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

bool chain_is_skid(uint64_t ip, uint64_t first, uint64_t second)
{
	uint64_t skid = distance(ip, first);

	return skid <= SKID_MAX_BYTES && (!second || skid <= distance(ip, second));
}

/* Returns the marker of a sample's cpu mode; 0 if it has none. */
static uint64_t marker_of_mode(uint16_t misc)
{
	static const int64_t markers[PERF_RECORD_MISC_CPUMODE_MASK + 1] = {
		[PERF_RECORD_MISC_KERNEL] = (int64_t)PERF_CONTEXT_KERNEL,
		[PERF_RECORD_MISC_USER] = (int64_t)PERF_CONTEXT_USER,
		[PERF_RECORD_MISC_HYPERVISOR] = (int64_t)PERF_CONTEXT_HV,
		[PERF_RECORD_MISC_GUEST_KERNEL] = (int64_t)PERF_CONTEXT_GUEST_KERNEL,
		[PERF_RECORD_MISC_GUEST_USER] = (int64_t)PERF_CONTEXT_GUEST_USER,
	};

	return (uint64_t)markers[misc & PERF_RECORD_MISC_CPUMODE_MASK];
}

/* The beginning of a chain. */
struct chain_head {
	uint64_t first; /* index of the first address; nr_chain: only markers */
	/* Marker before the first address; 0: the address has the sample's cpu mode. */
	uint64_t marker;
};

static struct chain_head look_at_head(const struct decoder *d,
				      const struct record_sample *s)
{
	struct chain_head head = { 0 };

	for (; head.first < s->nr_chain; head.first++) {
		uint64_t word = decoder_chain_at(d, s, head.first);

		if (chain_mark_of(word) == CHAIN_ADDRESS)
			break;
		head.marker = word;
	}
	return head;
}

/* Returns the second address, or 0 if a marker or the end follows the first one. */
static uint64_t second_address(const struct decoder *d, const struct record_sample *s,
			       uint64_t first)
{
	uint64_t word = first + 1 < s->nr_chain ? decoder_chain_at(d, s, first + 1) : 0;

	return chain_mark_of(word) == CHAIN_ADDRESS ? word : 0;
}

/* Replaces the first `dropped` words of the chain by the marker, unless it is 0, and the
 * sample's address. */
static int put_place(const struct decoder *d, struct buf *room, uint64_t marker,
		     uint64_t dropped, struct record_sample *s)
{
	uint64_t nr = s->nr_chain - dropped, place[PLACE_MAX_WORDS];
	size_t nr_place = 0, kept = nr * sizeof(uint64_t);
	bool inside = room->len && s->chain == room->data;

	if (marker)
		place[nr_place++] = marker;
	place[nr_place++] = s->ip.v;
	if (!inside)
		buf_clear(room);
	if (!buf_reserve(room, (s->nr_chain + PLACE_MAX_WORDS) * sizeof(uint64_t)))
		return -ENOMEM;
	memmove(room->data + nr_place * sizeof(uint64_t),
		(inside ? room->data : s->chain) + dropped * sizeof(uint64_t), kept);
	buf_clear(room);
	for (size_t i = 0; i < nr_place; i++)
		chain_join_put_word(d, room, place[i]);
	room->len += kept;
	return take_room(room, s);
}

int chain_join_place(const struct decoder *d, struct buf *room, struct record *rec)
{
	struct record_sample *s = &rec->sample;
	uint64_t marker = marker_of_mode(rec->misc), ip = s->ip.v, word;
	struct chain_head head = look_at_head(d, s);

	if (head.first == s->nr_chain || chain_mark_of(ip) != CHAIN_ADDRESS)
		return 0;
	word = decoder_chain_at(d, s, head.first);
	if (word == ip)
		return 0;
	if (head.marker && head.marker != marker)
		return put_place(d, room, marker, 0, s);
	return put_place(
		d, room, head.marker,
		head.first + chain_is_skid(ip, word, second_address(d, s, head.first)),
		s);
}
