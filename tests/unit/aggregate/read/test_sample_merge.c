/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads segments of several recordings as one stream. */
#include "aggregate/read/sample_merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregate/selection/spec.h"
#include "base/err.h"

#include "unit.h"

enum {
	SEGMENTS = 3,
	SAMPLES = 100
};

struct world {
	char dir[64];
	char *paths[SEGMENTS];
	struct spec spec;
	struct sample_merge *merge;
};

/* Writes segment `n`: one sample every 1000 ns from n * 500 + n * 50 * 1000 on, all with one
 * command and one binary, whose numbers differ between the segments. */
static void write_segment(struct world *w, int n, const char *host, const char *boot,
			  uint64_t kernel_start)
{
	const struct session_info info = {
		.tool_version = "1",
		.hostname = host,
		.os_release = n == 2 ? "6.2" : "6.1",
		.machine = "x86_64",
		.cpu_desc = "",
		.boot_id = boot,
		.command = "operf x",
		.vmlinux = "",
		.nr_cpus_online = 2 + (uint32_t)n,
		.start_ns = 100 * (uint64_t)n,
	};
	struct session_totals totals = { .lost = 7, .undecodable = 1 };
	struct image kernel = { .kind = IMAGE_KERNEL,
				.start = kernel_start,
				.end = kernel_start + 4096 };
	struct image image = { .kind = IMAGE_FILE, .inode = 5 };
	struct event_desc event = { .frequency_hz = 997 };
	struct thread thread = { .pid = 5, .tid = 5, .app = DICT_NONE };
	struct sample s = { .period = (uint64_t)n };
	struct segment_writer *writer;
	struct dict d;

	assert_int_equal(dict_init(&d), 0);
	for (int i = 0; i < n; i++) {
		char name[2] = { (char)('x' + i), 0 };

		image.name = dict_string(&d, name);
		dict_image(&d, &image);
	}
	image.name = dict_string(&d, "/bin/prog");
	event.name = dict_string(&d, n == 2 ? "faults" : "cycles");
	thread.comm = dict_string(&d, n == 1 ? "two" : "one");
	kernel.name = dict_string(&d, "[kernel.kallsyms]");
	s.event = dict_event(&d, &event);
	s.thread = dict_thread(&d, &thread);
	s.stack = dict_stack(&d, STACK_ROOT,
			     dict_frame(&d, dict_image(&d, &image), 0x40));
	if (kernel_start)
		dict_image(&d, &kernel);
	assert_true(asprintf(&w->paths[n], "%s/%d", w->dir, n) > 0);
	assert_int_equal(segment_writer_open(w->paths[n], &info, &d, &writer, NULL), 0);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		s.time_ns = (uint64_t)n * 50500 + i * 1000;
		assert_int_equal(segment_writer_add(writer, &s), 0);
	}
	totals.finished = true;
	assert_int_equal(segment_writer_close(writer, &totals, NULL), 0);
	dict_done(&d);
}

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	snprintf(w->dir, sizeof(w->dir), "/tmp/sample-merge-XXXXXX");
	if (!mkdtemp(w->dir))
		return -1;
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < SEGMENTS; i++) {
		if (w->paths[i])
			unlink(w->paths[i]);
		free(w->paths[i]);
	}
	rmdir(w->dir);
	spec_done(&w->spec);
	sample_merge_free(w->merge);
	free(w);
	return 0;
}

/* Adds the segments as sources: the first one or two belong to one session, the third one to
 * another. */
static void add(struct world *w, const char *word, bool chosen)
{
	struct err err;

	if (word)
		assert_int_equal(spec_add(&w->spec, word, &err), 0);
	assert_int_equal(sample_merge_new(&w->spec, NULL, &w->merge), 0);
	for (uint32_t i = 0; i < SEGMENTS; i++) {
		const struct sample_merge_source source = { .path = w->paths[i],
							    .session_dir = "",
							    .session = i / 2,
							    .chosen = chosen };

		assert_int_equal(sample_merge_add(w->merge, &source, &err), 0);
	}
}

/* Counts the samples of each segment (identified by its period); all are in order of time. */
static void count(struct world *w, uint64_t counts[SEGMENTS])
{
	const struct dict *d = sample_merge_dict(w->merge);
	uint64_t last_ns = 0;
	struct sample s;
	struct err err;
	int r;

	memset(counts, 0, SEGMENTS * sizeof(*counts));
	while (!(r = sample_merge_next(w->merge, &s, &err))) {
		const struct frame *f = &d->frames.at[d->stacks.at[s.stack].frame];

		assert_true(s.time_ns >= last_ns);
		last_ns = s.time_ns;
		assert_string_equal(dict_str(d, d->images.at[f->image].name),
				    "/bin/prog");
		assert_string_equal(dict_str(d, d->threads.at[s.thread].comm),
				    s.period == 1 ? "two" : "one");
		assert_string_equal(dict_str(d, d->events.at[s.event].name),
				    s.period == 2 ? "faults" : "cycles");
		counts[s.period]++;
	}
	assert_int_equal(r, 1);
}

