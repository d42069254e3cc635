/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "format/perfdata/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "format/perfdata/data_priv.h"
#include "unit.h"

static char path[] = "/tmp/test_perf_data_XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static const uint64_t ids[] = { 11, 12 };

static struct perf_data_writer *open_writer(void)
{
	static const struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			       PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.exclude_kernel =
			1, /* otherwise perf misses the kernel's MMAP record */
	};
	const struct perf_data_event events[] = {
		{ .attr = &attr, .name = "TIMER", .ids = ids, .nr_ids = 1 },
		{ .attr = &attr, .name = "other", .ids = ids + 1, .nr_ids = 1 },
	};
	struct perf_data_writer *w = NULL;
	struct err err = { 0 };

	assert_int_equal(perf_data_writer_open(path, events, 2, &w, &err), 0);
	return w;
}

struct sample_bytes {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time_ns;
};

static void write_samples(struct perf_data_writer *w, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		const struct sample_bytes s = {
			.header = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
				    sizeof(s) },
			.id = ids[i % 2],
			.ip = 0x1000 + i,
			.pid = 7,
			.tid = 7,
			.time_ns = 1000 + i,
		};

		assert_int_equal(perf_data_writer_write(w, &s, sizeof(s), NULL), 0);
	}
}

static struct perf_data_header read_header(struct buf *file)
{
	struct perf_data_header h;

	buf_clear(file);
	assert_int_equal(io_read_file(path, file, 64 << 20), 0);
	assert_true(file->len >= sizeof(h));
	memcpy(&h, file->data, sizeof(h));
	assert_memory_equal(&h.magic, "PERFILE2", 8);
	assert_int_equal(h.size, 104);
	assert_int_equal(h.attr_size, sizeof(struct perf_event_attr) + 16);
	return h;
}

static const char *command[] = { "operf", "a b" };
static const struct perf_data_build_id images[] = {
	{ "[kernel.kallsyms]", { 20, { 0xaa } }, true },
	{ "/usr/bin/x", { 8, { 1, 2, 3 } }, false },
	{ "/no/id", { 0, { 0 } }, false },
};

static const struct perf_data_features features = {
	.hostname = "host",
	.os_release = "6.1",
	.version = "0.1",
	.arch = "x86_64",
	.nr_cpus_available = 4,
	.nr_cpus_online = 2,
	.nr_command = 2,
	.build_ids = images,
	.nr_build_ids = 3,
	.first_ns = 1000,
	.last_ns = 2000,
	.clock_id = 1,
	.clock_wall_ns = 5,
	.clock_ns = 6,
};

static void close_writer(struct perf_data_writer *w)
{
	struct perf_data_features f = features;
	struct err err = { 0 };

	f.command = (char *const *)command;
	assert_int_equal(perf_data_writer_close(w, &f, &err), 0);
}

/* Returns the bytes of a feature, found through the index after the data; NULL if it is
 * missing. */
static const uint8_t *feature(const struct buf *file, const struct perf_data_header *h,
			      unsigned int bit, uint64_t *ret_len)
{
	struct perf_data_section section;
	uint64_t at = h->data.offset + h->data.size;

	if (!(h->features[0] >> bit & 1))
		return NULL;
	at += sizeof(section) *
	      (uint64_t)__builtin_popcountll(h->features[0] & ((1ULL << bit) - 1));
	assert_true(at + sizeof(section) <= file->len);
	memcpy(&section, file->data + at, sizeof(section));
	assert_true(section.offset + section.size <= file->len);
	*ret_len = section.size;
	return file->data + section.offset;
}

static void writes_events_before_the_data(void **state)
{
	struct perf_data_section section;
	struct perf_data_header h;
	struct buf file = { 0 };
	uint64_t id;

	(void)state;
	close_writer(open_writer());
	h = read_header(&file);
	assert_int_equal(h.attrs.size, 2 * h.attr_size);
	assert_int_equal(h.data.size, 0);
	for (size_t i = 0; i < 2; i++) {
		memcpy(&section,
		       file.data + h.attrs.offset + (i + 1) * h.attr_size - 16, 16);
		assert_int_equal(section.size, 8);
		memcpy(&id, file.data + section.offset, 8);
		assert_int_equal(id, ids[i]);
	}
	buf_done(&file);
}

