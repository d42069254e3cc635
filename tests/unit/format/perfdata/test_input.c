/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads hand-made files: header, attrs, damaged parts, and every prefix. */
#include "base/array.h"
#include "format/perfdata/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "format/perfdata/perf_maker.h"
#include "unit.h"

enum {
	SAMPLE = PERF_RECORD_SAMPLE,
	MMAP = PERF_RECORD_MMAP,
	ROUND = 68,
	AUXTRACE = 71
};

static void finish(struct perf_maker *m, struct seen *seen, struct perf_input *in)
{
	buf_done(&m->out);
	buf_done(&seen->all);
	perf_input_close(in);
}

/* ---- attrs ---- */

static void check_attr(bool big, size_t attr_bytes)
{
	struct perf_maker m = { .big = big };
	const struct perf_event_attr *a;
	const struct perf_input_event *e;
	struct perf_input *in = NULL;
	struct seen seen;

	maker_front(&m, attr_bytes);
	put_record(&m, SAMPLE, 24, 1);
	maker_data_end(&m, 0);
	maker_read(maker_fd(&m), &seen, &in);
	assert_int_equal(seen.opened, 0);
	assert_int_equal(perf_input_info(in)->swap, big);
	assert_int_equal(perf_input_info(in)->events.nr, 1);
	e = &perf_input_info(in)->events.at[0];
	a = &e->attr;
	assert_int_equal(e->ids.nr, 2);
	assert_int_equal(e->ids.at[0], 7);
	assert_int_equal(e->ids.at[1], 8);
	assert_string_equal(e->name, "cpu-clock:uhp");
	assert_int_equal(a->type, PERF_TYPE_SOFTWARE);
	assert_int_equal(a->size, attr_bytes < sizeof(*a) ? attr_bytes : sizeof(*a));
	assert_int_equal(a->config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(a->sample_period, 1000);
	assert_int_equal(a->sample_type,
			 PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_RAW);
	assert_int_equal(a->read_format, PERF_FORMAT_ID);
	assert_int_equal(a->exclude_kernel, 1);
	assert_int_equal(a->exclude_user, 0);
	assert_int_equal(a->exclude_hv, 0);
	assert_int_equal(a->precise_ip, 1);
	assert_int_equal(a->wakeup_events, 3);
	assert_int_equal(a->config1, 0x1111);
	assert_int_equal(a->config2, attr_bytes >= 72 ? 0x2222 : 0);
	assert_int_equal(a->branch_sample_type, attr_bytes >= 80 ? 0x3333 : 0);
	assert_int_equal(a->sample_regs_user, attr_bytes >= 96 ? 0x4444 : 0);
	assert_int_equal(a->sample_stack_user, attr_bytes >= 96 ? 0x5555 : 0);
	assert_int_equal(a->clockid, attr_bytes >= 96 ? -2 : 0);
	assert_int_equal(a->sample_regs_intr != 0, attr_bytes >= 104);
	assert_int_equal(seen.types[SAMPLE], 1);
	finish(&m, &seen, in);
}

static void reads_attrs_of_all_versions(void **state)
{
	static const size_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 256 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		check_attr(false, sizes[i]);
		check_attr(true, sizes[i]);
	}
}

/* ---- damage ---- */

/* Three MMAPs, two rounds, four samples, of known sizes. */
static void put_data(struct perf_maker *m)
{
	put_record(m, MMAP, 72, 1);
	put_record(m, SAMPLE, 24, 2);
	put_record(m, ROUND, 8, 0);
	put_record(m, SAMPLE, 40, 3);
	put_record(m, MMAP, 56, 4);
	put_record(m, SAMPLE, 32, 5);
	put_record(m, ROUND, 8, 0);
	put_record(m, MMAP, 88, 6);
	put_record(m, SAMPLE, 24, 7);
}

enum {
	DATA_BYTES = 72 + 24 + 8 + 40 + 56 + 32 + 8 + 88 + 24
};

