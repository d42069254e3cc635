/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_window.c - allocates the windows that chunks point into, and counts their references. */
#include <errno.h>
#include <stdlib.h>

#include "format/perfdata/input_priv.h"

void perf_windows_init(struct perf_windows *pool)
{
	/* This cannot fail with default attributes. */
	(void)pthread_mutex_init(&pool->lock, NULL);
	pool->free = NULL;
	pool->free_direct = NULL;
	pool->cell = PERF_CELL_BYTES;
}

void perf_windows_free_direct(struct perf_windows *pool)
{
	struct perf_window *win;

	while ((win = perf_window_again(pool, &pool->free_direct)))
		perf_window_free_direct(win);
}

void perf_windows_done(struct perf_windows *pool)
{
	while (pool->free) {
		struct perf_window *next = pool->free->next_free;

		free(pool->free);
		pool->free = next;
	}
	perf_windows_free_direct(pool);
	(void)pthread_mutex_destroy(&pool->lock);
}

struct perf_window *perf_window_again(struct perf_windows *pool,
				      struct perf_window **list)
{
	struct perf_window *win;

	pthread_mutex_lock(&pool->lock);
	win = *list;
	if (win)
		*list = win->next_free;
	pthread_mutex_unlock(&pool->lock);
	return win;
}

struct perf_window *perf_window_new(struct perf_windows *pool)
{
	struct perf_window *win = perf_window_again(pool, &pool->free);
	size_t room = pool->cell + PERF_LEFT_BYTES;

	if (win && win->room != room) {
		free(win);
		win = NULL;
	}
	if (!win)
		win = malloc(sizeof(*win) + room);
	if (!win)
		return NULL;
	*win = (struct perf_window){ .refs = 1, .room = room, .bytes = win->own };
	return win;
}

int perf_window_map(int fd, uint64_t offset, size_t len, struct perf_window **ret_win)
{
	struct perf_window *win = calloc(1, sizeof(*win));
	int r = win ? mapped_window(fd, offset, len, &win->mapped) : -ENOMEM;

	if (r) {
		free(win);
		return r;
	}
	mapped_stream(&win->mapped);
	win->refs = 1;
	win->filled = len;
	win->bytes = win->mapped.bytes;
	*ret_win = win;
	return 0;
}

void perf_window_get(struct perf_windows *pool, struct perf_window *win)
{
	pthread_mutex_lock(&pool->lock);
	win->refs++;
	pthread_mutex_unlock(&pool->lock);
}

void perf_window_put(struct perf_windows *pool, struct perf_window *win)
{
	bool unused;

	if (!win)
		return;
	pthread_mutex_lock(&pool->lock);
	unused = --win->refs == 0;
	if (unused && (win->room || win->is_direct)) {
		struct perf_window **list =
			win->is_direct ? &pool->free_direct : &pool->free;

		win->next_free = *list;
		*list = win;
		unused = false;
	}
	pthread_mutex_unlock(&pool->lock);
	if (unused) {
		mapped_release(&win->mapped);
		free(win);
	}
}

int perf_chunk_make(const struct perf_chunk *of, size_t len,
		    struct perf_chunk *ret_chunk, uint8_t **ret_bytes)
{
	struct perf_window *win = malloc(sizeof(*win) + len);

	if (!win)
		return -ENOMEM;
	/* Because `room` is 0, the window is freed and not reused when it is released. */
	*win = (struct perf_window){ .refs = 1, .len = len, .bytes = win->own };
	*ret_chunk = (struct perf_chunk){ .bytes = win->own,
					  .len = len,
					  .offset = of->offset,
					  .part = of->part,
					  .hold = win };
	*ret_bytes = win->own;
	return 0;
}

bool perf_chunk_is_lost(const struct perf_chunk *chunk)
{
	const struct perf_window *win = chunk->hold;

	return win && mapped_is_lost(&win->mapped);
}

void perf_input_release(struct perf_input *in, struct perf_chunk *chunk)
{
	perf_window_put(&in->windows, chunk->hold);
	chunk->hold = NULL;
}
