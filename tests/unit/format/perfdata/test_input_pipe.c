/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads pipe streams, from a pipe in chunks of any size and from a file; and directories. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "base/files/io.h"
#include "format/perfdata/input.h"
#include "format/perfdata/perf_maker.h"
#include "unit.h"

enum {
	SAMPLE = PERF_RECORD_SAMPLE,
	MMAP = PERF_RECORD_MMAP,
	HEADER_ATTR = 64,
	TRACING_DATA = 66,
	BUILD_ID = 67,
	ROUND = 68,
	EVENT_UPDATE = 78,
	FEATURE = 80,
	UPDATE_NAME = 2,
	FEATURE_HOSTNAME = 3,
	PIPE_HEADER = 16
};

static void put_header_attr(struct perf_maker *m, uint64_t id)
{
	put_head(m, HEADER_ATTR, 0, 8 + 112 + 16);
	put_attr(m, 112);
	put8(m, id);
	put8(m, id + 1);
}

static void put_update(struct perf_maker *m, uint64_t id, const char *name)
{
	put_head(m, EVENT_UPDATE, 0, 8 + 16 + 24);
	put8(m, UPDATE_NAME);
	put8(m, id);
	put_text(m, name, 24);
}

static void put_hostname(struct perf_maker *m, const char *name)
{
	put_head(m, FEATURE, 0, 8 + 8 + 4 + 64);
	put8(m, FEATURE_HOSTNAME);
	put4(m, 64);
	put_text(m, name, 64);
}

static void put_build_id(struct perf_maker *m)
{
	put_head(m, BUILD_ID, PERF_RECORD_MISC_KERNEL | 1 << 15, 8 + 4 + 24 + 32);
	put4(m, 0xffffffff);
	for (uint8_t i = 0; i < 20; i++)
		buf_put_u8(&m->out, i < 8 ? (uint8_t)(i + 1) : 0);
	buf_put_u8(&m->out, 8);
	put_text(m, "", 3);
	put_text(m, "[kernel.kallsyms]", 32);
}

/* Makes a stream as perf record writes it: metadata, payload, records, build-ids. */
static void make_stream(struct perf_maker *m)
{
	buf_put(&m->out, m->big ? "2ELIFREP" : "PERFILE2", 8);
	put8(m, PIPE_HEADER);
	put_hostname(m, "there");
	put_header_attr(m, 100);
	put_header_attr(m, 200);
	put_head(m, TRACING_DATA, 0, 12);
	put4(m, 40);
	put_text(m, "not records", 40);
	put_record(m, MMAP, 72, 1);
	put_update(m, 201, "other");
	put_record(m, SAMPLE, 24, 2);
	put_update(m, 100, "too late");
	put_hostname(m, "too late");
	put_header_attr(m, 300);
	put_record(m, ROUND, 8, 0);
	for (int i = 0; i < 3000; i++)
		put_record(m, SAMPLE, 40, (uint8_t)i);
	put_build_id(m);
	put_record(m, ROUND, 8, 0);
}

static void check_stream(const struct perf_maker *m, const struct seen *seen,
			 const struct perf_input *in)
{
	const struct perf_input_info *info = perf_input_info(in);

	assert_int_equal(seen->result, 1);
	assert_true(info->is_pipe);
	assert_int_equal(info->swap, m->big);
	assert_string_equal(info->hostname, "there");
	assert_int_equal(info->features[0], 1 << FEATURE_HOSTNAME);
	assert_int_equal(info->events.nr, 2);
	assert_string_equal(info->events.at[0].name, "cpu-clock:uhp");
	assert_string_equal(info->events.at[1].name, "other");
	assert_int_equal(info->events.at[1].ids.nr, 2);
	assert_int_equal(info->events.at[1].ids.at[1], 201);
	assert_int_equal(info->build_ids.nr, 1);
	assert_int_equal(info->build_ids.at[0].pid, -1);
	assert_int_equal(info->build_ids.at[0].id.len, 8);
	assert_int_equal(info->build_ids.at[0].id.bytes[7], 8);
	assert_string_equal(info->build_ids.at[0].name, "[kernel.kallsyms]");
	assert_int_equal(seen->types[SAMPLE], 3001);
	assert_int_equal(seen->types[MMAP], 1);
	assert_int_equal(seen->types[ROUND], 2);
	assert_int_equal(seen->types[HEADER_ATTR], 3);
	assert_int_equal(seen->types[TRACING_DATA], 1);
	assert_int_equal(seen->types[EVENT_UPDATE], 2);
	assert_int_equal(seen->types[FEATURE], 2);
	assert_int_equal(seen->types[BUILD_ID], 1);
	assert_int_equal(seen->bytes, m->out.len - PIPE_HEADER - 40);
	assert_int_equal(seen->damage.cut_bytes, 0);
	assert_int_equal(seen->damage.missing_bytes, 0);
	assert_int_equal(seen->damage.bad_bytes, 0);
}