/* Checks that every byte of the data is delivered, or counted as cut or missing. */
static void check_prefix(const struct perf_maker *m, size_t data_at, size_t len)
{
	struct seen seen;

	maker_read(maker_fd_of(m->out.data, len), &seen, NULL);
	if (len < data_at) {
		assert_int_equal(seen.opened, -EBADMSG);
		return;
	}
	assert_int_equal(seen.opened, 0);
	assert_int_equal(seen.result, 1);
	len -= data_at;
	if (len > DATA_BYTES)
		len = DATA_BYTES;
	assert_int_equal(seen.damage.missing_bytes, DATA_BYTES - len);
	assert_int_equal(seen.bytes + seen.damage.cut_bytes, len);
	assert_int_equal(seen.damage.bad_bytes, 0);
	assert_memory_equal(seen.all.data ? seen.all.data : (const uint8_t *)"",
			    m->out.data + data_at, seen.bytes);
	buf_done(&seen.all);
}

static void survives_every_prefix(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct perf_maker m = { .big = big };
		size_t data_at;

		maker_front(&m, 128);
		data_at = m.out.len;
		put_data(&m);
		maker_data_end(&m, 0);
		for (size_t len = 0; len <= m.out.len; len++)
			check_prefix(&m, data_at, len);
		buf_done(&m.out);
	}
}

static void reads_an_interrupted_file_to_the_end(void **state)
{
	struct perf_maker m = { 0 };
	struct perf_input *in = NULL;
	struct seen seen;

	(void)state;
	maker_front(&m, 128);
	put_data(&m);
	put_record(&m, SAMPLE, 48, 0);
	m.out.len -= 5;
	set8(&m, 72, 0xffff); /* features that were never written */
	maker_read(maker_fd(&m), &seen, &in);
	assert_int_equal(seen.opened, 0);
	assert_true(perf_input_info(in)->interrupted);
	assert_int_equal(perf_input_info(in)->features[0], 0);
	assert_int_equal(seen.bytes, DATA_BYTES);
	assert_int_equal(seen.damage.cut_bytes, 43);
	assert_int_equal(seen.damage.missing_bytes, 0);
	assert_int_equal(seen.damage.bad_features, 0);
	finish(&m, &seen, in);
}

static void finds_records_after_a_bad_one(void **state)
{
	static const uint16_t sizes[] = { 0, 7, 65529 };

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct perf_maker m = { .big = i % 2 };
		struct seen seen;

		maker_front(&m, 128);
		put_record(&m, SAMPLE, 24, 1);
		put_head(&m, i / 2 < 2 ? SAMPLE : 99, 0, sizes[i / 2]);
		for (int j = 0; j < 20; j++)
			put_record(&m, SAMPLE, 24, 0x55);
		maker_data_end(&m, 0);
		maker_read(maker_fd(&m), &seen, NULL);
		assert_int_equal(seen.opened, 0);
		assert_int_equal(seen.types[SAMPLE], 21);
		assert_int_equal(seen.damage.bad_bytes, 8);
		finish(&m, &seen, NULL);
	}
}

/* The end of the data is also the end of a record, even if the last record is cut off. */
static void finds_the_last_records(void **state)
{
	(void)state;
	for (size_t cut = 0; cut < 24; cut += 5) {
		struct perf_maker m = { 0 };
		struct seen seen;

		maker_front(&m, 128);
		put_record(&m, SAMPLE, 24, 1);
		put_head(&m, SAMPLE, 0, 0);
		for (int i = 0; i < 3; i++)
			put_record(&m, SAMPLE, 24, 0x55);
		m.out.len -= cut;
		maker_data_end(&m, 0);
		maker_read(maker_fd(&m), &seen, NULL);
		assert_int_equal(seen.types[SAMPLE], 4 - !!cut);
		assert_int_equal(seen.damage.bad_bytes, 8);
		assert_int_equal(seen.damage.cut_bytes, cut ? 24 - cut : 0);
		finish(&m, &seen, NULL);
	}
}

