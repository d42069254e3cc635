/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/selection/spec_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/selection/selection.h"
#include "aggregate/selection/spec.h"
#include "base/array.h"
#include "format/session/session.h"

#include "alloc_fail.h"
#include "unit.h"

/* A recording that started at 1 s, with samples from 2 s to 12 s. */
static const struct session_span ten_seconds = { .start_ns = 1000000000,
						 .first_ns = 2000000000,
						 .last_ns = 12000000000,
						 .wall_ns = 1700000000000000000,
						 .wall_at_ns = 1000000000 };

static void parses_time_intervals(void **state)
{
	static const struct {
		const char *text;
		uint64_t from_ns, to_ns;
	} rows[] = {
		{ "10%-20%", 3000000000, 4000000000 },
		{ "0%-10%", 2000000000, 3000000000 },
		{ "12.5%-50%", 3250000000, 7000000000 },
		{ "90%-100%", 11000000000, 12000000001 },
		{ "90%-", 11000000000, UINT64_MAX },
		{ "-10%", 0, 3000000000 },
		{ "10%/1", 2000000000, 3000000000 },
		{ "10%/2", 3000000000, 4000000000 },
		{ "10%/10", 11000000000, 12000000001 },
		{ "10%", 2000000000, 3000000000 },
		{ "100%", 2000000000, 12000000001 },
		{ "30%/4", 11000000000, 12000000001 },
		{ "1.5s-3s", 2500000000, 4000000000 },
		{ "1500ms-3", 2500000000, 4000000000 },
		{ "1.1-1.7s", 2100000000, 2700000000 },
		{ "0.3s-0.29m", 1300000000, 18400000000 },
		{ "2s-", 3000000000, UINT64_MAX },
		{ "-2s", 0, 3000000000 },
		{ "0-2s", 0, 3000000000 },
		{ "10%-3s", 3000000000, 4000000000 },
		/* The time of day was 1700000000 when the recording started. */
		{ "@1700000002-", 3000000000, UINT64_MAX },
		{ "@1700000001.5-@1700000003", 2500000000, 4000000000 },
		{ "@1700000001.000000001-3s", 2000000001, 4000000000 },
		{ "-@1700000001", 0, 2000000000 },
		{ "@0-@1700000001.25", 0, 2250000000 },
		{ "@1600000000-@1699999998", 0, 0 },
		/* The end is before the start, which is only detected when the times are known. */
		{ "50%-1s", 7000000000, 2000000000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct spec_span span;
		struct time_range range;

		if (!spec_span_parse(rows[i].text, &span))
			fail_msg("%s: refused", rows[i].text);
		range = spec_span_range(&span, &ten_seconds);
		if (range.from_ns != rows[i].from_ns || range.to_ns != rows[i].to_ns)
			fail_msg("%s: %llu to %llu", rows[i].text,
				 (unsigned long long)range.from_ns,
				 (unsigned long long)range.to_ns);
		assert_int_equal(spec_span_has_shares(&span),
				 strchr(rows[i].text, '%') != NULL);
	}
}

static void rejects_invalid_intervals(void **state)
{
	static const char *const texts[] = {
		"",
		"-",
		"5",
		"5s",
		"1s-2s-3s",
		"20%-10%",
		"10%-10%",
		"3s-1.5s",
		"3s-3s",
		"101%",
		"10%-101%",
		"0%",
		"10%/0",
		"10%/11",
		"10%/",
		"10%/x",
		"50%/2-60%",
		"%-10%",
		"10%%-20%",
		"x-y",
		"1s -2s",
		"1e3s-2e3s",
		"10%-x",
		"@-",
		"@x-",
		"@5-@4",
		"@5-@5",
		"@5",
		"@1e3-",
		"@1.2.3-",
		"@99999999999999999999-",
		"0x10-0x20",
		"100000000000000000000000000000000000000001%-2%",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct spec_span span;

		if (spec_span_parse(texts[i], &span))
			fail_msg("'%s' was taken", texts[i]);
	}
}

static void clamps_bounds_to_the_range_of_the_clock(void **state)
{
	const struct session_span late = { .start_ns = UINT64_MAX - 5,
					   .first_ns = UINT64_MAX - 5,
					   .last_ns = UINT64_MAX };
	struct spec_span span;

	(void)state;
	assert_true(spec_span_parse("1s-2s", &span));
	assert_int_equal(spec_span_range(&span, &late).from_ns, UINT64_MAX);
	assert_true(spec_span_parse("0%-100%", &span));
	assert_int_equal(spec_span_range(&span, &late).to_ns, UINT64_MAX);
}

enum {
	NR = 10
};

/* Ten samples, one per second, the last one a second before the end. */
static const uint64_t times[NR] = { 2000000000,  3000000000, 4000000000, 5000000000,
				    6000000000,  7000000000, 8000000000, 9000000000,
				    10000000000, 11000000000 };
static const uint32_t numbers[NR] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };

