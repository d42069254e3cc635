/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes the counts of a group's events from their samples, compared with values worked out
 * by hand, in both byte orders. */
#include "base/array.h"
#include "resolve/space/group_reads.h"

#include <string.h>

#include "base/buf.h"
#include "base/containers/deltas.h"
#include "unit.h"

enum {
	LEADER = 700, /* ids of the events */
	MEMBER = 701,
	NOBODY = 799,
	VALUES_MAX = 3
};

/* A sample: its thread, and (value, id) of each event of the group. */
struct told {
	uint32_t tid;
	uint64_t value[VALUES_MAX][2];
	size_t nr;
};

struct stream {
	struct decoder decoder;
	struct deltas deltas;
	struct group_shares shares;
	struct buf bytes;
	bool swap;
	bool group;
};

static void put4(struct stream *s, uint32_t v)
{
	v = s->swap ? __builtin_bswap32(v) : v;
	buf_put(&s->bytes, &v, sizeof(v));
}

static void put8(struct stream *s, uint64_t v)
{
	v = s->swap ? __builtin_bswap64(v) : v;
	buf_put(&s->bytes, &v, sizeof(v));
}

/* Opened as by perf record -e '{a,b}:S', the member without a period. */
static void begin(struct stream *s, bool swap, bool group, bool inherits)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_period = 1000,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			       PERF_SAMPLE_TID | PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       (group ? PERF_FORMAT_GROUP : 0),
		.inherit = inherits,
	};

	*s = (struct stream){ .swap = swap, .group = group };
	decoder_init(&s->decoder, swap);
	assert_int_equal(decoder_add_attr(&s->decoder, &attr), 0);
	assert_int_equal(decoder_add_id(&s->decoder, LEADER, 0), 0);
	attr.sample_period = 0;
	assert_int_equal(decoder_add_attr(&s->decoder, &attr), 0);
	assert_int_equal(decoder_add_id(&s->decoder, MEMBER, 1), 0);
}

static void done(struct stream *s)
{
	decoder_done(&s->decoder);
	deltas_done(&s->deltas);
	vec_done(&s->shares.list);
	buf_done(&s->bytes);
}

/* Computes the counts of a sample, whose layout is in perf_event_open(2): for a group number,
 * time, then value and id of each event; otherwise value, time, id. */
static int take(struct stream *s, const struct told *t)
{
	size_t words = s->group ? 2 + 2 * t->nr : 3;
	uint32_t size = (uint32_t)(8 + 24 + 8 * words);
	struct record rec;

	buf_clear(&s->bytes);
	put4(s, PERF_RECORD_SAMPLE);
	put4(s, s->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
			? PERF_RECORD_MISC_USER << 16 | size
			: PERF_RECORD_MISC_USER | size << 16);
	put8(s, LEADER);
	put8(s, 0x1234);
	put4(s, 10);
	put4(s, t->tid);
	put8(s, s->group ? t->nr : t->value[0][0]);
	put8(s, 5000);
	for (size_t i = 0; s->group && i < t->nr; i++) {
		put8(s, t->value[i][0]);
		put8(s, t->value[i][1]);
	}
	if (!s->group)
		put8(s, t->value[0][1]);
	assert_int_equal(
		decoder_record(&s->decoder, s->bytes.data, s->bytes.len, &rec, NULL),
		0);
	return group_reads_take(&s->deltas, &s->decoder, &rec, &s->shares);
}

static void expect(const struct stream *s, const struct group_share *shares, size_t nr)
{
	assert_int_equal(s->shares.list.nr, nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(s->shares.list.at[i].period, shares[i].period);
		assert_int_equal(s->shares.list.at[i].id, shares[i].id);
		assert_int_equal(s->shares.list.at[i].event, shares[i].event);
	}
}

