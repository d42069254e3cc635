/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/async_call.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

static const uint64_t long_ns = 60000000000;
static const uint64_t short_ns = 20000000;

/* A call that runs until it is allowed to end. */
struct held {
	struct async_call call; /* first */
	pthread_mutex_t *gate;
	atomic_bool *dropped;
	bool has_run;
};

static void run(struct async_call *e)
{
	struct held *h = (struct held *)e;

	if (h->gate) {
		pthread_mutex_lock(h->gate);
		pthread_mutex_unlock(h->gate);
	}
	h->has_run = true;
}

static void drop(struct async_call *e)
{
	atomic_store(((struct held *)e)->dropped, true);
	free(e);
}

static uint64_t user = ASYNC_CALL_OWN; /* of the next call */

static struct held *make(enum async_call_kind kind, uint64_t about,
			 pthread_mutex_t *gate, atomic_bool *dropped)
{
	struct held *h = malloc(sizeof(*h));

	assert_non_null(h);
	*h = (struct held){ .call = { .kind = kind,
				      .about = about,
				      .user = user,
				      .run = run,
				      .drop = drop },
			    .gate = gate,
			    .dropped = dropped };
	return h;
}

static int run_quick(enum async_call_kind kind, uint64_t about)
{
	struct held *h = make(kind, about, NULL, NULL);
	int r = async_call_run(&h->call, long_ns);

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
	while (async_call_nr_hanging())
		usleep(1000);
}

static void the_caller_gets_a_finished_call(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(run_quick(ASYNC_CALL_FILE, 1), 0);
	assert_int_equal(async_call_nr_hanging(), 0);
}

static void abandons_a_blocked_call(void **state)
{
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	atomic_bool dropped = false;
	struct held *h = make(ASYNC_CALL_FILE, 7, &gate, &dropped);

	(void)state;
	pthread_mutex_lock(&gate);
	assert_int_equal(async_call_run(&h->call, short_ns), -ETIMEDOUT);
	assert_int_equal(async_call_nr_hanging(), 1);
	/* A request that hangs is not repeated; other requests are sent. */
	assert_int_equal(run_quick(ASYNC_CALL_FILE, 7), -EBUSY);
	assert_int_equal(run_quick(ASYNC_CALL_FILE, 8), 0);
	assert_int_equal(run_quick(ASYNC_CALL_MEMORY, 7), 0);
	assert_false(atomic_load(&dropped));
	pthread_mutex_unlock(&gate);
	wait_for(&dropped);
	wait_for_all();
	assert_int_equal(run_quick(ASYNC_CALL_FILE, 7), 0);
}

static void limits_the_number_of_blocked_calls(void **state)
{
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	static atomic_bool dropped[16];
	unsigned int nr = 0;

	(void)state;
	pthread_mutex_lock(&gate);
	for (; nr < 16; nr++) {
		struct held *h = make(ASYNC_CALL_MEMORY, nr, &gate, &dropped[nr]);
		int r = async_call_run(&h->call, short_ns);

		if (r == -ETIMEDOUT)
			continue;
		assert_int_equal(r, -EBUSY);
		free(h);
		break;
	}
	assert_int_equal(nr, 2);
	assert_int_equal(async_call_nr_hanging(), 2);
	/* Requests for files still succeed. */
	assert_int_equal(run_quick(ASYNC_CALL_FILE, 100), 0);
	pthread_mutex_unlock(&gate);
	for (unsigned int i = 0; i < nr; i++)
		wait_for(&dropped[i]);
	wait_for_all();
	assert_int_equal(run_quick(ASYNC_CALL_MEMORY, 0), 0);
}

/* Returns how many calls of the user hang before the next one is refused. */
static unsigned int fill_share(pthread_mutex_t *gate, atomic_bool *dropped)
{
	for (unsigned int nr = 0;; nr++) {
		struct held *h = make(ASYNC_CALL_FILE, nr, gate, &dropped[nr]);
		int r = async_call_run(&h->call, short_ns);

		if (r == -ETIMEDOUT)
			continue;
		assert_int_equal(r, -EBUSY);
		free(h);
		return nr;
	}
}

static void a_user_whose_calls_hang_blocks_no_other_user(void **state)
{
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	static atomic_bool dropped[2][16];

	(void)state;
	pthread_mutex_lock(&gate);
	for (int i = 0; i < 2; i++) {
		user = 1000 + (uint64_t)i;
		assert_int_equal(fill_share(&gate, dropped[i]), 4);
	}
	/* The calls that hang do not block another user's call on the same object. */
	user = 1002;
	assert_int_equal(run_quick(ASYNC_CALL_FILE, 0), 0);
	user = ASYNC_CALL_OWN;
	assert_int_equal(run_quick(ASYNC_CALL_FILE, 0), 0);
	user = 1001;
	assert_int_equal(run_quick(ASYNC_CALL_FILE, 100), -EBUSY);
	pthread_mutex_unlock(&gate);
	wait_for_all();
	assert_int_equal(run_quick(ASYNC_CALL_FILE, 100), 0);
	user = ASYNC_CALL_OWN;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void run_slow(struct async_call *e)
{
	usleep(400000);
	run(e);
}

/* Returns how long the caller waited for a call that takes 0.4 s. */
static uint64_t wait_for_slow(void)
{
	static atomic_bool dropped;
	struct held *h = make(ASYNC_CALL_FILE, 1, NULL, &dropped);
	uint64_t since = now_ns();
	int r;

	h->call.run = run_slow;
	r = async_call_run(&h->call, long_ns);
	since = now_ns() - since;
	if (!r)
		free(h);
	wait_for_all();
	return since;
}

static void waits_only_briefly_for_a_user_whose_calls_took_long(void **state)
{
	(void)state;
	user = 2000;
	for (int i = 0; i < 6; i++)
		wait_for_slow();
	assert_true(wait_for_slow() < 300000000);
	user = 2001;
	assert_true(wait_for_slow() >= 400000000);
	user = ASYNC_CALL_OWN;
	for (int i = 0; i < 6; i++)
		assert_true(wait_for_slow() >= 400000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_caller_gets_a_finished_call),
		cmocka_unit_test(abandons_a_blocked_call),
		cmocka_unit_test(limits_the_number_of_blocked_calls),
		cmocka_unit_test(a_user_whose_calls_hang_blocks_no_other_user),
		cmocka_unit_test(waits_only_briefly_for_a_user_whose_calls_took_long),
	};

	return UNIT_RUN(tests);
}
