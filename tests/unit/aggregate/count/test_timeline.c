/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares a timeline with plain sums. */
#include "aggregate/count/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "aggregate/count/tally.h"

#include "unit.h"

enum {
	ACTORS = 3,
	BUCKETS = 4,
	CPUS = 2,
	EVENTS = 2,
	POSITIONS = 3000, /* more positions than a span remembers */
	RUNS = 3000,
	RUN_MAX = 60,
	AGAIN = 1000000,
	/* Words: the location; the location with TIMELINE_MANY; the number of its samples. */
	WORDS_OF_ONE = 3,
	FEW_POSITIONS = 5,
	FOLD_AT = 300, /* several times */
	MANY_BUCKETS = 32
};

static uint32_t sums[ACTORS][BUCKETS][CPUS][EVENTS][POSITIONS];

static uint32_t roll(uint32_t sides)
{
	static uint64_t seed = 7;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % sides;
}

static uint64_t pair_b(uint32_t bucket, uint32_t cpu, uint32_t event)
{
	return (uint64_t)bucket << (TALLY_EVENT_BITS + TALLY_CPU_BITS) |
	       cpu << TALLY_EVENT_BITS | event;
}

/* Adds samples of one actor, moment, CPU and event, at random locations that are often equal. */
static void add_run(struct timeline *t)
{
	uint32_t actor = roll(ACTORS), bucket = roll(BUCKETS), cpu = roll(CPUS);
	uint32_t event = roll(EVENTS), nr = roll(RUN_MAX), sides = roll(POSITIONS) + 1;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t position = roll(sides);

		assert_int_equal(timeline_add(t, (uint64_t)actor << 32 | position,
					      pair_b(bucket, cpu, event)),
				 0);
		sums[actor][bucket][cpu][event][position]++;
	}
}

/* Subtracts the samples of a span from `sums`. */
static void take_span(const struct timeline *t, size_t i)
{
	const struct timeline_span *span = &t->spans.at[i];
	const struct timeline_track *track = &t->tracks.at[span->track];
	uint32_t *of = sums[track->who][span->bucket][track->what >> TALLY_EVENT_BITS]
			   [track->what & ((1 << TALLY_EVENT_BITS) - 1)];

	for (uint32_t at = span->at; at < timeline_span_end(t, i);) {
		uint32_t samples, position = timeline_next(t, &at, &samples);

		assert_in_range(position, 0, POSITIONS - 1);
		assert_in_range(samples, 1, of[position]);
		of[position] -= samples;
	}
}

static void returns_the_added_counts(void **state)
{
	static const uint8_t none[sizeof(sums)];
	struct timeline t = { 0 };

	(void)state;
	/* Two sources have separate tracks. */
	for (int source = 0; source < 2; source++) {
		assert_int_equal(timeline_begin(&t), 0);
		for (int i = 0; i < RUNS; i++) {
			if (source)
				t.fold_at = FOLD_AT;
			add_run(&t);
		}
		timeline_end(&t);
	}
	assert_int_equal(t.tracks.nr, 2 * ACTORS * CPUS * EVENTS);
	assert_in_range(t.spans.nr, RUNS / 2, RUNS + RUNS / 2);
	for (size_t i = 0; i < t.spans.nr; i++)
		take_span(&t, i);
	assert_memory_equal(sums, none, sizeof(sums));
	timeline_done(&t);
}

static void memory_depends_on_distinct_values(void **state)
{
	struct timeline t = { 0 };
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(timeline_begin(&t), 0);
	for (uint32_t i = 0; i < AGAIN; i++)
		assert_int_equal(timeline_add(&t, i % FEW_POSITIONS, pair_b(1, 0, 0)),
				 0);
	/* The location is always the same. */
	for (uint32_t i = 0; i < AGAIN; i++)
		assert_int_equal(timeline_add(&t, 1, pair_b(2, 0, 0)), 0);
	timeline_end(&t);
	assert_int_equal(t.spans.nr, 2);
	assert_in_range(t.nr_words, 1, WORDS_OF_ONE * (FEW_POSITIONS + 1));
	for (uint32_t at = 0, samples; at < t.nr_words; sum += samples)
		timeline_next(&t, &at, &samples);
	assert_int_equal(sum, 2 * AGAIN);
	timeline_done(&t);
}

/* Samples alternate between the events of a group, or between CPUs. */
static void memory_does_not_depend_on_calls(void **state)
{
	struct timeline t = { 0 };
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(timeline_begin(&t), 0);
	for (uint32_t i = 0; i < AGAIN; i++)
		assert_int_equal(timeline_add(&t, i % FEW_POSITIONS,
					      pair_b(i * BUCKETS / AGAIN, i % CPUS, 0)),
				 0);
	timeline_end(&t);
	assert_in_range(t.spans.room, 1, AGAIN * 3 / 4);
	assert_in_range(t.room, 1, AGAIN * 3 / 4);
	for (uint32_t at = 0, samples; at < t.nr_words; sum += samples)
		timeline_next(&t, &at, &samples);
	assert_int_equal(sum, AGAIN);
	timeline_done(&t);
}

/* Samples that occur twice with others in between need more words in one span than in two.
 * There is no room for these words. */
static void folding_frees_slots(void **state)
{
	struct timeline t = { 0 };
	uint64_t sum = 0;
	uint32_t nr;

	(void)state;
	assert_int_equal(timeline_begin(&t), 0);
	assert_int_equal(timeline_add(&t, 0, pair_b(MANY_BUCKETS, 0, 0)), 0);
	nr = (uint32_t)t.room / (2 * MANY_BUCKETS) - 1;
	for (uint32_t i = 0; i < 2 * MANY_BUCKETS * nr; i++)
		assert_int_equal(
			timeline_add(&t, i % nr, pair_b(i / nr % MANY_BUCKETS, 0, 0)),
			0);
	t.fold_at = 1;
	assert_int_equal(timeline_add(&t, 0, pair_b(MANY_BUCKETS, 0, 0)), 0);
	assert_int_equal(t.spans.nr, 2 + MANY_BUCKETS);
	for (uint32_t at = 0, samples; at < t.nr_words; sum += samples)
		timeline_next(&t, &at, &samples);
	assert_int_equal(sum, 2 * MANY_BUCKETS * nr + 2);
	timeline_done(&t);
}

/* The second source begins with the samples that end the first one, and is counted separately. */
static void keeps_sources_separate(void **state)
{
	struct timeline t = { 0 };

	(void)state;
	for (int source = 0; source < 2; source++) {
		assert_int_equal(timeline_begin(&t), 0);
		assert_int_equal(timeline_add(&t, 1, pair_b(1, 0, 0)), 0);
		timeline_end(&t);
	}
	assert_int_equal(t.spans.nr, 2);
	assert_int_equal(t.spans.at[0].track, 0);
	assert_int_equal(t.spans.at[1].track, 1);
	timeline_done(&t);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(returns_the_added_counts),
		cmocka_unit_test(memory_depends_on_distinct_values),
		cmocka_unit_test(memory_does_not_depend_on_calls),
		cmocka_unit_test(folding_frees_slots),
		cmocka_unit_test(keeps_sources_separate),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