static void reads_a_file_in_pipe_format(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct perf_maker m = { .big = big };
		struct perf_input *in = NULL;
		struct seen seen, again = { 0 };

		make_stream(&m);
		maker_read(maker_fd(&m), &seen, &in);
		assert_int_equal(seen.opened, 0);
		check_stream(&m, &seen, in);
		assert_int_equal(perf_input_rewind(in, NULL), 0);
		maker_read_all(in, &again);
		check_stream(&m, &again, in);
		assert_memory_equal(seen.all.data, again.all.data, seen.bytes);
		buf_done(&seen.all);
		buf_done(&again.all);
		perf_input_close(in);
		buf_done(&m.out);
	}
}

/* Returns the read end of a pipe into which a child writes `len` bytes, `piece` at a time. */
static int pipe_of(const void *bytes, size_t len, size_t piece, pid_t *ret_child)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	*ret_child = fork();
	assert_true(*ret_child >= 0);
	if (*ret_child) {
		close(ends[1]);
		return ends[0];
	}
	close(ends[0]);
	for (size_t at = 0; at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;

		if (io_write_all(ends[1], (const char *)bytes + at, n))
			_exit(1);
	}
	_exit(0);
}

static void reads_a_pipe_in_small_chunks(void **state)
{
	static const size_t pieces[] = { 1, 7, 4096, 100000 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(pieces); i++) {
		struct perf_maker m = { .big = i & 1 };
		struct perf_input *in = NULL;
		struct err err = { 0 };
		struct seen seen;
		uint64_t done, total;
		int status;
		pid_t child;

		make_stream(&m);
		maker_read(pipe_of(m.out.data, m.out.len, pieces[i], &child), &seen,
			   &in);
		assert_int_equal(seen.opened, 0);
		check_stream(&m, &seen, in);
		perf_input_progress(in, &done, &total);
		assert_int_equal(total, 0);
		assert_int_equal(done, m.out.len - PIPE_HEADER);
		assert_int_equal(perf_input_rewind(in, &err), -ESPIPE);
		perf_input_close(in);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		buf_done(&seen.all);
		buf_done(&m.out);
	}
}

/* `cat perf.data | ...`: the features after the data are read as in a file. */
static void reads_a_file_through_a_pipe(void **state)
{
	struct perf_maker m = { .big = true };
	struct seen file, piped;
	struct perf_input *in = NULL;
	int status;
	pid_t child;

	(void)state;
	maker_front(&m, 128);
	for (int i = 0; i < 50000; i++)
		put_record(&m, SAMPLE, 40, (uint8_t)i);
	maker_data_end(&m, 1 << FEATURE_HOSTNAME);
	put_section(&m, m.out.len + 16, 4 + 64);
	put4(&m, 64);
	put_text(&m, "there", 64);
	maker_read(maker_fd(&m), &file, NULL);
	assert_int_equal(file.types[SAMPLE], 50000);
	maker_read(pipe_of(m.out.data, m.out.len, 3000, &child), &piped, &in);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(piped.result, 1);
	assert_int_equal(piped.bytes, file.bytes);
	assert_memory_equal(piped.all.data, file.all.data, file.bytes);
	assert_string_equal(perf_input_info(in)->hostname, "there");
	assert_false(perf_input_info(in)->is_pipe);
	assert_int_equal(piped.damage.bad_features, 0);
	perf_input_close(in);
	buf_done(&file.all);
	buf_done(&piped.all);
	buf_done(&m.out);
}

