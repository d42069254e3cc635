/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/errand.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

static const uint64_t long_ns = 60000000000;
static const uint64_t short_ns = 20000000;

/* Runs until it is allowed to end. */
struct held {
	struct errand errand; /* first */
	pthread_mutex_t *gate;
	atomic_bool *dropped;
	bool has_run;
};

static void run(struct errand *e)
{
	struct held *h = (struct held *)e;

	if (h->gate) {
		pthread_mutex_lock(h->gate);
		pthread_mutex_unlock(h->gate);
	}
	h->has_run = true;
}

static void drop(struct errand *e)
{
	atomic_store(((struct held *)e)->dropped, true);
	free(e);
}

static struct held *make(enum errand_kind kind, uint64_t about, pthread_mutex_t *gate,
			 atomic_bool *dropped)
{
	struct held *h = malloc(sizeof(*h));

	assert_non_null(h);
	*h = (struct held){
		.errand = { .kind = kind, .about = about, .run = run, .drop = drop },
		.gate = gate,
		.dropped = dropped
	};
	return h;
}

static int run_quick(enum errand_kind kind, uint64_t about)
{
	struct held *h = make(kind, about, NULL, NULL);
	int r = errand_run(&h->errand, long_ns);

	assert_true(h->has_run == !r);
	free(h);
	return r;
}

static void wait_for(const atomic_bool *flag)
{
	while (!atomic_load(flag))
		usleep(1000);
}

static void wait_for_all(void)
{
	while (errand_nr_away())
		usleep(1000);
}

static void what_ends_is_the_callers(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(run_quick(ERRAND_FILE, 1), 0);
	assert_int_equal(errand_nr_away(), 0);
}

static void what_hangs_is_left(void **state)
{
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	atomic_bool dropped = false;
	struct held *h = make(ERRAND_FILE, 7, &gate, &dropped);

	(void)state;
	pthread_mutex_lock(&gate);
	assert_int_equal(errand_run(&h->errand, short_ns), -ETIMEDOUT);
	assert_int_equal(errand_nr_away(), 1);
	/* The same request is not repeated, others are sent. */
	assert_int_equal(run_quick(ERRAND_FILE, 7), -EBUSY);
	assert_int_equal(run_quick(ERRAND_FILE, 8), 0);
	assert_int_equal(run_quick(ERRAND_MEMORY, 7), 0);
	assert_false(atomic_load(&dropped));
	pthread_mutex_unlock(&gate);
	wait_for(&dropped);
	wait_for_all();
	assert_int_equal(run_quick(ERRAND_FILE, 7), 0);
}

static void not_more_than_some_hang(void **state)
{
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	static atomic_bool dropped[16];
	unsigned int nr = 0;

	(void)state;
	pthread_mutex_lock(&gate);
	for (; nr < 16; nr++) {
		struct held *h = make(ERRAND_MEMORY, nr, &gate, &dropped[nr]);
		int r = errand_run(&h->errand, short_ns);

		if (r == -ETIMEDOUT)
			continue;
		assert_int_equal(r, -EBUSY);
		free(h);
		break;
	}
	assert_int_equal(nr, 2);
	assert_int_equal(errand_nr_away(), 2);
	/* Files are still read. */
	assert_int_equal(run_quick(ERRAND_FILE, 100), 0);
	pthread_mutex_unlock(&gate);
	for (unsigned int i = 0; i < nr; i++)
		wait_for(&dropped[i]);
	wait_for_all();
	assert_int_equal(run_quick(ERRAND_MEMORY, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ends_is_the_callers),
		cmocka_unit_test(what_hangs_is_left),
		cmocka_unit_test(not_more_than_some_hang),
	};

	return UNIT_RUN(tests);
}
