/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <linux/perf_event.h>
#include <string.h>

#include "decode/record.h"
#include "record/due_samples.h"

enum {
	ROOM = 4096,
	RECORDS = 700, /* more than fits into a chunk of memory */
	TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
	       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP
};

/* Makes a sample as the kernel writes it: 2 registers, and `used` bytes of a stack area of
 * ROOM. */
static size_t make_sample(uint64_t *out, uint64_t time_ns, uint64_t used)
{
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE,
					    .misc = PERF_RECORD_MISC_USER };
	uint64_t *at = out + 1;

	*at++ = 1; /* id */
	*at++ = time_ns;
	*at++ = PERF_SAMPLE_REGS_ABI_64;
	*at++ = 11;
	*at++ = 22;
	*at++ = ROOM;
	for (uint64_t i = 0; i < ROOM / 8; i++)
		*at++ = i + time_ns;
	*at++ = used;
	*at++ = 33; /* cgroup */
	header.size = (uint16_t)(sizeof(*out) * (size_t)(at - out));
	memcpy(out, &header, sizeof(header));
	return header.size;
}

static void open_decoder(struct decoder *d)
{
	struct perf_event_attr attr = { .sample_type = TYPE,
					.sample_regs_user = 3,
					.sample_stack_user = ROOM };

	decoder_init(d, false);
	assert_int_equal(decoder_add_attr(d, &attr), 0);
	assert_int_equal(decoder_add_id(d, 1, 0), 0);
}

static void add(struct due_samples *due, const struct decoder *d, uint64_t time_ns,
		uint64_t used, uint32_t image)
{
	uint64_t words[16 + ROOM / 8];
	size_t len = make_sample(words, time_ns, used);
	struct record rec;

	assert_int_equal(decoder_record(d, words, len, &rec, NULL), 0);
	assert_int_equal(due_samples_add(due, &rec, words, len, image), 0);
}

static void expect(const struct due_sample *s, const struct decoder *d,
		   uint64_t time_ns, uint64_t used)
{
	struct record rec;
	uint64_t word;

	assert_int_equal(decoder_record(d, s->bytes, s->len, &rec, NULL), 0);
	assert_true(rec.id.time_ns == time_ns);
	assert_true(rec.sample.cgroup == 33);
	assert_true(decoder_u64_at(d, rec.sample.user_regs.values, 1) == 22);
	assert_true(rec.sample.user_stack.len == used);
	for (uint64_t i = 0; i < used / 8; i++) {
		memcpy(&word, rec.sample.user_stack.at + i * 8, sizeof(word));
		assert_true(word == i + time_ns);
	}
}

static void keeps_used_samples(void **state)
{
	struct due_samples due = { 0 };
	struct decoder d;

	(void)state;
	open_decoder(&d);
	assert_true(due_samples_since(&due) == UINT64_MAX);
	add(&due, &d, 1000, ROOM, 5);
	add(&due, &d, 900, 100, 6);
	add(&due, &d, 950, 0, 6);
	assert_int_equal(due.list.nr, 3);
	expect(&due.list.at[0], &d, 1000, ROOM);
	expect(&due.list.at[1], &d, 900, 100);
	expect(&due.list.at[2], &d, 950, 0);
	assert_true(due.list.at[1].len < 200);
	assert_int_equal(due.list.at[0].image, 5);
	assert_int_equal(due.list.at[1].image, 6);
	assert_true(due_samples_since(&due) == 900);
	due_samples_done(&due);
	decoder_done(&d);
}

static void keeps_many_samples(void **state)
{
	struct due_samples due = { 0 };
	struct decoder d;

	(void)state;
	open_decoder(&d);
	for (uint64_t i = 0; i < RECORDS; i++)
		add(&due, &d, i, ROOM - i, 1);
	for (uint64_t i = 0; i < RECORDS; i++)
		expect(&due.list.at[i], &d, i, ROOM - i);
	assert_true(due_samples_bytes(&due) > (size_t)RECORDS * ROOM / 2);
	due_samples_done(&due);
	assert_int_equal(due_samples_bytes(&due), 0);
	decoder_done(&d);
}

/* Samples that wait longer than others do not hold the memory of all. */
static void frees_memory_of_dropped_samples(void **state)
{
	struct due_samples due = { 0 };
	struct decoder d;
	size_t bytes;

	(void)state;
	open_decoder(&d);
	for (uint64_t i = 0; i < RECORDS; i++)
		add(&due, &d, i, ROOM - i, 1);
	bytes = due_samples_bytes(&due);
	due_samples_keep(&due, RECORDS / 4);
	assert_int_equal(due.list.nr, RECORDS / 4);
	assert_true(due_samples_bytes(&due) < bytes / 2);
	for (uint64_t i = 0; i < RECORDS / 4; i++)
		expect(&due.list.at[i], &d, i, ROOM - i);
	add(&due, &d, 7, 100, 1);
	expect(&due.list.at[RECORDS / 4], &d, 7, 100);
	due_samples_done(&due);
	decoder_done(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_used_samples),
		cmocka_unit_test(keeps_many_samples),
		cmocka_unit_test(frees_memory_of_dropped_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