static void rejects_samples_of_unknown_events(void **state)
{
	struct perf_maker m = { 0 };
	struct seen seen;

	(void)state;
	maker_front(&m, 128);
	put_record(&m, SAMPLE, 24, 1);
	put_head(&m, SAMPLE, 0, 0);
	for (int i = 0; i < 20; i++)
		put_record(&m, SAMPLE, 16, 0x55);
	for (int i = 0; i < 20; i++)
		put_record(&m, MMAP, 32, 0x55);
	put_record(&m, SAMPLE, 24, 0x55);
	maker_data_end(&m, 0);
	maker_read(maker_fd(&m), &seen, NULL);
	assert_int_equal(seen.types[SAMPLE], 2);
	assert_int_equal(seen.types[MMAP], 0);
	assert_int_equal(seen.damage.bad_bytes, 8 + 20 * 16 + 20 * 32);
	finish(&m, &seen, NULL);
}

/* A sample that claims to be too long does not hide the samples after it if all fields of its
 * event are known and have a fixed size. */
static void a_too_long_sample_hides_no_others(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct perf_maker m = { .big = big };
		struct seen seen;

		maker_front(&m, 128);
		set8(&m, MAKER_ATTRS + 24, PERF_SAMPLE_IP | PERF_SAMPLE_TID);
		put_record(&m, SAMPLE, 24, 1);
		put_record(&m, SAMPLE, 32, 1);
		put_head(&m, SAMPLE, 0, 24 * 11);
		put_text(&m, "", 16);
		for (int i = 0; i < 20; i++)
			put_record(&m, SAMPLE, 24, 0x55);
		maker_data_end(&m, 0);
		maker_read(maker_fd(&m), &seen, NULL);
		assert_int_equal(seen.types[SAMPLE], 22);
		assert_int_equal(seen.damage.bad_bytes, 24);
		finish(&m, &seen, NULL);
	}
}

/* A second recording in the file is ignored, because its samples belong to other events. */
static void ignores_a_recording_after_the_first(void **state)
{
	(void)state;
	for (int bad = 0; bad < 2; bad++) {
		struct perf_maker m = { 0 };
		struct seen seen;

		maker_front(&m, 128);
		put_record(&m, SAMPLE, 24, 1);
		if (bad)
			put_head(&m, SAMPLE, 0, 0);
		buf_put(&m.out, "PERFILE2", 8);
		put8(&m, 16);
		for (int i = 0; i < 20; i++)
			put_record(&m, SAMPLE, 24, 0x55);
		maker_data_end(&m, 0);
		maker_read(maker_fd(&m), &seen, NULL);
		assert_int_equal(seen.types[SAMPLE], 1);
		assert_int_equal(seen.damage.bad_bytes, bad * 8 + 16 + 20 * 24);
		finish(&m, &seen, NULL);
	}
}

/* Reading continues at the next round, wherever that begins. */
static void continues_at_the_next_round(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct perf_maker m = { .big = big };
		struct seen seen;

		maker_front(&m, 128);
		put_record(&m, SAMPLE, 24, 1);
		put_head(&m, SAMPLE, 0, 0);
		put_record(&m, SAMPLE, 24, 0x55);
		put_text(&m, "odd", 5);
		put_record(&m, ROUND, 8, 0);
		for (int i = 0; i < 40; i++)
			put_record(&m, SAMPLE, 24, 0x55);
		maker_data_end(&m, 0);
		maker_read(maker_fd(&m), &seen, NULL);
		assert_int_equal(seen.types[SAMPLE], 41);
		assert_int_equal(seen.types[ROUND], 1);
		assert_int_equal(seen.damage.bad_bytes, 8 + 24 + 5);
		finish(&m, &seen, NULL);
	}
}

