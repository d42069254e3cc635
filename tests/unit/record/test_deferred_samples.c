/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests chains whose user part arrives later during a recording. */
#include "unit.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/array.h"
#include "capture/events/perf_attr.h"
#include "decode/record.h"
#include "record/deferred_samples.h"

enum {
	TID = 7,
	COOKIE = 99,
	KERNEL_PC = 0x8000,
	SECOND = 1000000000
};

#define USER_DEFERRED ((uint64_t)-640)

/* A sample in the kernel; the rest of its chain arrives with the cookie. */
static const uint64_t sampled[] = { PERF_CONTEXT_KERNEL, KERNEL_PC, USER_DEFERRED,
				    COOKIE };
static const uint64_t rest[] = { PERF_CONTEXT_USER, 0x1000, 0x2000 };
static const char bytes[] = "a record";

static struct record sample_at(uint64_t time_ns)
{
	struct record rec = { .type = PERF_RECORD_SAMPLE,
			      .misc = PERF_RECORD_MISC_KERNEL,
			      .id = { .tid = TID, .time_ns = time_ns } };

	rec.sample.chain = (const uint8_t *)sampled;
	rec.sample.nr_chain = COUNT_OF(sampled);
	return rec;
}

static void add_rest(struct deferred_samples *d, int32_t tid, uint64_t time_ns)
{
	struct record rec = { .type = RECORD_CALLCHAIN_DEFERRED,
			      .id = { .tid = tid, .time_ns = time_ns } };

	rec.deferred = (struct record_callchain_deferred){
		.cookie = COOKIE,
		.nr = COUNT_OF(rest),
		.chain = (const uint8_t *)rest,
	};
	assert_int_equal(deferred_chains_add(&d->chains, &rec), 0);
}

/* The completed chain is valid until the next chain is completed. */
static int join(struct deferred_samples *d, struct record *rec, uint64_t now_ns)
{
	static struct grouped_sample sample;
	struct decoder decoder;
	int r;

	decoder_init(&decoder, false);
	sample.rec = *rec;
	sample.bytes = bytes;
	sample.len = sizeof(bytes);
	r = deferred_samples_join(d, &decoder, &sample, now_ns);
	*rec = sample.rec;
	decoder_done(&decoder);
	return r;
}

static void expect_chain(const struct record *rec, const uint64_t *words, uint64_t nr)
{
	assert_int_equal(rec->sample.nr_chain, nr);
	assert_memory_equal(rec->sample.chain, words, nr * sizeof(*words));
}

static void waits_for_the_deferred_callchain(void **state)
{
	const uint64_t whole[] = { PERF_CONTEXT_KERNEL, KERNEL_PC, PERF_CONTEXT_USER,
				   0x1000, 0x2000 };
	struct deferred_samples d = { 0 };
	struct record rec = sample_at(1000);
	struct buf waiting;

	(void)state;
	assert_int_equal(deferred_samples_since(&d), UINT64_MAX);
	assert_int_equal(join(&d, &rec, 1100), 1);
	assert_int_equal(deferred_samples_since(&d), 1000);
	rec = sample_at(900);
	assert_int_equal(join(&d, &rec, 1100), 1);
	assert_int_equal(deferred_samples_since(&d), 900);
	waiting = deferred_samples_take(&d);
	assert_int_equal(waiting.len, 2 * sizeof(bytes));
	assert_memory_equal(waiting.data, bytes, sizeof(bytes));
	buf_done(&waiting);
	assert_int_equal(deferred_samples_since(&d), UINT64_MAX);
	/* The user part of another thread is ignored. */
	add_rest(&d, TID + 1, 1200);
	rec = sample_at(1000);
	assert_int_equal(join(&d, &rec, 1300), 1);
	add_rest(&d, TID, 1250);
	rec = sample_at(1000);
	assert_int_equal(join(&d, &rec, 1300), 0);
	expect_chain(&rec, whole, 5);
	deferred_samples_forget(&d, 1300);
	deferred_samples_done(&d);
}

static void does_not_wait_forever(void **state)
{
	const uint64_t cut[] = { PERF_CONTEXT_KERNEL, KERNEL_PC, UINT64_MAX };
	struct deferred_samples d = { 0 };
	struct record rec = sample_at(1000);

	(void)state;
	assert_int_equal(join(&d, &rec, 1000 + 29ULL * SECOND), 1);
	rec = sample_at(1000);
	assert_int_equal(join(&d, &rec, 1000 + 31ULL * SECOND), 0);
	expect_chain(&rec, cut, 3);
	rec = sample_at(1000);
	assert_int_equal(join(&d, &rec, UINT64_MAX), 0);
	expect_chain(&rec, cut, 3);
	/* 16 MB of records are enough. */
	for (size_t i = 0; i <= (16 << 20) / sizeof(bytes); i++) {
		rec = sample_at(1000);
		if (join(&d, &rec, 1001) == 0)
			break;
	}
	expect_chain(&rec, cut, 3);
	deferred_samples_done(&d);
}

/* A chain without a cookie is already complete. */
static void passes_other_samples(void **state)
{
	struct deferred_samples d = { 0 };
	struct record rec = sample_at(1000);

	(void)state;
	rec.sample.nr_chain = 2;
	assert_int_equal(join(&d, &rec, 1000), 0);
	expect_chain(&rec, sampled, 2);
	assert_int_equal(deferred_samples_since(&d), UINT64_MAX);
	deferred_samples_done(&d);
}

/* Uses the bit order of the header: sigtrap is the bit before. */
static void attr_bits_match_the_header(void **state)
{
	struct perf_event_attr a = { .sigtrap = 1 }, b = { 0 };

	(void)state;
	assert_true(perf_attr_bit(&a, PERF_ATTR_DEFER_CALLCHAIN - 1));
	assert_false(perf_attr_bit(&a, PERF_ATTR_DEFER_CALLCHAIN));
	assert_false(perf_attr_bit(&b, PERF_ATTR_DEFER_CALLCHAIN - 1));
	perf_attr_set_bit(&b, PERF_ATTR_DEFER_CALLCHAIN - 1, true);
	assert_memory_equal(&a, &b, sizeof(a));
	perf_attr_set_bit(&b, PERF_ATTR_DEFER_CALLCHAIN, true);
	perf_attr_set_bit(&b, PERF_ATTR_DEFER_OUTPUT, true);
	assert_true(perf_attr_bit(&b, PERF_ATTR_DEFER_OUTPUT));
	perf_attr_set_bit(&b, PERF_ATTR_DEFER_CALLCHAIN, false);
	perf_attr_set_bit(&b, PERF_ATTR_DEFER_OUTPUT, false);
	assert_memory_equal(&a, &b, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_the_deferred_callchain),
		cmocka_unit_test(does_not_wait_forever),
		cmocka_unit_test(passes_other_samples),
		cmocka_unit_test(attr_bits_match_the_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