static void survives_every_prefix(void **state)
{
	struct perf_maker m = { 0 };
	size_t known; /* where the first event is complete */

	(void)state;
	make_stream(&m);
	known = PIPE_HEADER + 84 + 136;
	for (size_t len = 0; len < 2000; len++) {
		struct seen seen;
		uint64_t there;

		maker_read(maker_fd_of(m.out.data, len), &seen, NULL);
		if (len < known) {
			assert_int_equal(seen.opened, -EBADMSG);
			continue;
		}
		assert_int_equal(seen.opened, 0);
		assert_int_equal(seen.result, 1);
		assert_int_equal(seen.damage.bad_bytes, 0);
		/* All bytes are counted, except the 40 bytes of payload. */
		there = seen.bytes + seen.damage.cut_bytes + PIPE_HEADER;
		if (seen.types[TRACING_DATA])
			there += 40 - seen.damage.missing_bytes;
		assert_int_equal(there, len);
		buf_done(&seen.all);
	}
	buf_done(&m.out);
}

/* A pipe is read to its end even after a bad record, so that its writer is not stopped. */
static void reports_a_bad_record_in_a_pipe(void **state)
{
	struct perf_maker m = { 0 };
	struct seen seen;
	size_t good;
	int status;
	pid_t child;

	(void)state;
	buf_put(&m.out, "PERFILE2", 8);
	put8(&m, PIPE_HEADER);
	put_header_attr(&m, 1);
	put_record(&m, SAMPLE, 24, 1);
	good = m.out.len;
	put_record(&m, SAMPLE, 24, 0);
	put_head(&m, SAMPLE, 0, 3);
	for (int i = 0; i < 20000; i++)
		put_text(&m, "garbage", 64);
	maker_read(pipe_of(m.out.data, m.out.len, 5000, &child), &seen, NULL);
	assert_int_equal(seen.result, 1);
	assert_int_equal(seen.bytes, good + 24 - PIPE_HEADER);
	assert_int_equal(seen.damage.bad_bytes, m.out.len - good - 24);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	buf_done(&seen.all);
	buf_done(&m.out);
}

/* ---- directories ---- */

static char dir[] = "/tmp/test_perf_input_XXXXXX";

static void write_file(const char *name, const struct perf_maker *m)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(io_write_file(path, m->out.data, m->out.len, 0600), 0);
}

static void write_part(const char *name, unsigned int nr_records, uint8_t fill)
{
	struct perf_maker m = { 0 };

	for (unsigned int i = 0; i < nr_records; i++)
		put_record(&m, SAMPLE, 24, fill);
	write_file(name, &m);
	buf_done(&m.out);
}

/* data, then data.N in numeric order; other files are ignored. */
static void reads_a_directory_file_by_file(void **state)
{
	struct perf_maker m = { 0 };
	struct perf_input *in = NULL;
	struct perf_chunk c;
	struct seen seen = { 0 };
	uint64_t done, total;
	uint32_t part = 0;
	char path[128];

	(void)state;
	maker_front(&m, 128);
	put_record(&m, MMAP, 72, 9);
	maker_data_end(&m, 0);
	write_file("data", &m);
	write_part("data.10", 3, 10);
	write_part("data.2", 2, 2);
	write_part("data.0", 0, 0);
	write_part("other", 5, 5);
	snprintf(path, sizeof(path), "%s/data.1", dir);
	assert_int_equal(mkdir(path, 0700), 0);

	assert_int_equal(perf_input_open(dir, TRUST_ANY, &in, NULL), 0);
	assert_true(perf_input_info(in)->is_directory);
	maker_read_all(in, &seen);
	assert_int_equal(seen.damage.missing_files, 11 - 3);
	assert_int_equal(seen.types[SAMPLE], 5);
	assert_int_equal(seen.types[MMAP], 1);
	assert_int_equal(seen.all.data[8], 9);
	assert_int_equal(seen.all.data[72 + 8], 2);
	assert_int_equal(seen.all.data[72 + 2 * 24 + 8], 10);
	perf_input_progress(in, &done, &total);
	assert_int_equal(total, 72 + 5 * 24);
	assert_int_equal(done, total);

	assert_int_equal(perf_input_rewind(in, NULL), 0);
	while (perf_input_next(in, &c, NULL) == 0) {
		assert_in_range(c.part, part, 3);
		assert_int_equal(c.offset, c.part ? 0 : MAKER_ATTRS + 144);
		part = c.part;
		perf_input_release(in, &c);
	}
	assert_int_equal(part, 3);
	perf_input_close(in);
	buf_done(&seen.all);
	buf_done(&m.out);
}

