/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/async_call.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/signals.h"

enum {
	HANGING_MAX = 8
};

static const unsigned int hanging_max[ASYNC_CALL_KINDS] = {
	[ASYNC_CALL_FILE] = HANGING_MAX,
	/* Any user can make these calls hang, by sampling any number of processes. */
	[ASYNC_CALL_MEMORY] = 2,
};

/* One worker thread. */
struct runner {
	struct runner *next;
	pthread_cond_t changed;
	struct async_call *call; /* NULL: idle */
	bool has_ended;
	bool is_abandoned; /* its call hangs: the thread ends when the call ends */
};

static struct {
	pthread_mutex_t lock;
	struct runner *ready; /* an idle thread, or NULL */
	struct runner *hanging;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Call with the lock held. */
static void async_call_forget(struct runner *r)
{
	struct runner **link = &pool.hanging;

	while (*link != r)
		link = &(*link)->next;
	*link = r->next;
}

static void async_call_run_one(struct runner *r)
{
	while (!r->call || r->has_ended)
		pthread_cond_wait(&r->changed, &pool.lock);
	pthread_mutex_unlock(&pool.lock);
	r->call->run(r->call);
	pthread_mutex_lock(&pool.lock);
	r->has_ended = true;
	pthread_cond_signal(&r->changed);
}

static void *async_call_run_all(void *arg)
{
	struct runner *r = arg;

	pthread_mutex_lock(&pool.lock);
	while (!r->is_abandoned)
		async_call_run_one(r);
	async_call_forget(r);
	pthread_mutex_unlock(&pool.lock);
	r->call->drop(r->call);
	pthread_cond_destroy(&r->changed);
	free(r);
	return NULL;
}

/* Blocks signals in the thread; the main thread handles them. */
static int async_call_start_thread(struct runner *r)
{
	pthread_attr_t detached;
	pthread_t thread;
	sigset_t before;
	int result;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	signals_block_sent(&before);
	result = pthread_create(&thread, &detached, async_call_run_all, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&detached);
	return result ? -EAGAIN : 0;
}

static int async_call_prepare_thread(void)
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
	if (async_call_start_thread(r)) {
		pthread_cond_destroy(&r->changed);
		free(r);
		return -EAGAIN;
	}
	pool.ready = r;
	return 0;
}

static bool async_call_is_refused(const struct async_call *call)
{
	unsigned int nr = 0;

	for (const struct runner *r = pool.hanging; r; r = r->next) {
		if (r->call->kind != call->kind)
			continue;
		nr++;
		if (r->call->about == call->about)
			return true;
	}
	return nr >= hanging_max[call->kind];
}

static struct timespec async_call_deadline(uint64_t patience_ns)
{
	return clock_timespec(clock_now_ns(CLOCK_MONOTONIC) + patience_ns);
}

/* Call with the lock held; it is released while waiting. */
static int async_call_wait(struct runner *r, uint64_t patience_ns)
{
	struct timespec end = async_call_deadline(patience_ns);
	int result = 0;

	while (!r->has_ended && result != ETIMEDOUT)
		result = pthread_cond_timedwait(&r->changed, &pool.lock, &end);
	if (r->has_ended) {
		r->call = NULL;
		r->has_ended = false;
		return 0;
	}
	r->is_abandoned = true;
	r->next = pool.hanging;
	pool.hanging = r;
	pool.ready = NULL;
	return -ETIMEDOUT;
}

int async_call_run(struct async_call *call, uint64_t patience_ns)
{
	int result;

	pthread_mutex_lock(&pool.lock);
	result = async_call_is_refused(call) ? -EBUSY : async_call_prepare_thread();
	if (!result) {
		pool.ready->call = call;
		pthread_cond_signal(&pool.ready->changed);
		result = async_call_wait(pool.ready, patience_ns);
	}
	pthread_mutex_unlock(&pool.lock);
	return result;
}

unsigned int async_call_nr_hanging(void)
{
	unsigned int nr = 0;

	pthread_mutex_lock(&pool.lock);
	for (const struct runner *r = pool.hanging; r; r = r->next)
		nr++;
	pthread_mutex_unlock(&pool.lock);
	return nr;
}
