/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/errand.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/signals.h"

enum {
	AWAY_MAX = 8
};

static const unsigned int away_max[ERRAND_KINDS] = {
	[ERRAND_FILE] = AWAY_MAX,
	/* Any user can cause these, with any number of processes. */
	[ERRAND_MEMORY] = 2,
};

/* One worker thread. */
struct runner {
	struct runner *next;
	pthread_cond_t changed;
	struct errand *errand; /* NULL: idle */
	bool has_ended;
	bool is_left; /* it hangs: it was abandoned, and ends when its request ends */
};

static struct {
	pthread_mutex_t lock;
	struct runner *ready; /* an idle thread, or NULL */
	struct runner *away;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Call with the lock held. */
static void errand_forget(struct runner *r)
{
	struct runner **at = &pool.away;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
}

static void run_one(struct runner *r)
{
	while (!r->errand || r->has_ended)
		pthread_cond_wait(&r->changed, &pool.lock);
	pthread_mutex_unlock(&pool.lock);
	r->errand->run(r->errand);
	pthread_mutex_lock(&pool.lock);
	r->has_ended = true;
	pthread_cond_signal(&r->changed);
}

static void *run_errands(void *arg)
{
	struct runner *r = arg;

	pthread_mutex_lock(&pool.lock);
	while (!r->is_left)
		run_one(r);
	errand_forget(r);
	pthread_mutex_unlock(&pool.lock);
	r->errand->drop(r->errand);
	pthread_cond_destroy(&r->changed);
	free(r);
	return NULL;
}

/* Blocks signals in the thread; the main thread handles them. */
static int errand_start_thread(struct runner *r)
{
	pthread_attr_t detached;
	pthread_t thread;
	sigset_t before;
	int result;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	signals_block_sent(&before);
	result = pthread_create(&thread, &detached, run_errands, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&detached);
	return result ? -EAGAIN : 0;
}

static int make_ready(void)
{
	struct runner *r;
	pthread_condattr_t monotonic;

	if (pool.ready)
		return 0;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&r->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (errand_start_thread(r)) {
		pthread_cond_destroy(&r->changed);
		free(r);
		return -EAGAIN;
	}
	pool.ready = r;
	return 0;
}

static bool errand_is_refused(const struct errand *e)
{
	unsigned int nr = 0;

	for (const struct runner *r = pool.away; r; r = r->next) {
		if (r->errand->kind != e->kind)
			continue;
		nr++;
		if (r->errand->about == e->about)
			return true;
	}
	return nr >= away_max[e->kind];
}

static struct timespec errand_end_of(uint64_t patience_ns)
{
	return clock_timespec(clock_now_ns(CLOCK_MONOTONIC) + patience_ns);
}

/* Call with the lock held; it is released while waiting. */
static int errand_wait_for(struct runner *r, uint64_t patience_ns)
{
	struct timespec end = errand_end_of(patience_ns);
	int result = 0;

	while (!r->has_ended && result != ETIMEDOUT)
		result = pthread_cond_timedwait(&r->changed, &pool.lock, &end);
	if (r->has_ended) {
		r->errand = NULL;
		r->has_ended = false;
		return 0;
	}
	r->is_left = true;
	r->next = pool.away;
	pool.away = r;
	pool.ready = NULL;
	return -ETIMEDOUT;
}

int errand_run(struct errand *e, uint64_t patience_ns)
{
	int result;

	pthread_mutex_lock(&pool.lock);
	result = errand_is_refused(e) ? -EBUSY : make_ready();
	if (!result) {
		pool.ready->errand = e;
		pthread_cond_signal(&pool.ready->changed);
		result = errand_wait_for(pool.ready, patience_ns);
	}
	pthread_mutex_unlock(&pool.lock);
	return result;
}

unsigned int errand_nr_away(void)
{
	unsigned int nr = 0;

	pthread_mutex_lock(&pool.lock);
	for (const struct runner *r = pool.away; r; r = r->next)
		nr++;
	pthread_mutex_unlock(&pool.lock);
	return nr;
}
