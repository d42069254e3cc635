/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histories of simulated recordings: the function that changed is found with its recording, and no
 * other one. */
#include "compare/history.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/comparison.h"
#include "unit.h"

enum {
	FUNCTIONS = 30,
	RUNS = 16,
	HISTORIES = 200,
	CHANGED = 3, /* the function that changes */
	CHANGED_AT = 9,
	INLINED_INTO = 7
};

static uint64_t state_of_random = 88172645463325252ULL;

/* xorshift64* */
static double random_uniform(void)
{
	state_of_random ^= state_of_random >> 12;
	state_of_random ^= state_of_random << 25;
	state_of_random ^= state_of_random >> 27;
	return ((double)((state_of_random * 0x2545f4914f6cdd1dULL) >> 11) + 0.5) /
	       0x1p53;
}

static double random_normal(void)
{
	return sqrt(-2 * log(random_uniform())) * cos(2 * M_PI * random_uniform());
}

/* The parameters of a simulated history. */
struct made_history {
	double factor;   /* of the changed function, from CHANGED_AT on */
	size_t removed;  /* the function that ends there; FUNCTIONS: none */
	bool is_inlined; /* it is inlined into the function INLINED_INTO */
	bool is_rate;
	double least_change;
};

static double usual_samples(size_t function)
{
	return 2000 / (1 + (double)function / 4);
}

/* The samples of a function in a run: sampling noise, and 1 % between runs. */
static double samples_of(const struct made_history *m, size_t function, size_t run)
{
	double mean = usual_samples(function);

	if (run >= CHANGED_AT && m->is_inlined && function == INLINED_INTO)
		mean += usual_samples(m->removed);
	if (run >= CHANGED_AT && function == CHANGED)
		mean *= m->factor;
	if (run >= CHANGED_AT && function == m->removed)
		return 0;
	return fmax(0, round(mean + (sqrt(mean) + mean / 100) * random_normal()));
}

static uint32_t text(struct comparison *c, const char *s)
{
	uint32_t number = strtab_add(&c->strings, s);

	assert_int_not_equal(number, STRTAB_FAILED);
	return number;
}

static void add_run(struct comparison *c, const struct made_history *m, size_t number)
{
	char name[16];
	struct run_image image = { .name = text(c, "/bin/prog") };
	struct compare_run *run;

	snprintf(name, sizeof(name), "run%zu", number);
	run = comparison_add_run(c, SIDE_NEW, name);
	assert_non_null(run);
	run->facts.start_ns = number + 1;
	assert_true(vec_push(&run->blocks, m->is_rate ? 100.0 : 0.0));
	assert_true(vec_push(&run->images, image));
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct run_item item = { .image = 0 };
		const struct run_cell cell = { i, 0, samples_of(m, i, number) };

		snprintf(name, sizeof(name), "f%u", i);
		item.name = item.function = text(c, name);
		item.samples = cell.count;
		run->samples += cell.count;
		run->images.at[0].samples += cell.count;
		assert_true(vec_push(&run->items, item));
		assert_true(vec_push(&run->cells, cell));
	}
	if (!m->is_rate)
		run->blocks.at[0] = run->samples;
}

static void make(const struct made_history *m, struct comparison *c, struct history *h)
{
	const struct comparison_options options = {
		.is_rate = m->is_rate,
		.confidence = 0.95,
		.discovery = 0.05,
		.least_change = m->least_change,
	};

	assert_int_equal(comparison_init(c, &options), 0);
	/* In the order of their names, not of their times. */
	for (size_t i = 0; i < RUNS; i++)
		add_run(c, m, (i * 7) % RUNS);
	assert_int_equal(history_find(c, h), 0);
	for (size_t i = 0; i < RUNS; i++)
		assert_int_equal(c->runs.at[i].facts.start_ns, i + 1);
}

static const char *name_of(const struct comparison *c,
			   const struct history_change *change)
{
	return strtab_get(&c->strings, c->rows.at[change->row].name);
}