/* Writes header features for one event with two ids, on a machine with `nr_cpus`. */
static void put_directory_features(struct perf_maker *m, uint64_t version,
				   uint32_t nr_cpus)
{
	maker_data_end(m, 1 << 7 | 1 << 24);
	put_section(m, m->out.len + 2 * 16, 8);
	put_section(m, m->out.len + 16 + 8, 8);
	put4(m, nr_cpus);
	put4(m, nr_cpus);
	put8(m, version);
}

/* Missing files are reported, even if only the last one is missing. A directory can have a single
 * data file and other files. */
static void reports_missing_files_in_a_directory(void **state)
{
	static const struct {
		uint64_t version;
		uint32_t nr_cpus;
		const char *names[2];
		uint64_t missing;
	} cases[] = {
		{ 0, 2, { NULL }, 0 },
		{ 1, 2, { NULL }, 2 },
		{ 1, 8, { "data.0" }, 1 },
		{ 1, 2, { "data.1" }, 1 },
		{ 1, 2, { "data.0", "data.1" }, 0 },
		{ 1, 1, { "data.0" }, 0 },
		{ 1, 0, { "data.0" }, 0 },
		{ 1, 2, { "data.0", "data.2" }, 1 },
		{ 1, 2, { "data.0", "data.01" }, 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct perf_maker m = { 0 };
		struct perf_input *in = NULL;

		assert_int_equal(io_remove_tree(dir), 0);
		assert_int_equal(mkdir(dir, 0700), 0);
		maker_front(&m, 128);
		put_record(&m, MMAP, 72, 9);
		put_directory_features(&m, cases[i].version, cases[i].nr_cpus);
		write_file("data", &m);
		for (size_t j = 0; j < 2 && cases[i].names[j]; j++)
			write_part(cases[i].names[j], 0, 0);
		assert_int_equal(perf_input_open(dir, TRUST_ANY, &in, NULL), 0);
		assert_int_equal(perf_input_damage(in)->missing_files,
				 cases[i].missing);
		assert_int_equal(perf_input_damage(in)->bad_features, 0);
		perf_input_close(in);
		buf_done(&m.out);
	}
}

static void reports_a_directory_without_data(void **state)
{
	struct perf_input *in = NULL;
	struct err err = { 0 };
	char text[128];

	(void)state;
	assert_int_equal(perf_input_open(dir, TRUST_ANY, &in, &err), -ENOENT);
	snprintf(text, sizeof(text), "cannot open '%s/data': No such file or directory",
		 dir);
	assert_string_equal(err.text, text);
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return io_remove_tree(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_file_in_pipe_format),
		cmocka_unit_test(reads_a_pipe_in_small_chunks),
		cmocka_unit_test(reads_a_file_through_a_pipe),
		cmocka_unit_test(survives_every_prefix),
		cmocka_unit_test(reports_a_bad_record_in_a_pipe),
		cmocka_unit_test(reports_a_directory_without_data),
		cmocka_unit_test(reads_a_directory_file_by_file),
		cmocka_unit_test(reports_missing_files_in_a_directory),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
