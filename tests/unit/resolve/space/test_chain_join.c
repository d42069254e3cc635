/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the address of a precise event the innermost one of its chain, in both byte orders. */
#include "unit.h"

#include <string.h>

#include "base/array.h"
#include "resolve/space/chain_join.h"

#define KERNEL_AT UINT64_C(0xffffffff81000100)

enum {
	CODE = 0x400100,
	CALLER = 0x700800,
	WORDS_MAX = 8
};

struct precise_case {
	uint64_t ip;
	uint16_t misc;
	uint64_t chain[WORDS_MAX], expected[WORDS_MAX]; /* both end with a 0 */
};

static size_t count_words(const uint64_t *words)
{
	size_t nr = 0;

	while (nr < WORDS_MAX && words[nr])
		nr++;
	return nr;
}

static void put_words(const uint64_t *words, size_t nr, bool swap, uint64_t *ret_raw)
{
	for (size_t i = 0; i < nr; i++)
		ret_raw[i] = swap ? __builtin_bswap64(words[i]) : words[i];
}

/* With `inside`, the chain is in `room` already, as after chain_join_branches(). */
static void check_case(const struct precise_case *c, bool swap, bool inside)
{
	struct decoder d;
	struct buf room = { 0 };
	uint64_t raw[WORDS_MAX];
	size_t nr = count_words(c->chain);
	struct record rec = { .misc = c->misc,
			      .sample = { .ip.v = c->ip, .nr_chain = nr } };

	decoder_init(&d, swap);
	put_words(c->chain, nr, swap, raw);
	rec.sample.chain = (const uint8_t *)raw;
	buf_put(&room, inside ? (const void *)raw : "old contents",
		inside ? nr * sizeof(*raw) : 12);
	if (inside)
		rec.sample.chain = room.data;
	assert_int_equal(chain_join_place(&d, &room, &rec), 0);
	assert_int_equal(rec.sample.nr_chain, count_words(c->expected));
	for (size_t i = 0; i < rec.sample.nr_chain; i++)
		assert_int_equal(decoder_chain_at(&d, &rec.sample, i), c->expected[i]);
	buf_done(&room);
	decoder_done(&d);
}

static const struct precise_case cases[] = {
	/* the same address, or no address at all: unchanged */
	{ CODE,
	  PERF_RECORD_MISC_USER,
	  { PERF_CONTEXT_USER, CODE, CALLER },
	  { PERF_CONTEXT_USER, CODE, CALLER } },
	{ CODE, PERF_RECORD_MISC_USER, { PERF_CONTEXT_USER }, { PERF_CONTEXT_USER } },
	{ CODE, PERF_RECORD_MISC_USER, { 0 }, { 0 } },
	/* some instructions later, also without a marker */
	{ CODE,
	  PERF_RECORD_MISC_USER,
	  { PERF_CONTEXT_USER, CODE + 8, CALLER },
	  { PERF_CONTEXT_USER, CODE, CALLER } },
	{ CODE, PERF_RECORD_MISC_USER, { CODE + 8 }, { CODE } },
	/* in a function that it called, or elsewhere */
	{ CODE,
	  PERF_RECORD_MISC_USER,
	  { PERF_CONTEXT_USER, CODE + 100, CODE + 5 },
	  { PERF_CONTEXT_USER, CODE, CODE + 100, CODE + 5 } },
	{ CODE,
	  PERF_RECORD_MISC_USER,
	  { PERF_CONTEXT_USER, 0x900000, CALLER },
	  { PERF_CONTEXT_USER, CODE, 0x900000, CALLER } },
	{ CODE,
	  PERF_RECORD_MISC_USER,
	  { 0x900000, CALLER },
	  { CODE, 0x900000, CALLER } },
	/* in another cpu mode */
	{ CODE,
	  PERF_RECORD_MISC_USER,
	  { PERF_CONTEXT_KERNEL, KERNEL_AT, PERF_CONTEXT_USER, CALLER },
	  { PERF_CONTEXT_USER, CODE, PERF_CONTEXT_KERNEL, KERNEL_AT, PERF_CONTEXT_USER,
	    CALLER } },
	{ KERNEL_AT,
	  PERF_RECORD_MISC_KERNEL,
	  { PERF_CONTEXT_USER, CALLER },
	  { PERF_CONTEXT_KERNEL, KERNEL_AT, PERF_CONTEXT_USER, CALLER } },
	/* an address that would be read as a marker */
	{ UINT64_MAX,
	  PERF_RECORD_MISC_USER,
	  { PERF_CONTEXT_USER, CODE },
	  { PERF_CONTEXT_USER, CODE } },
};

static void test_joins_at_the_right_position(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		for (int way = 0; way < 4; way++)
			check_case(&cases[i], way & 1, way & 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joins_at_the_right_position),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
