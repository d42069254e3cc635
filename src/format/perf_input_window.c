#include <stdlib.h>

#include "format/perf_input_priv.h"

void perf_windows_init(struct perf_windows *pool)
{
	/* With default attributes it cannot fail. */
	(void)pthread_mutex_init(&pool->lock, NULL);
	pool->free = NULL;
}

void perf_windows_done(struct perf_windows *pool)
{
	while (pool->free) {
		struct perf_window *next = pool->free->next_free;

		free(pool->free);
		pool->free = next;
	}
	(void)pthread_mutex_destroy(&pool->lock);
}

/* The one that was let go last: it is still in the cache. */
struct perf_window *perf_window_new(struct perf_windows *pool)
{
	struct perf_window *win;

	pthread_mutex_lock(&pool->lock);
	win = pool->free;
	if (win)
		pool->free = win->next_free;
	pthread_mutex_unlock(&pool->lock);
	if (!win)
		win = malloc(sizeof(*win));
	if (!win)
		return NULL;
	win->next_free = NULL;
	win->refs = 1;
	win->len = 0;
	return win;
}

void perf_window_get(struct perf_windows *pool, struct perf_window *win)
{
	pthread_mutex_lock(&pool->lock);
	win->refs++;
	pthread_mutex_unlock(&pool->lock);
}

void perf_window_put(struct perf_windows *pool, struct perf_window *win)
{
	if (!win)
		return;
	pthread_mutex_lock(&pool->lock);
	if (--win->refs == 0) {
		win->next_free = pool->free;
		pool->free = win;
	}
	pthread_mutex_unlock(&pool->lock);
}

void perf_input_release(struct perf_input *in, struct perf_chunk *chunk)
{
	perf_window_put(&in->windows, chunk->hold);
	chunk->hold = NULL;
}