static int keep(struct selection *s, struct sample_batch *batch)
{
	int r = selection_set_times(s, &ten_seconds);

	*batch = (struct sample_batch){ .nr = NR,
					.time_ns = times,
					.period = times,
					.event = numbers,
					.stack = numbers };
	return r ? r : selection_keep_times(s, batch);
}

static void filters_all_columns_alike(void **state)
{
	struct spec spec = { 0 };
	struct dict dict = { 0 };
	struct selection s;
	struct sample_batch batch;

	(void)state;
	/* The spans contain the samples at 3 s and 4 s, at 8 s, and at 11 s. */
	assert_int_equal(spec_add(&spec, "time:10%-25%,6.5s-7.5s,90%-", NULL), 0);
	selection_init(&s, &spec, &dict, "");
	assert_int_equal(keep(&s, &batch), 0);
	assert_int_equal(batch.nr, 4);
	assert_null(batch.thread);
	assert_null(batch.cpu);
	for (size_t i = 0; i < batch.nr; i++) {
		static const uint32_t want[] = { 1, 2, 6, 9 };

		assert_int_equal(batch.event[i], want[i]);
		assert_int_equal(batch.stack[i], want[i]);
		assert_int_equal(batch.time_ns[i], times[want[i]]);
		assert_int_equal(batch.period[i], times[want[i]]);
		assert_true(selection_wants_time(&s, batch.time_ns[i]));
	}
	assert_false(selection_wants_time(&s, times[3]));
	selection_done(&s);
	spec_done(&spec);
}

static void handles_allocation_failure(void **state)
{
	struct spec spec = { 0 };
	struct dict dict = { 0 };

	(void)state;
	assert_int_equal(spec_add(&spec, "time:10%-25%", NULL), 0);
	for (unsigned long n = 1;; n++) {
		struct selection s;
		struct sample_batch batch;
		int r;

		selection_init(&s, &spec, &dict, "");
		alloc_fail_at(n);
		r = keep(&s, &batch);
		if (!alloc_fail_off()) {
			assert_int_equal(r, 0);
			assert_int_equal(batch.nr, 2);
			selection_done(&s);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		selection_done(&s);
	}
	spec_done(&spec);
}

static void percentages_need_known_start_and_end(void **state)
{
	const struct session_span unknown = { .start_ns = 5 };
	static const struct {
		const char *word;
		bool known;
	} rows[] = { { "time:1s-2s", true },
		     { "time:1s-2s,10%-20%", false },
		     { "time:-20%", false },
		     { "time:all", true } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct spec spec = { 0 };
		struct dict dict = { 0 };
		struct selection s;

		assert_int_equal(spec_add(&spec, rows[i].word, NULL), 0);
		assert_int_equal(spec_has_shares(&spec), !rows[i].known);
		selection_init(&s, &spec, &dict, "");
		assert_int_equal(selection_set_times(&s, &unknown), 0);
		assert_int_equal(s.times_known, rows[i].known);
		selection_done(&s);
		spec_done(&spec);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(parses_time_intervals),
		cmocka_unit_test(rejects_invalid_intervals),
		cmocka_unit_test(clamps_bounds_to_the_range_of_the_clock),
		cmocka_unit_test(filters_all_columns_alike),
		cmocka_unit_test(handles_allocation_failure),
		cmocka_unit_test(percentages_need_known_start_and_end),
	};

	return UNIT_RUN(cases);
}