static void writes_features_after_the_data(void **state)
{
	static const uint8_t nr_cpus[] = { 4, 0, 0, 0, 2, 0, 0, 0 };
	struct perf_data_writer *w = open_writer();
	struct perf_data_header h;
	struct buf file = { 0 };
	const uint8_t *f;
	uint16_t misc;
	uint64_t len;

	(void)state;
	write_samples(w, 3);
	assert_int_equal(perf_data_writer_finished_round(w, NULL), 0);
	close_writer(w);
	h = read_header(&file);
	assert_int_equal(h.data.size, 3 * sizeof(struct sample_bytes) + 8);

	f = feature(&file, &h, 3, &len);
	assert_non_null(f);
	assert_int_equal(len, 4 + 64);
	assert_string_equal((const char *)f + 4, "host");
	f = feature(&file, &h, 7, &len);
	assert_int_equal(len, 8);
	assert_memory_equal(f, nr_cpus, 8);
	f = feature(&file, &h, 11, &len);
	assert_int_equal(len, 4 + 2 * 68);
	assert_string_equal((const char *)f + 4 + 68 + 4, "a b");
	/* Two of the three images have a build-id. */
	f = feature(&file, &h, 2, &len);
	assert_int_equal(len, 2 * (36 + 64));
	memcpy(&misc, f + 4, 2);
	assert_int_equal(misc, PERF_RECORD_MISC_KERNEL | 1 << 15);
	assert_int_equal(f[100 + 12], 1);
	assert_int_equal(f[100 + 32], 8);
	assert_string_equal((const char *)f + 100 + 36, "/usr/bin/x");
	/* Unknown features are omitted. */
	assert_null(feature(&file, &h, 8, &len));
	assert_null(feature(&file, &h, 10, &len));
	buf_done(&file);
}

/* Killed after a flush: the header describes what is in the file by then. */
static void an_interrupted_file_is_readable(void **state)
{
	struct perf_data_writer *w = open_writer();
	struct perf_data_header h;
	struct buf file = { 0 };

	(void)state;
	write_samples(w, 100000); /* many buffers */
	assert_int_equal(perf_data_writer_flush(w, NULL), 0);
	h = read_header(&file);
	assert_int_equal(h.data.size, 100000 * sizeof(struct sample_bytes));
	assert_int_equal(h.data.offset + h.data.size, file.len);
	assert_int_equal(h.features[0], 0);
	assert_int_equal(perf_data_writer_bytes(w), file.len);
	close_writer(w);
	buf_done(&file);
}

static void names_a_path_that_cannot_be_created(void **state)
{
	struct perf_data_writer *w = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(perf_data_writer_open("/nonexistent/x", NULL, 0, &w, &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
	assert_null(w);
}

static void reports_a_full_disk_each_time(void **state)
{
	struct perf_data_writer *w = NULL;
	struct err err = { 0 };

	(void)state;
	if (access("/dev/full", W_OK) < 0)
		skip();
	assert_int_equal(perf_data_writer_open("/dev/full", NULL, 0, &w, &err),
			 -ENOSPC);
}

/* perf itself reads the file without a message. */
static void perf_reads_it(void **state)
{
	static const char *const commands[] = { "report --stdio -f", "script -f",
						"evlist -v -f", "buildid-list -f" };
	struct perf_data_writer *w;
	char line[256];

	(void)state;
	if (system("perf --version >/dev/null 2>&1") != 0)
		skip();
	w = open_writer();
	write_samples(w, 10);
	close_writer(w);
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		(void)snprintf(line, sizeof(line),
			       "perf %s -i %s 2>&1 >/dev/null </dev/null | grep . && "
			       "exit 1 || "
			       "exit 0",
			       commands[i], path);
		if (system(line) != 0)
			fail_msg("perf %s complains", commands[i]);
	}
	(void)snprintf(line, sizeof(line),
		       "test $(perf script -f -i %s 2>/dev/null | wc -l) = 10", path);
	assert_int_equal(system(line), 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(writes_events_before_the_data),
		cmocka_unit_test(writes_features_after_the_data),
		cmocka_unit_test(an_interrupted_file_is_readable),
		cmocka_unit_test(names_a_path_that_cannot_be_created),
		cmocka_unit_test(reports_a_full_disk_each_time),
		cmocka_unit_test(perf_reads_it),
	};

	return cmocka_run_group_tests(cases, make_file, remove_file);
}
