/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the persistent map of mappings with an array that has one cell per address. */
#include "unit.h"

#include <string.h>

#include "resolve/space/space.h"

enum {
	ADDRESSES = 256,
	STEPS = 4000,
	KEPT = 32 /* old roots that must not change */
};

struct cell {
	uint32_t image;
	uint64_t offset;
};

static uint64_t state = 88172645463325252ULL;

static uint32_t random_below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % n;
}

/* The largest possible mapping. */
static void check_hole(const struct cell *model, uint64_t a,
		       const struct space_hole *hole)
{
	assert_true(hole->from <= a && a < hole->to);
	for (uint64_t i = hole->from; i < hole->to && i < ADDRESSES; i++)
		assert_int_equal(model[i].image, 0);
	assert_true(!hole->from || model[hole->from - 1].image);
	assert_true(hole->to >= ADDRESSES || model[hole->to].image);
}

static void check_equal(const struct space_node *root, const struct cell *model)
{
	for (uint64_t a = 0; a < ADDRESSES; a++) {
		const struct mapping *m = space_find(root, a);
		struct space_hole hole = { 0 };

		assert_ptr_equal(space_find_or_hole(root, a, &hole), m);
		if (!m) {
			assert_int_equal(model[a].image, 0);
			check_hole(model, a, &hole);
			continue;
		}
		assert_int_equal(m->image, model[a].image);
		assert_int_equal(a - m->start + m->pgoff, model[a].offset);
	}
}

/* Counts the mapped images, until the last root that contains them is freed. */
static void count_image(void *ctx, uint32_t image, int change)
{
	int *counts = ctx;

	counts[image] += change;
	assert_true(counts[image] >= 0);
}

static void check_counts(const int *counts, const struct space_node *root)
{
	for (uint64_t a = 0; a < ADDRESSES; a++) {
		const struct mapping *m = space_find(root, a);

		if (m)
			assert_true(counts[m->image] > 0);
	}
}

static void test_agrees_with_a_model(void **unused)
{
	struct space_pool pool;
	struct space_node *root = NULL, *kept[KEPT] = { 0 };
	static struct cell model[ADDRESSES], kept_models[KEPT][ADDRESSES];
	static int counts[STEPS + 1];

	(void)unused;
	space_pool_init(&pool);
	pool.count_image = count_image;
	pool.ctx = counts;
	for (uint32_t step = 1; step <= STEPS; step++) {
		uint64_t start = random_below(ADDRESSES - 1);
		uint64_t end = start + 1 +
			       random_below((uint32_t)(ADDRESSES - start - 1) / 4 + 1);
		struct mapping m = { start, end, 1000 * step, step, true };
		bool map = random_below(4) != 0;
		struct space_node *next;
		uint32_t k = random_below(KEPT);

		if (map)
			assert_int_equal(space_map(&pool, root, &m, &next), 0);
		else
			assert_int_equal(space_unmap(&pool, root, start, end, &next),
					 0);
		for (uint64_t a = start; a < end; a++)
			model[a] = map ? (struct cell){ step, 1000 * step + a - start }
				       : (struct cell){ 0 };
		check_equal(next, model);
		space_put(&pool, root);
		root = next;
		space_put(&pool, kept[k]);
		kept[k] = space_get(root);
		memcpy(kept_models[k], model, sizeof(model));
		if (step % 16 == 0)
			for (uint32_t i = 0; i < KEPT; i++)
				if (kept[i]) {
					check_equal(kept[i], kept_models[i]);
					check_counts(counts, kept[i]);
				}
	}
	for (uint32_t i = 0; i < KEPT; i++)
		space_put(&pool, kept[i]);
	space_put(&pool, root);
	assert_int_equal(pool.nr_used, 0); /* every node was freed */
	for (uint32_t step = 1; step <= STEPS; step++)
		assert_int_equal(counts[step], 0);
	space_pool_done(&pool);
}

static void test_bounds_of_mappings(void **unused)
{
	struct space_pool pool;
	struct space_node *root, *cut;
	struct mapping m = { 0x1000, 0x3000, 0x500, 7, false };

	(void)unused;
	space_pool_init(&pool);
	assert_null(space_find(NULL, 0));
	assert_int_equal(space_map(&pool, NULL, &m, &root), 0);
	assert_null(space_find(root, 0xfff));
	assert_non_null(space_find(root, 0x1000));
	assert_non_null(space_find(root, 0x2fff));
	assert_null(space_find(root, 0x3000));
	assert_int_equal(space_unmap(&pool, root, 0x1800, 0x2000, &cut), 0);
	assert_int_equal(space_count(cut), 2);
	assert_int_equal(space_find(cut, 0x2000)->pgoff, 0x1500);
	assert_int_equal(space_find(cut, 0x17ff)->end, 0x1800);
	assert_null(space_find(cut, 0x1800));
	space_put(&pool, root);
	space_put(&pool, cut);
	space_pool_done(&pool);
}

static void test_many_mappings(void **unused)
{
	struct space_pool pool;
	struct space_node *root = NULL, *next;

	(void)unused;
	space_pool_init(&pool);
	/* In ascending order, as in a program that loads many libraries: the tree must not
	 * become a list. */
	for (uint64_t i = 0; i < 50000; i++) {
		struct mapping m = { i * 0x1000, i * 0x1000 + 0x1000, 0, (uint32_t)i,
				     false };

		assert_int_equal(space_map(&pool, root, &m, &next), 0);
		space_put(&pool, root);
		root = next;
	}
	assert_int_equal(space_count(root), 50000);
	for (uint64_t i = 0; i < 50000; i++)
		assert_int_equal(space_find(root, i * 0x1000 + 5)->image, i);
	space_put(&pool, root);
	assert_int_equal(pool.nr_used, 0);
	space_pool_done(&pool);
}

/* The first mappings of a program cost one node each, and later ones are also found, in each of
 * the roots in between. */
static void test_few_mappings(void **unused)
{
	enum {
		FEW = 10,
		MORE = 50
	};
	struct space_node *roots[MORE + 1] = { 0 };
	struct space_pool pool;

	(void)unused;
	space_pool_init(&pool);
	for (uint32_t i = 0; i < MORE; i++) {
		/* The addresses are neither in ascending nor in descending order. */
		struct mapping m = { 0x1000 * (i * 7 % MORE),
				     0x1000 * (i * 7 % MORE) + 0x800, 0, i, false };

		assert_int_equal(space_map(&pool, roots[i], &m, &roots[i + 1]), 0);
		if (i < FEW)
			assert_int_equal(pool.nr_used, i + 1);
	}
	for (uint32_t nr = 0; nr <= MORE; nr++) {
		assert_int_equal(space_count(roots[nr]), nr);
		for (uint32_t i = 0; i < MORE; i++) {
			const struct mapping *m =
				space_find(roots[nr], 0x1000 * (i * 7 % MORE) + 0x7ff);

			assert_int_equal(m != NULL, i < nr);
			if (m)
				assert_int_equal(m->image, i);
			assert_null(
				space_find(roots[nr], 0x1000 * (i * 7 % MORE) + 0x800));
		}
		space_put(&pool, roots[nr]);
	}
	assert_int_equal(pool.nr_used, 0);
	space_pool_done(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees_with_a_model),
		cmocka_unit_test(test_bounds_of_mappings),
		cmocka_unit_test(test_many_mappings),
		cmocka_unit_test(test_few_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
