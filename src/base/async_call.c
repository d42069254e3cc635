/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/async_call.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/signals.h"

enum {
	USERS_MAX = 64, /* users whose waiting time is stored */
	/* How long a user can make the caller wait: this long in a burst, then for 1/WAIT_PART of
	 * the time. */
	WAIT_AT_ONCE_NS = 2000000000,
	WAIT_PART = 100,
	SHORT_WAIT_NS = 10000000
};

/* How many calls of each kind may hang, in total and for one user. */
static const struct {
	unsigned int all;
	unsigned int of_user;
} hanging_max[ASYNC_CALL_KINDS] = {
	[ASYNC_CALL_FILE] = { 64, 4 },
	[ASYNC_CALL_MEMORY] = { 32, 2 },
};

/* How long the caller has waited for the calls of a user. */
struct waited {
	uint64_t user;
	uint64_t owed_ns; /* time waited, minus what has been forgiven since */
	uint64_t at_ns;
};

/* One worker thread. */
struct runner {
	struct runner *next;
	pthread_cond_t changed;
	struct async_call *call; /* NULL: idle */
	bool has_ended;
	bool is_abandoned; /* the call hangs: when it ends, the thread drops it and ends */
};

static struct {
	pthread_mutex_t lock;
	struct runner *ready; /* an idle thread, or NULL */
	struct runner *hanging;
	struct waited users[USERS_MAX];
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Removes the thread from the list of hanging threads. Call with the lock held. */
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

/* Starts the worker thread. It blocks the signals that other processes send, because the main
 * thread handles these. */
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
	unsigned int nr = 0, of_user = 0;

	for (const struct runner *r = pool.hanging; r; r = r->next) {
		if (r->call->kind != call->kind)
			continue;
		nr++;
		of_user += r->call->user == call->user;
		if (r->call->about == call->about && r->call->user == call->user)
			return true;
	}
	return nr >= hanging_max[call->kind].all ||
	       of_user >= hanging_max[call->kind].of_user;
}

/* Returns the entry of a user. A new one replaces the entry with the least waiting time. */
static struct waited *async_call_waited(uint64_t user, uint64_t now_ns)
{
	struct waited *least = pool.users;

	for (struct waited *w = pool.users; w < pool.users + USERS_MAX; w++) {
		uint64_t earned = (now_ns - w->at_ns) / WAIT_PART;

		w->owed_ns -= earned < w->owed_ns ? earned : w->owed_ns;
		w->at_ns = now_ns;
		if (w->user == user)
			return w;
		if (w->owed_ns < least->owed_ns)
			least = w;
	}
	*least = (struct waited){ .user = user, .at_ns = now_ns };
	return least;
}

/* Returns how long to wait for a call. The time is short if its user has caused much waiting
 * before: a server that always answers just in time could otherwise stop the caller. */
static uint64_t async_call_patience(const struct async_call *call, uint64_t patience_ns)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

	if (call->user == ASYNC_CALL_OWN || patience_ns <= SHORT_WAIT_NS ||
	    async_call_waited(call->user, now_ns)->owed_ns < WAIT_AT_ONCE_NS)
		return patience_ns;
	return SHORT_WAIT_NS;
}

/* Charges the user of a call that took long. */
static void async_call_charge(uint64_t user, uint64_t since_ns)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

	if (user != ASYNC_CALL_OWN && now_ns - since_ns > SHORT_WAIT_NS)
		async_call_waited(user, now_ns)->owed_ns += now_ns - since_ns;
}

static struct timespec async_call_deadline(uint64_t patience_ns)
{
	return clock_timespec(clock_now_ns(CLOCK_MONOTONIC) + patience_ns);
}

/* Waits for the end of the thread's call. Returns 0, or -ETIMEDOUT after abandoning the thread.
 * Call with the lock held; it is released while waiting. */
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
	uint64_t since_ns = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t user = call->user; /* the thread can free the call */
	int result;

	pthread_mutex_lock(&pool.lock);
	result = async_call_is_refused(call) ? -EBUSY : async_call_prepare_thread();
	if (!result) {
		pool.ready->call = call;
		pthread_cond_signal(&pool.ready->changed);
		result = async_call_wait(pool.ready,
					 async_call_patience(call, patience_ns));
		async_call_charge(user, since_ns);
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
