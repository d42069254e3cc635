/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a file that is not in the page cache without going through it; the result is the same. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cold_file.h"
#include "format/perfdata/input.h"
#include "format/perfdata/perf_maker.h"

enum {
	SAMPLE = PERF_RECORD_SAMPLE,
	ROUND = 68,
	AUXTRACE = 71,
	MUCH = 40 << 20,
	ROUND_BYTES = 3 << 20,
	/* None of these bytes look like a record. */
	BAD_AT = 21 << 20,
	BAD_BYTES = 300 << 10
};

/* Records of many sizes, in rounds, with a payload in between. */
static void put_much(struct perf_maker *m, bool bad)
{
	size_t round = 0;
	bool was_bad = !bad, had_aux = false;

	for (uint32_t i = 0; m->out.len < MUCH; i++) {
		put_record(m, SAMPLE, 24 + i * 8 % 9000, (uint8_t)i);
		if (!was_bad && m->out.len > BAD_AT) {
			for (size_t j = 0; j < BAD_BYTES; j += 8)
				put8(m, 0);
			was_bad = true;
		}
		if (!had_aux && m->out.len > MUCH / 4) {
			put_head(m, AUXTRACE, 0, 48);
			put8(m, 6 << 20);
			for (size_t j = 0; j < 32 + (6 << 20); j += 8)
				put8(m, 0x4444444444444444);
			had_aux = true;
		}
		if (m->out.len > round + ROUND_BYTES) {
			put_record(m, ROUND, 8, 0);
			round = m->out.len;
		}
	}
}

static void make(struct perf_maker *m, bool stacks, bool bad)
{
	*m = (struct perf_maker){ 0 };
	maker_front(m, 128);
	if (stacks)
		maker_ask_for_stacks(m);
	put_much(m, bad);
	maker_data_end(m, 0);
}

static void check_same(const struct seen *a, const struct seen *b)
{
	assert_int_equal(a->result, 1);
	assert_int_equal(b->result, 1);
	assert_int_equal(a->records, b->records);
	assert_int_equal(a->bytes, b->bytes);
	assert_memory_equal(a->types, b->types, sizeof(a->types));
	assert_memory_equal(&a->damage, &b->damage, sizeof(a->damage));
	assert_int_equal(a->all.len, b->all.len);
	assert_memory_equal(a->all.data, b->all.data, a->all.len);
}

static void comes_as_from_the_cache(bool stacks, bool bad)
{
	struct perf_maker m;
	struct perf_input *in;
	struct seen cached, cold, again = { 0 };
	int fd;

	make(&m, stacks, bad);
	maker_read(maker_fd(&m), &cached, NULL);
	assert_int_equal(cached.types[AUXTRACE], 1);
	assert_int_equal(cached.damage.bad_bytes > 0, bad);
	fd = cold_file(m.out.data, m.out.len);
	maker_read(dup(fd), &cold, &in);
	check_same(&cached, &cold);
	/* Chunks end at the same positions, which the handling of damaged times depends on. */
	assert_true(cached.ends == cold.ends);
	/* Reading did not add the file to the page cache. */
	assert_true(direct_is_worth(fd, 0, m.out.len));
	assert_int_equal(perf_input_rewind(in, NULL), 0);
	maker_read_all(in, &again);
	check_same(&cached, &again);
	perf_input_close(in);
	close(fd);
	buf_done(&m.out);
	buf_done(&cached.all);
	buf_done(&cold.all);
	buf_done(&again.all);
}

static void delivers_records_unchanged(void **state)
{
	(void)state;
	comes_as_from_the_cache(false, false);
	comes_as_from_the_cache(true, false);
}

static void handles_damage_like_buffered_input(void **state)
{
	(void)state;
	comes_as_from_the_cache(false, true);
	comes_as_from_the_cache(true, true);
}

/* The header claims more data, or another process truncates the file while we read it. */
static void reports_truncated_data(void **state)
{
	struct perf_maker m;
	struct perf_input *in;
	struct seen seen = { 0 };
	uint64_t size;
	int fd;

	(void)state;
	make(&m, false, false);
	size = m.out.len - MAKER_ATTRS - 144;
	fd = cold_file(m.out.data, m.out.len);
	assert_int_equal(perf_input_open_fd(dup(fd), "t", &in, NULL), 0);
	assert_int_equal(ftruncate(fd, 27000001), 0);
	maker_read_all(in, &seen);
	assert_int_equal(seen.result, 1);
	assert_true(seen.bytes > 15 << 20);
	/* The payload is not in the chunks. */
	assert_int_equal(seen.damage.missing_bytes + seen.bytes +
				 seen.damage.cut_bytes + seen.damage.aux_bytes,
			 size);
	assert_memory_equal(seen.all.data, m.out.data + MAKER_ATTRS + 144, 1 << 20);
	perf_input_close(in);
	close(fd);
	buf_done(&m.out);
	buf_done(&seen.all);
}

/* Chunks that are kept do not change, and closing in the middle waits for running reads. */
static void chunks_stay_valid(void **state)
{
	enum {
		NR = 12
	};
	struct perf_maker m;
	struct perf_input *in;
	struct perf_chunk chunks[NR];
	int fd;

	(void)state;
	make(&m, true, false);
	fd = cold_file(m.out.data, m.out.len);
	assert_int_equal(perf_input_open_fd(dup(fd), "t", &in, NULL), 0);
	for (int i = 0; i < NR; i++)
		assert_int_equal(perf_input_next(in, &chunks[i], NULL), 0);
	for (int i = 0; i < NR; i++) {
		assert_in_range(chunks[i].len, 8, PERF_CHUNK_BYTES);
		assert_memory_equal(chunks[i].bytes, m.out.data + chunks[i].offset,
				    chunks[i].len);
		assert_false(perf_chunk_is_lost(&chunks[i]));
		perf_input_release(in, &chunks[i]);
	}
	perf_input_close(in);
	close(fd);
	buf_done(&m.out);
}

/* If memory is short, the file is read through the cache, or the error is reported. */
static void handles_allocation_failure(void **state)
{
	struct perf_maker m;
	int fd;

	(void)state;
	make(&m, false, false);
	fd = cold_file(m.out.data, m.out.len);
	for (unsigned long n = 1;; n++) {
		int r;

		(void)cool(fd, m.out.len);
		if (!maker_read_short(dup(fd), n, &r)) {
			assert_int_equal(r, 1);
			break;
		}
		assert_true(r == -ENOMEM || r == 1);
	}
	close(fd);
	buf_done(&m.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delivers_records_unchanged),
		cmocka_unit_test(handles_damage_like_buffered_input),
		cmocka_unit_test(reports_truncated_data),
		cmocka_unit_test(chunks_stay_valid),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(tests);
}
