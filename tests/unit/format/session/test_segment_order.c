/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the samples of a segment in order of time, whatever order they were written in. */
#include "format/session/segment_order.h"

#include <errno.h>
#include <stdlib.h>

#include "alloc_fail.h"
#include "recording.h"

/* Sorts by time as stored in the file, then by position in the file. */
static int by_time(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	uint64_t tx = x->time_ns / 100, ty = y->time_ns / 100;

	if (tx != ty)
		return tx < ty ? -1 : 1;
	return x->period < y->period ? -1 : x->period > y->period;
}

/* Adds a sample with this time; its period is its position. */
static void add_at(struct recording *r, struct segment_writer *w, uint64_t time_ns)
{
	struct sample *s = &r->samples[r->nr];

	*s = (struct sample){ .time_ns = time_ns,
			      .period = ++r->nr,
			      .thread = recording_thread(r, 1),
			      .stack = STACK_TRUNCATED };
	assert_int_equal(segment_writer_add(w, s), 0);
}

static int count_visit(void *ctx, const struct segment *s)
{
	++*(int *)ctx;
	assert_true(segment_totals(s)->finished);
	assert_int_equal(segment_dict(s)->events.nr, 2);
	return 0;
}

/* Expects all samples in order. Returns the maximum number that waited. */
static size_t expect_order(struct recording *r)
{
	struct segment_order o;
	struct err err;
	size_t most = 0;
	int visits = 0;

	qsort(r->samples, r->nr, sizeof(*r->samples), by_time);
	assert_int_equal(
		segment_order_scan(&o, r->path, TRUST_ANY, count_visit, &visits, &err),
		0);
	assert_int_equal(visits, 1);
	assert_int_equal(o.nr_samples, r->nr);
	if (r->nr) {
		assert_int_equal(o.first_ns, r->samples[0].time_ns / 100 * 100);
		assert_int_equal(o.last_ns, r->samples[r->nr - 1].time_ns / 100 * 100);
	} else {
		assert_true(o.first_ns == UINT64_MAX);
	}
	for (int turn = 0; turn < 2; turn++) {
		struct sample s;

		assert_int_equal(segment_order_open(&o, &err), 0);
		for (size_t i = 0; i < r->nr; i++) {
			assert_int_equal(segment_order_next(&o, &s, &err), 0);
			if (s.period != r->samples[i].period)
				fail_msg("sample %zu: %d instead of %d", i,
					 (int)s.period, (int)r->samples[i].period);
			if (o.waiting.nr > most)
				most = o.waiting.nr;
		}
		assert_int_equal(segment_order_next(&o, &s, &err), 1);
		assert_int_equal(segment_order_next(&o, &s, &err), 1);
		segment_order_close(&o);
	}
	segment_order_done(&o);
	return most;
}

/* Writes samples as a recorder drains its rings: one CPU after the other, a few hundred samples
 * each. */
static void merges_rings_in_little_memory(void **state)
{
	struct segment_writer *w;
	struct recording r;

	(void)state;
	recording_init(&r, 1, false);
	w = recording_open(&r);
	for (uint64_t flush = 0; flush < 100; flush++) {
		for (uint64_t cpu = 0; cpu < 4; cpu++)
			for (uint64_t i = 0; i < 250; i++)
				add_at(&r, w,
				       1000000 + (flush * 250 + i) * 10000 + cpu * 77);
		recording_flush(&r, w);
	}
	recording_close(&r, w);
	/* The samples of one flush, and one more that begins later. */
	assert_true(expect_order(&r) <= 2000);
	recording_done(&r);
}

static void sorts_any_order(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 8; seed++) {
		struct segment_writer *w;
		struct recording r;

		recording_init(&r, seed, false);
		w = recording_open(&r);
		for (size_t i = 0; i < 2000 * (seed - 1); i++) {
			/* Many samples with the same time. */
			add_at(&r, w, recording_random(&r) % 5000 * 50);
			if (recording_random(&r) % 300 == 0)
				recording_flush(&r, w);
		}
		/* A sample earlier than all others comes last. */
		if (seed > 1)
			add_at(&r, w, 0);
		recording_close(&r, w);
		expect_order(&r);
		recording_done(&r);
	}
}

static int say_no(void *ctx, const struct segment *s)
{
	(void)ctx;
	(void)s;
	return -EPERM;
}

static void reports_errors(void **state)
{
	struct segment_order o;
	struct segment_writer *w;
	struct recording r;
	struct err err;

	(void)state;
	assert_int_equal(
		segment_order_scan(&o, "/nowhere/at/all", TRUST_ANY, NULL, NULL, &err),
		-ENOENT);
	segment_order_done(&o);
	recording_init(&r, 1, false);
	w = recording_open(&r);
	for (uint64_t i = 0; i < 2000; i++)
		add_at(&r, w, 100 * (i ^ 5));
	recording_close(&r, w);
	assert_int_equal(segment_order_scan(&o, r.path, TRUST_ANY, say_no, NULL, &err),
			 -EPERM);
	segment_order_done(&o);
	for (unsigned long n = 1;; n++) {
		struct sample s;
		int ret;

		alloc_fail_at(n);
		ret = segment_order_scan(&o, r.path, TRUST_ANY, NULL, NULL, &err);
		if (!ret)
			ret = segment_order_open(&o, &err);
		while (!ret)
			ret = segment_order_next(&o, &s, &err);
		segment_order_done(&o);
		if (!alloc_fail_off())
			break;
		assert_int_equal(ret, -ENOMEM);
	}
	recording_done(&r);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(merges_rings_in_little_memory),
		cmocka_unit_test(sorts_any_order),
		cmocka_unit_test(reports_errors),
	};

	return UNIT_RUN(cases);
}