static void write_all(struct world *w)
{
	write_segment(w, 0, "host", "boot", 0x8000);
	write_segment(w, 1, "host", "boot", 0);
	write_segment(w, 2, "host", "later", 0x9000);
}

static void test_merges_in_time_order(void **state)
{
	struct world *w = *state;
	const struct sample_merge_info *info;
	const uint32_t *machines;
	const struct dict *d;
	uint64_t counts[SEGMENTS];

	write_all(w);
	add(w, NULL, false);
	d = sample_merge_dict(w->merge);
	/* Events are known before the samples are read. */
	assert_int_equal(d->events.nr, 2);
	assert_int_equal(d->images.nr, 2);
	count(w, counts);
	for (int i = 0; i < SEGMENTS; i++)
		assert_int_equal(counts[i], SAMPLES);
	/* Two kernels, and one binary that three of the segments have. */
	assert_int_equal(d->images.nr, 3);
	machines = sample_merge_machines(w->merge);
	assert_int_equal(machines[0], 0);
	assert_int_equal(machines[1], 1);
	assert_int_equal(machines[2], 0);
	info = sample_merge_info(w->merge);
	assert_int_equal(info->nr_machines, 2);
	assert_int_equal(info->nr_segments, 3);
	assert_int_equal(info->nr_unfinished, 0);
	assert_int_equal(info->lost, 21);
	assert_int_equal(info->malformed, 3);
	assert_string_equal(info->first.hostname, "host");
	assert_string_equal(info->first.os_release, "");
	assert_int_equal(info->first.nr_cpus_online, 4);
	assert_int_equal(sample_merge_skipped(w->merge), 0);
}

/* The first session lasts from 0 to 149500, so half of it ends at 74750; the other one from
 * 101000 to 200000, at 150500. */
static void test_shares_are_relative_to_each_session(void **state)
{
	struct world *w = *state;
	uint64_t counts[SEGMENTS];

	write_all(w);
	add(w, "time:0%-50%", false);
	count(w, counts);
	assert_int_equal(counts[0], 75); /* 0 to 74000 */
	assert_int_equal(counts[1], 25); /* 50500 to 74500 */
	assert_int_equal(counts[2], 50); /* 101000 to 150000 */
	assert_int_equal(sample_merge_skipped(w->merge), 3 * SAMPLES - 150);
}

static void test_selected_samples_are_not_cut_twice(void **state)
{
	struct world *w = *state;
	uint64_t counts[SEGMENTS];

	write_all(w);
	add(w, "time:0%-50%", true);
	count(w, counts);
	for (int i = 0; i < SEGMENTS; i++)
		assert_int_equal(counts[i], SAMPLES);
}

static void test_one_event_alone(void **state)
{
	struct world *w = *state;
	uint64_t counts[SEGMENTS];

	write_all(w);
	add(w, "event:faults", false);
	assert_int_equal(sample_merge_dict(w->merge)->events.nr, 1);
	count(w, counts);
	assert_int_equal(counts[0], 0);
	assert_int_equal(counts[1], 0);
	assert_int_equal(counts[2], SAMPLES);
	assert_int_equal(sample_merge_dict(w->merge)->events.nr, 1);
}

/* The same host and boot, but the kernel is at another address: it was another boot after all. */
static void test_kernels_distinguish_machines(void **state)
{
	struct world *w = *state;

	write_segment(w, 0, "host", "", 0x8000);
	write_segment(w, 1, "host", "", 0x8000);
	write_segment(w, 2, "host", "", 0xa000);
	add(w, NULL, false);
	assert_int_equal(sample_merge_info(w->merge)->nr_machines, 2);
}

/* A session without a host name does not count as another machine. */
static void test_a_host_without_a_name(void **state)
{
	struct world *w = *state;

	write_segment(w, 0, "", "", 0x8000);
	write_segment(w, 1, "host", "", 0x8000);
	write_segment(w, 2, "other", "", 0x8000);
	add(w, NULL, false);
	assert_int_equal(sample_merge_info(w->merge)->nr_machines, 2);
}

static void test_reports_a_missing_segment(void **state)
{
	const struct sample_merge_source source = { .path = "/nowhere/at/all",
						    .session_dir = "" };
	struct world *w = *state;
	struct err err;

	assert_int_equal(sample_merge_new(NULL, NULL, &w->merge), 0);
	assert_int_equal(sample_merge_add(w->merge, &source, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere/at/all"));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(test_merges_in_time_order, begin, end),
		cmocka_unit_test_setup_teardown(
			test_shares_are_relative_to_each_session, begin, end),
		cmocka_unit_test_setup_teardown(test_selected_samples_are_not_cut_twice,
						begin, end),
		cmocka_unit_test_setup_teardown(test_one_event_alone, begin, end),
		cmocka_unit_test_setup_teardown(test_kernels_distinguish_machines,
						begin, end),
		cmocka_unit_test_setup_teardown(test_a_host_without_a_name, begin, end),
		cmocka_unit_test_setup_teardown(test_reports_a_missing_segment, begin,
						end),
	};

	return UNIT_RUN(cases);
}
