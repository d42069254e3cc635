/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/source/group_split.h"

#include <string.h>

#include "unit.h"

/* Words of a sample as perf_event_open(2) orders them. */
enum {
	W_HEADER,
	W_ID,
	W_IP,
	W_TID,
	W_TIME,
	W_CPU,
	W_MORE
};

struct given {
	uint64_t words[8][20];
	size_t lens[8];
	size_t nr;
};

static int take(void *ctx, const void *record, size_t len)
{
	struct given *g = ctx;

	assert_true(g->nr < 8 && len <= sizeof(g->words[0]));
	memcpy(g->words[g->nr], record, len);
	g->lens[g->nr++] = len;
	return 0;
}

static struct perf_event_attr leader(bool with_period, bool inherit)
{
	struct perf_event_attr a = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			       PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_CALLCHAIN,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
			       PERF_FORMAT_LOST,
	};

	if (with_period)
		a.sample_type |= PERF_SAMPLE_PERIOD;
	a.inherit = inherit;
	group_split_lead(&a);
	return a;
}

/* Writes a sample of event 50 in thread `tid`, with the counts of this event and of event 60;
 * after them a chain with one address. */
static size_t sample(uint64_t *w, bool with_period, uint32_t tid, uint64_t of_50,
		     uint64_t of_60)
{
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .misc = 2 };
	uint64_t pid_tid = 0;
	uint32_t pair[2] = { 7, tid };
	size_t n = W_MORE;

	memcpy(&pid_tid, pair, sizeof(pair));
	w[W_ID] = 50;
	w[W_IP] = 0x1000;
	w[W_TID] = pid_tid;
	w[W_TIME] = 99;
	w[W_CPU] = 1;
	if (with_period)
		w[n++] = 12345;
	w[n++] = 2;
	w[n++] = 800; /* enabled and running */
	w[n++] = 700;
	w[n++] = of_50;
	w[n++] = 50;
	w[n++] = 0; /* lost */
	w[n++] = of_60;
	w[n++] = 60;
	w[n++] = 0;
	w[n++] = 1;
	w[n++] = 0xabc;
	header.size = (uint16_t)(n * sizeof(*w));
	memcpy(w, &header, sizeof(header));
	return header.size;
}

static void check(const struct given *g, size_t i, uint64_t id, uint64_t period)
{
	struct perf_event_header header;

	memcpy(&header, g->words[i], sizeof(header));
	assert_int_equal(g->lens[i], (W_MORE + 3) * sizeof(uint64_t));
	assert_int_equal(header.size, g->lens[i]);
	assert_int_equal(header.type, PERF_RECORD_SAMPLE);
	assert_int_equal(header.misc, 2);
	assert_int_equal(g->words[i][W_ID], id);
	assert_int_equal(g->words[i][W_IP], 0x1000);
	assert_int_equal(g->words[i][W_TIME], 99);
	assert_int_equal(g->words[i][W_MORE], period);
	assert_int_equal(g->words[i][W_MORE + 1], 1);
	assert_int_equal(g->words[i][W_MORE + 2], 0xabc);
}

static void one_sample_of_each_event(bool with_period)
{
	struct perf_event_attr a = leader(with_period, false);
	struct group_split g = { 0 };
	struct given got = { 0 };
	uint64_t w[20];
	size_t len;

	assert_int_equal(group_split_add(&g, 50, &a), 0);
	len = sample(w, with_period, 1, 1000, 3);
	assert_int_equal(group_split_record(&g, w, len, take, &got), 0);
	/* Another thread, but without inheritance: the counts continue. */
	len = sample(w, with_period, 2, 2500, 3);
	assert_int_equal(group_split_record(&g, w, len, take, &got), 0);
	assert_int_equal(got.nr, 3);
	check(&got, 0, 50, 1000);
	check(&got, 1, 60, 3);
	/* Event 60 has not counted anything since, so it has no sample. */
	check(&got, 2, 50, 1500);
	group_split_done(&g);
}

static void splits_with_and_without_periods(void **state)
{
	(void)state;
	one_sample_of_each_event(false);
	one_sample_of_each_event(true);
}

static void inherited_events_count_per_thread(void **state)
{
	struct perf_event_attr a = leader(true, true);
	struct group_split g = { 0 };
	struct given got = { 0 };
	uint64_t w[20];
	const struct {
		uint32_t tid;
		uint64_t of_50, of_60;
	} given[] = { { 1, 1000, 5 }, { 2, 300, 5 }, { 1, 1100, 6 } };

	(void)state;
	assert_int_equal(group_split_add(&g, 50, &a), 0);
	for (size_t i = 0; i < 3; i++) {
		size_t len =
			sample(w, true, given[i].tid, given[i].of_50, given[i].of_60);

		assert_int_equal(group_split_record(&g, w, len, take, &got), 0);
	}
	assert_int_equal(got.nr, 6);
	check(&got, 2, 50, 300);
	check(&got, 3, 60, 5);
	check(&got, 4, 50, 100);
	check(&got, 5, 60, 1);
	group_split_done(&g);
}

static void passes_other_records(void **state)
{
	struct perf_event_attr a = leader(true, true);
	struct group_split g = { 0 };
	struct given got = { 0 };
	uint64_t w[20];
	size_t len = sample(w, true, 1, 1, 1);

	(void)state;
	w[W_ID] = 51;
	assert_int_equal(group_split_record(&g, w, len, take, &got), 0);
	assert_int_equal(group_split_add(&g, 50, &a), 0);
	assert_int_equal(group_split_record(&g, w, len, take, &got), 0);
	assert_int_equal(got.nr, 2);
	assert_int_equal(got.lens[1], len);
	assert_memory_equal(got.words[1], w, len);
	/* More values than fit into the record: nothing after it is read. */
	w[W_ID] = 50;
	w[W_MORE + 1] = UINT64_MAX / 8;
	assert_int_equal(group_split_record(&g, w, len, take, &got), 0);
	assert_int_equal(got.nr, 2);
	group_split_done(&g);
}

static void reports_attrs_that_match_the_samples(void **state)
{
	struct perf_event_attr a = leader(false, true), b = { .freq = 1 };

	(void)state;
	assert_true(a.sample_type & PERF_SAMPLE_READ);
	assert_true(a.read_format & PERF_FORMAT_GROUP);
	b.sample_freq = 99;
	group_split_follow(&b);
	assert_int_equal(b.sample_freq, 0);
	assert_false(b.freq);
	group_split_reported(&a);
	assert_false(a.sample_type & PERF_SAMPLE_READ);
	assert_true(a.sample_type & PERF_SAMPLE_PERIOD);
	assert_false(a.read_format & PERF_FORMAT_GROUP);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(splits_with_and_without_periods),
		cmocka_unit_test(inherited_events_count_per_thread),
		cmocka_unit_test(passes_other_records),
		cmocka_unit_test(reports_attrs_that_match_the_samples),
	};

	return UNIT_RUN(cases);
}
