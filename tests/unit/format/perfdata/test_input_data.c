/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the reader with perf: the number of records of each type in every recording of
 * ../shared/data (files, pipes, both byte orders, compressed, with AUX payload) must be that of
 * `perf report --stats`. */
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "format/perfdata/input.h"
#include "unit.h"

enum {
	TYPES = 128
};

/* perf's names, from tools/perf/util/event.c. */
static const char *const type_names[TYPES] = {
	[1] = "MMAP",          [2] = "LOST",           [3] = "COMM",
	[4] = "EXIT",          [5] = "THROTTLE",       [6] = "UNTHROTTLE",
	[7] = "FORK",          [8] = "READ",           [9] = "SAMPLE",
	[10] = "MMAP2",        [11] = "AUX",           [12] = "ITRACE_START",
	[13] = "LOST_SAMPLES", [14] = "SWITCH",        [15] = "SWITCH_CPU_WIDE",
	[16] = "NAMESPACES",   [17] = "KSYMBOL",       [18] = "BPF_EVENT",
	[19] = "CGROUP",       [64] = "ATTR",          [65] = "EVENT_TYPE",
	[66] = "TRACING_DATA", [67] = "BUILD_ID",      [68] = "FINISHED_ROUND",
	[69] = "ID_INDEX",     [70] = "AUXTRACE_INFO", [71] = "AUXTRACE",
	[73] = "THREAD_MAP",   [74] = "CPU_MAP",       [78] = "EVENT_UPDATE",
	[79] = "TIME_CONV",    [80] = "FEATURE",       [82] = "FINISHED_INIT",
};

static void find_files(glob_t *files)
{
	const char *root = getenv("SOURCE_ROOT");
	char pattern[512];

	*files = (glob_t){ 0 };
	snprintf(pattern, sizeof(pattern), "%s/../shared/data/perf-history/perf.data*",
		 root);
	glob(pattern, 0, NULL, files);
	snprintf(pattern, sizeof(pattern), "%s/../shared/data/*/perf*.data", root);
	glob(pattern, GLOB_APPEND, NULL, files);
}

static void count_records(const struct perf_chunk *c, bool swap, uint64_t *counts)
{
	size_t pos = 0;

	while (pos < c->len) {
		struct perf_event_header h;

		assert_true(c->len - pos >= sizeof(h));
		memcpy(&h, c->bytes + pos, sizeof(h));
		if (swap) {
			h.type = __builtin_bswap32(h.type);
			h.size = __builtin_bswap16(h.size);
		}
		assert_in_range(h.size, sizeof(h), c->len - pos);
		assert_in_range(h.type, 1, TYPES - 1);
		counts[h.type]++;
		pos += h.size;
	}
}

static void count_all(struct perf_input *in, uint64_t *counts)
{
	struct perf_chunk c;
	struct err err = { 0 };
	int r;

	memset(counts, 0, TYPES * sizeof(*counts));
	while ((r = perf_input_next(in, &c, &err)) == 0) {
		count_records(&c, perf_input_info(in)->swap, counts);
		perf_input_release(in, &c);
	}
	assert_int_equal(r, 1);
}

static void assert_no_damage(const struct perf_input *in)
{
	const struct perf_input_damage *d = perf_input_damage(in);

	assert_int_equal(d->cut_bytes, 0);
	assert_int_equal(d->missing_bytes, 0);
	assert_int_equal(d->bad_bytes, 0);
	assert_int_equal(d->bad_features, 0);
	assert_int_equal(d->unknown_records, 0);
}

/* Reads lines like " SAMPLE events: 42 ( 1.0%)" up to the empty one or the single events. */
static bool perf_counts(const char *path, uint64_t *counts)
{
	char line[1024];
	bool any = false;
	FILE *p;

	memset(counts, 0, TYPES * sizeof(*counts));
	snprintf(line, sizeof(line),
		 "perf report -i '%s' --stats --stdio 2>/dev/null </dev/null", path);
	p = popen(line, "r");
	assert_non_null(p);
	while (fgets(line, sizeof(line), p)) {
		char name[64];
		const char *at;
		uint64_t nr;

		if (any && strstr(line, " stats:"))
			break;
		at = strstr(line, " events:");
		if (!at || sscanf(line, "%63s", name) != 1)
			continue;
		nr = strtoull(at + strlen(" events:"), NULL, 10);
		any = true;
		for (int i = 0; i < TYPES; i++) {
			if (type_names[i] && strcmp(type_names[i], name) == 0)
				counts[i] = nr;
		}
	}
	while (fgets(line, sizeof(line), p))
		continue;
	pclose(p);
	return any;
}

static void assert_counts(const char *path, const char *how, const uint64_t *ours,
			  const uint64_t *theirs)
{
	for (int i = 0; i < TYPES; i++) {
		if (ours[i] == theirs[i])
			continue;
		fail_msg("%s (%s): %" PRIu64 " records of type %d, perf says %" PRIu64,
			 path, how, ours[i], i, theirs[i]);
	}
}

/* Checks that a second read from the start gives the same records and no damage. */
static void check_rewind(struct perf_input *in, const char *path,
			 const uint64_t *theirs)
{
	uint64_t counts[TYPES];
	struct perf_chunk c;
	size_t nr_build_ids = perf_input_info(in)->build_ids.nr;

	assert_int_equal(perf_input_rewind(in, NULL), 0);
	if (perf_input_next(in, &c, NULL) == 0)
		perf_input_release(in, &c);
	assert_int_equal(perf_input_rewind(in, NULL), 0);
	count_all(in, counts);
	assert_counts(path, "again", counts, theirs);
	assert_no_damage(in);
	assert_int_equal(perf_input_info(in)->build_ids.nr, nr_build_ids);
}

static unsigned int check_file(const char *path)
{
	uint64_t ours[TYPES], theirs[TYPES];
	struct perf_input *in = NULL;
	struct err err = { 0 };
	unsigned int compared = 0;

	if (perf_input_open(path, TRUST_ANY, &in, &err))
		fail_msg("%s", err.text);
	count_all(in, ours);
	assert_no_damage(in);
	assert_true(perf_input_info(in)->events.nr > 0);
	if (perf_counts(path, theirs)) {
		assert_counts(path, "file", ours, theirs);
		compared = 1;
	}
	check_rewind(in, path, ours);
	perf_input_close(in);
	return compared;
}

static void counts_agree_with_perf(void **state)
{
	unsigned int nr = 0;
	glob_t files;

	(void)state;
	find_files(&files);
	for (size_t i = 0; i < files.gl_pathc; i++)
		nr += check_file(files.gl_pathv[i]);
	globfree(&files);
	if (!nr) {
		fprintf(stderr, "SKIPPED: no recordings in ../shared/data, or no perf: "
				"nothing was compared\n");
		skip();
	}
	fprintf(stderr, "compared %u recordings with perf\n", nr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_agree_with_perf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