/* Bytes in garbage that look like the end of a round. */
static void rejects_a_round_in_garbage(void **state)
{
	struct perf_maker m = { 0 };
	struct seen seen;

	(void)state;
	maker_front(&m, 128);
	put_record(&m, SAMPLE, 24, 1);
	put_head(&m, SAMPLE, 0, 0);
	put_record(&m, ROUND, 8, 0);
	put_record(&m, SAMPLE, 24, 0);
	put_record(&m, 40, 24, 0); /* no such type */
	put_record(&m, SAMPLE, 24, 0);
	put_text(&m, "odd", 16);
	maker_data_end(&m, 0);
	maker_read(maker_fd(&m), &seen, NULL);
	assert_int_equal(seen.types[SAMPLE], 1);
	assert_int_equal(seen.damage.bad_bytes, 8 + 8 + 3 * 24 + 16);
	finish(&m, &seen, NULL);
}

static void reports_another_file_after_the_first(void **state)
{
	struct perf_maker m = { 0 };
	struct seen seen;

	(void)state;
	maker_front(&m, 128);
	put_record(&m, SAMPLE, 24, 1);
	maker_data_end(&m, 1 << 7);
	put_section(&m, m.out.len + 16, 8);
	put8(&m, 0);
	buf_put(&m.out, "PERFILE2", 8);
	put8(&m, 104);
	maker_read(maker_fd(&m), &seen, NULL);
	assert_int_equal(seen.types[SAMPLE], 1);
	assert_int_equal(seen.damage.bad_bytes, 16);
	finish(&m, &seen, NULL);
}

static void unknown_types_are_delivered_and_counted(void **state)
{
	struct perf_maker m = { 0 };
	struct seen seen;

	(void)state;
	maker_front(&m, 128);
	put_record(&m, SAMPLE, 24, 1);
	put_record(&m, 23, 16, 1);
	put_record(&m, 87, 16, 1);
	put_record(&m, 127, 16, 1);
	put_record(&m, 32769, 16,
		   1); /* a type of simpleperf, which did not write this file */
	put_record(&m, 0xfff0, 16, 1);
	put_record(&m, 22, 32, 1);
	put_record(&m, SAMPLE, 24, 1);
	maker_data_end(&m, 0);
	maker_read(maker_fd(&m), &seen, NULL);
	assert_int_equal(seen.records, 8);
	assert_int_equal(seen.types[SAMPLE], 2);
	assert_int_equal(seen.damage.unknown_records, 5);
	assert_int_equal(seen.damage.bad_bytes, 0);
	finish(&m, &seen, NULL);
}

/* ---- refused ---- */

static void check_refused(const void *bytes, size_t len, const char *text)
{
	struct perf_input *in = NULL;
	struct err err = { 0 };

	assert_int_equal(perf_input_open_fd(maker_fd_of(bytes, len), "f", &in, &err),
			 -EBADMSG);
	assert_string_equal(err.text, text);
}

static void rejects_other_files(void **state)
{
	struct perf_maker m = { 0 };
	int ends[2];
	struct perf_input *in = NULL;
	struct err err = { 0 };

	(void)state;
	check_refused("", 0, "'f' is empty");
	check_refused("PERFILE2", 8, "'f' is not a perf.data file");
	check_refused("hello, world: a text", 20, "'f' is not a perf.data file");
	check_refused(
		"PERFFILE\150\0\0\0\0\0\0\0", 16,
		"'f' has the first perf.data format, which perf last wrote in 2010: record again");
	check_refused("PERFILE2\20\0\0\0\0\0\0\0", 16,
		      "'f' contains no description of an event");
	check_refused("PERFILE2\150\0\0\0\0\0\0\0", 16,
		      "'f': the header is truncated or damaged");
	maker_front(&m, 128);
	set8(&m, 32, 8); /* size of the attr table */
	check_refused(m.out.data, m.out.len,
		      "'f' is damaged: the header contains no description of an event");

	maker_front(&m, 128);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], m.out.data, m.out.len), m.out.len);
	close(ends[1]);
	assert_int_equal(setenv("TMPDIR", "/no/such/folder", 1), 0);
	assert_int_equal(perf_input_open_fd(ends[0], "p", &in, &err), -ENOENT);
	assert_string_equal(
		err.text,
		"cannot copy the perf.data from the pipe 'p' to the directory "
		"'/no/such/folder' (set TMPDIR to use another): No such file or directory");
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_int_equal(perf_input_open("/no/such/file", TRUST_ANY, &in, &err),
			 -ENOENT);
	assert_string_equal(err.text,
			    "cannot open '/no/such/file': No such file or directory");
	buf_done(&m.out);
}