/* At most 5 % of all histories have a change; of 200, 8 % are within two deviations. */
static void histories_without_change_have_no_changes(void **state)
{
	const struct made_history m = { .factor = 1, .removed = FUNCTIONS };
	size_t with_some = 0;

	(void)state;
	for (size_t i = 0; i < HISTORIES; i++) {
		struct comparison c;
		struct history h;

		make(&m, &c, &h);
		assert_int_equal(h.nr_tested, FUNCTIONS);
		with_some += h.changes.nr > 0;
		history_done(&h);
		comparison_done(&c);
	}
	print_message("# %zu of %d histories have a change\n", with_some, HISTORIES);
	assert_true(with_some * 100 <= 8 * HISTORIES);
}

/* The shares of all other functions decrease, which is no change of theirs. */
static void only_the_changed_function_is_found(void **state)
{
	const struct made_history m = { .factor = 1.5, .removed = FUNCTIONS };
	size_t found = 0, others = 0;

	(void)state;
	for (size_t i = 0; i < HISTORIES; i++) {
		struct comparison c;
		struct history h;

		make(&m, &c, &h);
		for (size_t j = 0; j < h.changes.nr; j++) {
			const struct history_change *change = &h.changes.at[j];

			if (change->at == CHANGED_AT &&
			    !strcmp(name_of(&c, change), "f3")) {
				found++;
				assert_true(change->after > 1.2 * change->before);
				assert_int_equal(change->first, 0);
				assert_true(history_is_last(&h, change));
			} else {
				others++;
			}
		}
		history_done(&h);
		comparison_done(&c);
	}
	print_message("# found in %zu of %d histories, %zu others\n", found, HISTORIES,
		      others);
	assert_true(found * 100 >= 95 * HISTORIES);
	assert_true(others * 100 <= 8 * HISTORIES);
}

static void a_function_that_disappears_is_found(void **state)
{
	const struct made_history m = { .factor = 1, .removed = 12 };
	struct comparison c;
	struct history h;
	bool found = false;

	(void)state;
	make(&m, &c, &h);
	for (size_t i = 0; i < h.changes.nr; i++)
		found |= h.changes.at[i].at == CHANGED_AT &&
			 h.changes.at[i].verdict == VERDICT_GONE &&
			 !strcmp(name_of(&c, &h.changes.at[i]), "f12");
	assert_true(found);
	history_done(&h);
	comparison_done(&c);
}

static void code_moves_between_functions(void **state)
{
	const struct made_history m = { .factor = 1,
					.removed = 12,
					.is_inlined = true };
	struct comparison c;
	struct history h;

	(void)state;
	make(&m, &c, &h);
	assert_int_equal(h.changes.nr, 2);
	for (size_t i = 0; i < h.changes.nr; i++) {
		const struct history_change *change = &h.changes.at[i];

		assert_int_equal(change->verdict, VERDICT_MOVED);
		assert_true(fabs(change->together) <
			    0.35 * fabs(change->after - change->before));
	}
	history_done(&h);
	comparison_done(&c);
}

static void small_changes_are_below_the_least_effect(void **state)
{
	const struct made_history m = { .factor = 1.5,
					.removed = FUNCTIONS,
					.least_change = 5 };
	struct comparison c;
	struct history h;

	(void)state;
	make(&m, &c, &h);
	assert_int_equal(h.changes.nr, 0);
	history_done(&h);
	comparison_done(&c);
}

static void rates_have_a_total(void **state)
{
	const struct made_history m = { .factor = 4,
					.removed = FUNCTIONS,
					.is_rate = true };
	struct comparison c;
	struct history h;
	bool found = false;

	(void)state;
	make(&m, &c, &h);
	assert_int_equal(c.rows.nr, FUNCTIONS + 1);
	assert_int_equal(c.rows.at[FUNCTIONS].image, DICT_NONE);
	assert_true(fabs(h.values[(size_t)FUNCTIONS * RUNS] - 100) < 1e-9);
	for (size_t i = 0; i < h.changes.nr; i++)
		found |= h.changes.at[i].row == FUNCTIONS &&
			 h.changes.at[i].at == CHANGED_AT;
	assert_true(found);
	history_done(&h);
	comparison_done(&c);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(histories_without_change_have_no_changes),
		cmocka_unit_test(only_the_changed_function_is_found),
		cmocka_unit_test(a_function_that_disappears_is_found),
		cmocka_unit_test(code_moves_between_functions),
		cmocka_unit_test(small_changes_are_below_the_least_effect),
		cmocka_unit_test(rates_have_a_total),
	};

	return UNIT_RUN(cases);
}
