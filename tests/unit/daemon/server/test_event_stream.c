/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "daemon/server/event_stream.h"

#include <string.h>

#include "unit.h"

#define ESC (~0UL)

/* Expected words, written by hand after drivers/oprofile/buffer_sync.c in Linux 4. */
static void expect(struct event_reader *r, const unsigned long *words, size_t nr)
{
	size_t len;
	const uint8_t *bytes = event_reader_bytes(r, &len);

	assert_int_equal(len, nr * sizeof(*words));
	if (len)
		assert_memory_equal(bytes, words, len);
	event_reader_sent(r, len);
}

#define EXPECT(r, ...)                                                                 \
	do {                                                                           \
		const unsigned long words_[] = { __VA_ARGS__ };                        \
		expect(r, words_, COUNT_OF(words_));                                   \
	} while (0)

static void encodes_plain_samples(void **state)
{
	struct event_reader r;
	struct event_position position = { .cookie = 5, .offset = 0x1234 };
	struct event_sample s = { .cpu = 1,
				  .counter = 2,
				  .tid = 11,
				  .pid = 10,
				  .app_cookie = 4,
				  .positions = &position,
				  .nr = 1 };

	(void)state;
	event_reader_init(&r, 0);
	expect(&r, NULL, 0);
	event_reader_put(&r, &s);
	EXPECT(&r, ESC, 2, 1, ESC, 1, 11, 4, ESC, 7, 10, ESC, 5, ESC, 3, 5, 0x1234, 2);
	/* State that is known is not sent again. */
	position.offset = 0x1238;
	event_reader_put(&r, &s);
	EXPECT(&r, 0x1238, 2);
	/* The file stays known during samples of the kernel. */
	s.nr_kernel = 1;
	position = (struct event_position){ .offset = 0x81000000 };
	event_reader_put(&r, &s);
	EXPECT(&r, ESC, 4, 0x81000000, 2);
	s.nr_kernel = 0;
	position = (struct event_position){ .cookie = 5, .offset = 8 };
	s.counter = 0;
	event_reader_put(&r, &s);
	EXPECT(&r, ESC, 5, 8, 0);
	/* A sample of another thread, in anonymous memory. */
	s.tid = 12;
	position =
		(struct event_position){ .cookie = EVENT_NO_COOKIE, .offset = 0x7f00 };
	event_reader_put(&r, &s);
	EXPECT(&r, ESC, 1, 12, 4, ESC, 7, 10, ESC, 3, 0, 0x7f00, 0);
	/* A sample on another CPU: all state is sent again. */
	s.cpu = 0;
	event_reader_put(&r, &s);
	EXPECT(&r, ESC, 2, 0, ESC, 1, 12, 4, ESC, 7, 10, ESC, 5, ESC, 3, 0, 0x7f00, 0);
	event_reader_done(&r);
}

static void encodes_callers(void **state)
{
	struct event_reader r;
	const struct event_position positions[] = {
		{ .offset = 0x8100 }, { .offset = 0x8200 }, { 6, 0x10 },
		{ 6, 0x20 },          { 7, UINT64_MAX },    { 7, 0x30 },
	};
	struct event_sample s = { .counter = 1,
				  .tid = 3,
				  .pid = 3,
				  .app_cookie = 7,
				  .is_trace = true,
				  .positions = positions,
				  .nr = 6,
				  .nr_kernel = 2 };

	(void)state;
	event_reader_init(&r, 0);
	event_reader_put(&r, &s);
	EXPECT(&r, ESC, 2, 0, ESC, 8, ESC, 1, 3, 7, ESC, 7, 3, ESC, 4, 0x8100, 1,
	       0x8200, 0, ESC, 5, ESC, 3, 6, 0x10, 0, 0x20, 0, ESC, 3, 7, 0x30, 0);
	s.nr = 1;
	event_reader_put(&r, &s);
	EXPECT(&r, ESC, 8, ESC, 4, 0x8100, 1);
	/* An address that equals the escape code is not sent as one. */
	s.positions = &positions[4];
	s.nr_kernel = 0;
	event_reader_put(&r, &s);
	expect(&r, NULL, 0);
	event_reader_done(&r);
}

