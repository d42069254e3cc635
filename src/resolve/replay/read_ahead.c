/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/replay/read_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/signals.h"

enum {
	AHEAD = 4 /* batches; usually one chunk each */
};

struct read_ahead {
	struct feed *feed;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct feed_batch batches[AHEAD];
	size_t first; /* index of the oldest batch that waits, modulo AHEAD */
	size_t nr;
	int result; /* result of the last feed_next(); not 0 after the last batch */
	struct err err;
	bool quit;
};

/* Waits for a free slot. Returns false if the thread has to end. */
static bool read_ahead_wait_for_room(struct read_ahead *a)
{
	bool go_on;

	pthread_mutex_lock(&a->lock);
	while (a->nr == AHEAD && !a->quit)
		pthread_cond_wait(&a->changed, &a->lock);
	go_on = !a->quit;
	pthread_mutex_unlock(&a->lock);
	return go_on;
}

static void *read_ahead_work(void *arg)
{
	struct read_ahead *a = arg;
	int result = 0;

	while (!result && read_ahead_wait_for_room(a)) {
		struct feed_batch batch;
		struct err err = { 0 };

		result = feed_next(a->feed, &batch, &err);
		pthread_mutex_lock(&a->lock);
		if (result) {
			a->result = result;
			a->err = err;
			feed_batch_done(a->feed, &batch);
		} else {
			a->batches[(a->first + a->nr++) % AHEAD] = batch;
		}
		pthread_cond_signal(&a->changed);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

int read_ahead_new(struct feed *feed, struct read_ahead **ret_ahead)
{
	struct read_ahead *a = calloc(1, sizeof(*a));
	sigset_t before;
	int result;

	if (!a)
		return -ENOMEM;
	a->feed = feed;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	signals_block_sent(&before);
	result = pthread_create(&a->thread, NULL, read_ahead_work, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (result) {
		free(a);
		return -result;
	}
	*ret_ahead = a;
	return 0;
}

void read_ahead_free(struct read_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->quit = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	for (size_t i = 0; i < a->nr; i++)
		feed_batch_done(a->feed, &a->batches[(a->first + i) % AHEAD]);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

int read_ahead_next(struct read_ahead *a, struct feed_batch *ret_batch, struct err *err)
{
	int result = 0;

	*ret_batch = (struct feed_batch){ 0 };
	pthread_mutex_lock(&a->lock);
	while (!a->nr && !a->result)
		pthread_cond_wait(&a->changed, &a->lock);
	if (a->nr) {
		*ret_batch = a->batches[a->first];
		a->first = (a->first + 1) % AHEAD;
		a->nr--;
		pthread_cond_signal(&a->changed);
	} else {
		result = a->result;
		if (err)
			*err = a->err;
	}
	pthread_mutex_unlock(&a->lock);
	return result;
}