static void recognizes_magic_numbers(void **state)
{
	(void)state;
	assert_true(perf_input_is_magic("PERFILE2", 8));
	assert_true(perf_input_is_magic("2ELIFREP...", 11));
	assert_false(perf_input_is_magic("PERFILE", 7));
	assert_false(perf_input_is_magic("PERFFILE", 8));
}

/* ---- windows ---- */

/* Writes more than a window, with records of all sizes, and an AUX payload of 3 MiB in between. */
static void put_much(struct perf_maker *m, uint64_t *ret_samples)
{
	static const uint8_t junk[3 << 20];

	*ret_samples = 0;
	for (size_t size = 8; m->out.len < 3 << 20;
	     size = size < 30000 ? size * 2 : 8) {
		put_record(m, SAMPLE, size, (uint8_t)*ret_samples);
		++*ret_samples;
	}
	put_head(m, AUXTRACE, 0, 48);
	put8(m, sizeof(junk));
	for (int i = 0; i < 4; i++)
		put8(m, 0);
	buf_put(&m->out, junk, sizeof(junk));
	put_record(m, SAMPLE, 24, 1);
	++*ret_samples;
}

static void windows_hold_complete_records(void **state)
{
	struct perf_maker m = { .big = true };
	struct perf_input *in = NULL;
	uint64_t nr, done, total;
	struct seen seen;

	(void)state;
	maker_front(&m, 128);
	put_much(&m, &nr);
	maker_data_end(&m, 0);
	maker_read(maker_fd(&m), &seen, &in);
	assert_int_equal(seen.types[SAMPLE], nr);
	assert_int_equal(seen.types[AUXTRACE], 1);
	assert_int_equal(seen.damage.aux_bytes, 3 << 20);
	assert_int_equal(seen.damage.cut_bytes, 0);
	assert_int_equal(seen.damage.missing_bytes, 0);
	perf_input_progress(in, &done, &total);
	assert_int_equal(done, m.out.len - MAKER_ATTRS - 144);
	assert_int_equal(total, done);
	finish(&m, &seen, in);
}

/* Chunks that are kept do not change. */
static void chunks_stay_of(bool stacks)
{
	struct perf_maker m = { 0 };
	struct perf_input *in = NULL;
	struct perf_chunk chunks[64];
	size_t nr_chunks = 0;
	uint64_t nr;

	maker_front(&m, 128);
	if (stacks)
		maker_ask_for_stacks(&m);
	put_much(&m, &nr);
	maker_data_end(&m, 0);
	assert_int_equal(perf_input_open_fd(maker_fd(&m), "t", &in, NULL), 0);
	while (perf_input_next(in, &chunks[nr_chunks], NULL) == 0) {
		nr_chunks++;
		assert_in_range(nr_chunks, 1, 63);
	}
	for (size_t i = 0; i < nr_chunks; i++) {
		assert_in_range(chunks[i].len, 8, PERF_CHUNK_BYTES);
		assert_memory_equal(chunks[i].bytes, m.out.data + chunks[i].offset,
				    chunks[i].len);
		perf_input_release(in, &chunks[i]);
	}
	perf_input_close(in);
	buf_done(&m.out);
}

static void chunks_stay_valid(void **state)
{
	(void)state;
	chunks_stay_of(false);
	chunks_stay_of(true);
}