/* Counts the samples in the words, and those reported as lost. */
static void count(const uint8_t *bytes, size_t len, uint64_t *ret_samples,
		  uint64_t *ret_lost)
{
	static const size_t follow[16] = {
		[1] = 2, [2] = 1, [3] = 1, [7] = 1, [15] = 1
	};
	size_t nr = len / sizeof(unsigned long);

	for (size_t i = 0; i < nr; i++) {
		unsigned long words[3] = { 0 };
		size_t left = nr - i < 3 ? nr - i : 3;

		memcpy(words, bytes + i * sizeof(*words), left * sizeof(*words));
		if (words[0] != ESC) {
			++*ret_samples;
			i++;
			continue;
		}
		assert_in_range(words[1], 1, 15);
		if (words[1] == 15)
			*ret_lost += words[2];
		i += 1 + follow[words[1]];
	}
}

/* A reader that does not read keeps a limited number of words. It loses whole samples, and each
 * loss is reported. */
static void a_slow_reader_gets_the_number_of_lost_samples(void **state)
{
	enum {
		SAMPLES = 100000
	};
	struct event_reader r;
	struct event_position position = { .cookie = 1 };
	struct event_sample s = { .positions = &position, .nr = 1 };
	uint64_t samples = 0, lost = 0;
	const uint8_t *bytes;
	size_t len, most = 0;

	(void)state;
	event_reader_init(&r, 0);
	for (size_t i = 0; i < SAMPLES; i++) {
		position.offset = i;
		s.tid = (int32_t)(i % 3);
		event_reader_put(&r, &s);
		/* The reader reads a little from time to time. */
		if (i % 10000 == 9999) {
			bytes = event_reader_bytes(&r, &len);
			most = len > most ? len : most;
			count(bytes, len, &samples, &lost);
			event_reader_sent(&r, len);
		}
		assert_in_range(r.words.cap, 0,
				2 * EVENT_WORDS_MIN * sizeof(unsigned long));
	}
	/* The last losses are reported even without another sample. */
	while ((bytes = event_reader_bytes(&r, &len))) {
		count(bytes, len, &samples, &lost);
		event_reader_sent(&r, len);
	}
	assert_in_range(most, 1, EVENT_WORDS_MIN * sizeof(unsigned long));
	assert_int_equal(samples + lost, SAMPLES);
	assert_int_equal(lost, r.all_lost);
	assert_true(lost && samples);
	/* The reader takes one word at a time. */
	samples = lost = 0;
	for (size_t i = 0; i < SAMPLES; i++) {
		event_reader_put(&r, &s);
		assert_non_null(event_reader_bytes(&r, &len));
		event_reader_sent(&r, sizeof(unsigned long));
		assert_in_range(len, 1, EVENT_WORDS_MIN * sizeof(unsigned long));
	}
	event_reader_done(&r);
}

static void truncates_deep_stacks(void **state)
{
	static struct event_position positions[2 * EVENT_POSITIONS_MAX];
	struct event_reader r;
	struct event_sample s = { .positions = positions,
				  .is_trace = true,
				  .nr = 2 * EVENT_POSITIONS_MAX };
	uint64_t pairs = 0, lost = 0;
	const uint8_t *bytes;
	size_t len;

	(void)state;
	/* The largest number of words for addresses: each is in a different file. */
	for (size_t i = 0; i < s.nr; i++)
		positions[i] = (struct event_position){ .cookie = 1 + i, .offset = i };
	event_reader_init(&r, 1);
	event_reader_put(&r, &s);
	bytes = event_reader_bytes(&r, &len);
	count(bytes, len, &pairs, &lost);
	assert_int_equal(pairs, EVENT_POSITIONS_MAX);
	assert_int_equal(lost, 0);
	event_reader_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encodes_plain_samples),
		cmocka_unit_test(encodes_callers),
		cmocka_unit_test(a_slow_reader_gets_the_number_of_lost_samples),
		cmocka_unit_test(truncates_deep_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