static void each_event_gets_its_increase(void **state)
{
	/* The second event does not count between the first two samples; the third one has
	 * values beyond 32 bits; then both counters restart. */
	static const struct told told[] = {
		{ 11, { { 1000, LEADER }, { 70, MEMBER } }, 2 },
		{ 11, { { 2500, LEADER }, { 70, MEMBER } }, 2 },
		{ 11, { { 0x500000000, LEADER }, { 75, MEMBER } }, 2 },
		{ 11, { { 30, LEADER }, { 2, MEMBER } }, 2 },
	};
	static const struct group_share gains[][2] = {
		{ { 1000, LEADER, 0 }, { 70, MEMBER, 1 } },
		{ { 1500, LEADER, 0 } },
		{ { 0x500000000 - 2500, LEADER, 0 }, { 5, MEMBER, 1 } },
		{ { 30, LEADER, 0 }, { 2, MEMBER, 1 } },
	};

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct stream s;

		begin(&s, swap, true, false);
		for (size_t i = 0; i < COUNT_OF(told); i++) {
			assert_int_equal(take(&s, &told[i]), 0);
			expect(&s, gains[i], gains[i][1].period ? 2 : 1);
		}
		done(&s);
	}
}

/* With inheritance, each thread has separate counters; without it, they are shared. */
static void inherited_events_count_per_thread(void **state)
{
	static const struct told told[] = {
		{ 11, { { 1000, LEADER }, { 9, MEMBER } }, 2 },
		{ 12, { { 1400, LEADER }, { 12, MEMBER } }, 2 },
	};
	static const struct group_share apart[] = { { 1400, LEADER, 0 },
						    { 12, MEMBER, 1 } };
	static const struct group_share together[] = { { 400, LEADER, 0 },
						       { 3, MEMBER, 1 } };

	(void)state;
	for (int swap = 0; swap < 2; swap++)
		for (int inherits = 0; inherits < 2; inherits++) {
			struct stream s;

			begin(&s, swap, true, inherits);
			assert_int_equal(take(&s, &told[0]), 0);
			assert_int_equal(take(&s, &told[1]), 0);
			expect(&s, inherits ? apart : together, 2);
			done(&s);
		}
}

/* Unknown ids are skipped; a sample with only such ids gives no counts; a sample without
 * values, because nothing was scheduled, is not an error. */
static void counts_of_unknown_ids_are_reported(void **state)
{
	static const struct told mixed = { 11, { { 5, NOBODY }, { 8, MEMBER } }, 2 };
	static const struct told strange = { 11, { { 5, NOBODY } }, 1 };
	static const struct told empty = { 11, { { 0 } }, 0 };
	static const struct group_share share = { 8, MEMBER, 1 };

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct stream s;

		begin(&s, swap, true, false);
		/* The other counts are used. */
		assert_int_equal(take(&s, &mixed), 1);
		expect(&s, &share, 1);
		assert_int_equal(take(&s, &strange), 1);
		assert_int_equal(take(&s, &empty), 0);
		expect(&s, NULL, 0);
		done(&s);
	}
}

/* Without PERF_FORMAT_GROUP, a sample has only the value of its event. */
static void one_value_without_a_group(void **state)
{
	static const struct told told[] = {
		{ 11, { { 600, LEADER } }, 1 },
		{ 11, { { 1700, LEADER } }, 1 },
	};
	static const struct group_share share = { 1100, LEADER, 0 };

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct stream s;

		begin(&s, swap, false, false);
		assert_int_equal(take(&s, &told[0]), 0);
		assert_int_equal(take(&s, &told[1]), 0);
		expect(&s, &share, 1);
		done(&s);
	}
}

static void only_matching_attrs_use_group_values(void **state)
{
	struct perf_event_attr a = { .sample_type = PERF_SAMPLE_READ,
				     .read_format = PERF_FORMAT_ID,
				     .sample_period = 7 };

	(void)state;
	assert_true(group_reads_has(&a));
	assert_false(group_reads_is_member(&a));
	a.read_format |= PERF_FORMAT_GROUP;
	assert_false(group_reads_is_member(&a)); /* the leader */
	a.sample_period = 0;
	assert_true(group_reads_is_member(&a));
	a.read_format &= ~(uint64_t)PERF_FORMAT_ID;
	assert_false(group_reads_has(&a));
	a.read_format |= PERF_FORMAT_ID;
	a.sample_type = PERF_SAMPLE_IP;
	assert_false(group_reads_has(&a));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(each_event_gets_its_increase),
		cmocka_unit_test(inherited_events_count_per_thread),
		cmocka_unit_test(counts_of_unknown_ids_are_reported),
		cmocka_unit_test(one_value_without_a_group),
		cmocka_unit_test(only_matching_attrs_use_group_values),
	};

	return UNIT_RUN(cases);
}