/* Reads a file that another process truncates meanwhile. */
static void truncated_while_read_of(bool stacks)
{
	struct perf_maker m = { 0 };
	struct perf_input *in = NULL;
	struct seen seen = { 0 };
	uint64_t size;
	uint64_t nr;
	int fd;

	maker_front(&m, 128);
	if (stacks)
		maker_ask_for_stacks(&m);
	put_much(&m, &nr);
	maker_data_end(&m, 0);
	size = m.out.len - MAKER_ATTRS - 144;
	fd = maker_fd(&m);
	assert_int_equal(perf_input_open_fd(dup(fd), "t", &in, NULL), 0);
	assert_int_equal(ftruncate(fd, 2 << 20), 0);
	maker_read_all(in, &seen);
	assert_int_equal(seen.result, 1);
	assert_in_range(seen.types[SAMPLE], 1, nr - 1);
	assert_int_equal(seen.damage.missing_bytes,
			 size - seen.bytes - seen.damage.cut_bytes);
	close(fd);
	finish(&m, &seen, in);
}

static void handles_truncation_during_reading(void **state)
{
	(void)state;
	truncated_while_read_of(false);
	truncated_while_read_of(true);
}

/* Another process truncates the file while a chunk is in use. */
static void handles_truncation_of_a_mapped_chunk(void **state)
{
	struct perf_maker m = { 0 };
	struct perf_input *in = NULL;
	struct perf_chunk c;
	struct seen seen = { 0 };
	uint64_t nr, sum = 0;
	int fd;

	(void)state;
	maker_front(&m, 128);
	maker_ask_for_stacks(&m);
	put_much(&m, &nr);
	maker_data_end(&m, 0);
	fd = maker_fd(&m);
	assert_int_equal(perf_input_open_fd(dup(fd), "t", &in, NULL), 0);
	assert_int_equal(perf_input_next(in, &c, NULL), 0);
	assert_false(perf_chunk_is_lost(&c));
	assert_int_equal(ftruncate(fd, 4096), 0);
	for (size_t i = 0; i < c.len; i++)
		sum += c.bytes[i];
	assert_int_not_equal(sum, 0);
	assert_true(perf_chunk_is_lost(&c));
	assert_int_equal(c.bytes[c.len - 1], 0);
	perf_input_release(in, &c);
	maker_read_all(in, &seen);
	assert_int_equal(seen.result, 1);
	assert_int_equal(seen.records, 0);
	assert_true(seen.damage.missing_bytes > 1 << 20);
	close(fd);
	finish(&m, &seen, in);
}

static void handles_allocation_failure(void **state)
{
	struct perf_maker m = { 0 };

	(void)state;
	maker_front(&m, 128);
	put_data(&m);
	maker_data_end(&m, 0);
	for (unsigned long n = 1;; n++) {
		int r;

		if (!maker_read_short(maker_fd(&m), n, &r)) {
			assert_int_equal(r, 1);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	buf_done(&m.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_attrs_of_all_versions),
		cmocka_unit_test(survives_every_prefix),
		cmocka_unit_test(reads_an_interrupted_file_to_the_end),
		cmocka_unit_test(finds_records_after_a_bad_one),
		cmocka_unit_test(finds_the_last_records),
		cmocka_unit_test(rejects_samples_of_unknown_events),
		cmocka_unit_test(a_too_long_sample_hides_no_others),
		cmocka_unit_test(ignores_a_recording_after_the_first),
		cmocka_unit_test(reports_another_file_after_the_first),
		cmocka_unit_test(continues_at_the_next_round),
		cmocka_unit_test(rejects_a_round_in_garbage),
		cmocka_unit_test(unknown_types_are_delivered_and_counted),
		cmocka_unit_test(rejects_other_files),
		cmocka_unit_test(recognizes_magic_numbers),
		cmocka_unit_test(windows_hold_complete_records),
		cmocka_unit_test(chunks_stay_valid),
		cmocka_unit_test(handles_truncation_during_reading),
		cmocka_unit_test(handles_truncation_of_a_mapped_chunk),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(tests);
}
