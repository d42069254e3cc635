/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares lines with a model: their sums, and their order. */
#include "present/lines/lines.h"

#include <errno.h>
#include <string.h>

#include "aggregate/profile/groups.h"
#include "aggregate/profile/profile.h"
#include "aggregate/read/profile_feed.h"
#include "present/lines/options.h"

#include "alloc_fail.h"
#include "unit.h"

enum {
	NR_COMMS = 9,
	NR_PIDS = 5,
	NR_CPUS = 3,
	NR_ADDED = 400
};

struct model {
	struct key_list keys;
	struct profile p;
	uint32_t comms[NR_COMMS];
	uint64_t counts[NR_COMMS][NR_CPUS];
	uint64_t totals[NR_CPUS];
};

static void make(struct model *m)
{
	struct profile_options options = { .keys = &m->keys };
	struct profile_event event = { .count = 1 };
	uint64_t dice = 12345;

	memset(m, 0, sizeof(*m));
	assert_int_equal(keys_parse(&m->keys, "comm,pid,cpu", NULL), 0);
	assert_int_equal(profile_init(&m->p, &options), 0);
	event.name = strtab_add(&m->p.strings, "event");
	assert_true(vec_push(&m->p.events, event));
	for (int i = 0; i < NR_COMMS; i++) {
		/* The names of commands are not in the order of their numbers. */
		char name[] = { (char)('a' + i * 5 % NR_COMMS), 0 };

		m->comms[i] = strtab_add(&m->p.strings, name);
	}
	for (int i = 0; i < NR_ADDED; i++) {
		uint64_t values[3];
		size_t comm;
		size_t cpu;
		uint32_t row;

		dice = dice * 6364136223846793005u + 1442695040888963407u;
		comm = (dice >> 33) % NR_COMMS;
		cpu = (dice >> 43) % NR_CPUS;
		values[0] = m->comms[comm];
		values[1] = (dice >> 53) % NR_PIDS;
		values[2] = cpu + 9; /* 9, 10, 11: as numbers, not as text */
		row = groups_row(&m->p, values, 0);
		assert_true(row < m->p.rows.nr);
		/* Few different counts, so that there are ties. */
		m->p.rows.at[row].samples += 2;
		m->counts[comm][cpu] += 2;
		m->totals[cpu] += 2;
	}
	m->p.samples = NR_ADDED * 2;
	m->p.events.at[0].samples = m->p.samples;
	profile_finish(&m->p);
}

static void model_done(struct model *m)
{
	profile_done(&m->p);
	keys_done(&m->keys);
}

static size_t comm_of(const struct model *m, const struct line *line)
{
	uint64_t value = profile_value(&m->p, line->group, 0);

	for (size_t i = 0; i < NR_COMMS; i++) {
		if (m->comms[i] == value)
			return i;
	}
	fail_msg("a line of no command");
	return 0;
}

static void sums_the_omitted_lines(void **state)
{
	const struct present_options options = { .kept = KEEP_CPU };
	static struct model m;
	struct report_lines lines;

	(void)state;
	make(&m);
	assert_int_equal(lines_of_groups(&m.p, &options, LINES_BY_KEYS, CLASS_KEYS,
					 &lines, NULL),
			 0);
	assert_int_equal(lines.nr_columns, NR_CPUS);
	assert_int_equal(lines.all.nr, NR_COMMS);
	for (size_t c = 0; c < NR_CPUS; c++) {
		assert_int_equal(lines.classes.columns.at[c].cpu, 9 + c);
		assert_int_equal(lines.totals[c], m.totals[c]);
	}
	for (size_t i = 0; i < lines.all.nr; i++) {
		const struct line *line = &lines.all.at[i];
		size_t comm = comm_of(&m, line);

		assert_int_equal(lines_number(&lines, line->group), line->number);
		for (size_t c = 0; c < NR_CPUS; c++)
			assert_int_equal(line->counts[c], m.counts[comm][c]);
	}
	lines_done(&lines);
	model_done(&m);
}

/* Below, at or above 0: by samples in descending order, then by the commands' names. */
static int compare(struct model *m, const struct line *a, const struct line *b)
{
	if (a->counts[0] != b->counts[0])
		return a->counts[0] > b->counts[0] ? -1 : 1;
	return strcmp(profile_text(&m->p, a->group, 0),
		      profile_text(&m->p, b->group, 0));
}

static void equal_counts_are_sorted_by_name(void **state)
{
	static struct model m;
	struct report_lines lines;

	(void)state;
	make(&m);
	for (int reverse = 0; reverse < 2; reverse++) {
		const struct present_options options = { .reverse = reverse };

		assert_int_equal(lines_of_groups(&m.p, &options, LINES_BY_KEYS,
						 CLASS_KEYS, &lines, NULL),
				 0);
		assert_int_equal(lines.nr_columns, 1);
		assert_int_equal(lines.totals[0], m.p.samples);
		for (size_t i = 1; i < lines.all.nr; i++) {
			int order = compare(&m, &lines.all.at[i - 1], &lines.all.at[i]);

			assert_true(reverse ? order > 0 : order < 0);
		}
		lines_done(&lines);
	}
	model_done(&m);
}

enum {
	PERCENT = 12 /* some lines, but not all, have this share in a single column */
};

static void the_threshold_applies_to_any_column(void **state)
{
	const struct present_options options = { .kept = KEEP_CPU,
						 .threshold = PERCENT };
	static struct model m;
	struct report_lines lines;
	size_t want = 0;
	size_t first = 0;

	(void)state;
	make(&m);
	for (size_t i = 0; i < NR_COMMS; i++) {
		bool found = false;

		for (size_t cpu = 0; cpu < NR_CPUS; cpu++)
			found |= m.counts[i][cpu] * 100 >= PERCENT * m.totals[cpu];
		want += found;
		first += m.counts[i][0] * 100 >= PERCENT * m.totals[0];
	}
	assert_true(want > first);
	assert_int_equal(lines_of_groups(&m.p, &options, LINES_BY_KEYS, CLASS_KEYS,
					 &lines, NULL),
			 0);
	assert_int_equal(lines.all.nr, want);
	assert_true(want > 0 && want < NR_COMMS);
	lines_done(&lines);
	model_done(&m);
}

static void handles_allocation_failure(void **state)
{
	const struct present_options options = { .kept = KEEP_CPU };
	static struct model m;
	int r;

	(void)state;
	make(&m);
	for (unsigned long n = 1;; n++) {
		struct report_lines lines;

		alloc_fail_at(n);
		r = lines_of_groups(&m.p, &options, LINES_BY_KEYS, CLASS_KEYS, &lines,
				    NULL);
		if (!alloc_fail_off()) {
			lines_done(&lines);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	assert_int_equal(r, 0);
	model_done(&m);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(sums_the_omitted_lines),
		cmocka_unit_test(equal_counts_are_sorted_by_name),
		cmocka_unit_test(the_threshold_applies_to_any_column),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}
