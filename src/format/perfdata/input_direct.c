/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_direct.c - reads a large file with direct I/O, several windows ahead. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/containers/huge.h"
#include "base/files/direct.h"
#include "format/perfdata/input_priv.h"

enum {
	/* A window is a huge page, so that the kernel pins it in one step. The unread rest of
	 * the previous window is copied to the front part of the next. */
	WINDOW_BYTES = 2 << 20,
	PIECE_BYTES = PERF_CELLS_BYTES,
	FRONT_BYTES = WINDOW_BYTES - PIECE_BYTES,
	/* One window is parsed while the others are filled. */
	OVERLAPPING = DIRECT_DEPTH - 1
};

static_assert(FRONT_BYTES % DIRECT_ALIGN == 0 && PIECE_BYTES % DIRECT_ALIGN == 0,
	      "reads begin there");
static_assert(FRONT_BYTES >= PERF_LEFT_BYTES + sizeof(struct perf_window), "");

/* Windows that are being filled, in file order. */
struct perf_direct {
	struct direct *reads;
	struct perf_window *wins[DIRECT_DEPTH];
	uint64_t offsets[DIRECT_DEPTH];
	unsigned int first; /* slot of the oldest */
	unsigned int nr;
	uint64_t next; /* file offset of the next read */
	/* number of reads that are submitted, and waited for, together */
	unsigned int batch;
	/* The maximum number of reads in flight. It starts low, because the caller may only open
	 * the file, and becomes low again after a skipped payload, because another one may
	 * follow. */
	unsigned int depth;
};

static uint8_t *data_of(struct perf_window *win)
{
	return (uint8_t *)win + FRONT_BYTES;
}

/* Returns a window with one reference, or NULL if memory is short. */
static struct perf_window *new_window(struct perf_windows *pool)
{
	struct perf_window *win = perf_window_again(pool, &pool->free_direct);

	if (!win) {
		win = huge_map(WINDOW_BYTES);
		/* Without this, after a fork the disk could write to a page that this process no
		 * longer uses. */
		if (win)
			(void)madvise(win, WINDOW_BYTES, MADV_DONTFORK);
	}
	if (win)
		*win = (struct perf_window){ .refs = 1, .is_direct = true };
	return win;
}

void perf_window_free_direct(struct perf_window *win)
{
	huge_unmap(win, WINDOW_BYTES);
}

void perf_direct_stop(struct perf_input *in)
{
	struct perf_direct *d = in->source.direct;

	if (!d)
		return;
	direct_close(d->reads);
	for (; d->nr; d->nr--) {
		perf_window_put(&in->windows, d->wins[d->first]);
		d->first = (d->first + 1) % DIRECT_DEPTH;
	}
	free(d);
	in->source.direct = NULL;
	/* Free the windows of direct I/O, so that their memory is available for aggregation. */
	perf_windows_free_direct(&in->windows);
}

/* Returns how many reads to submit at once. With stacks, there is little parsing and the disk is
 * the bottleneck, so submit all: in a virtual machine, each submission costs an exit to the
 * host. */
static unsigned int batch_for(const struct perf_input *in)
{
	return perf_source_has_stacks(in) ? DIRECT_DEPTH : OVERLAPPING;
}

static bool perf_input_direct_start(struct perf_input *in)
{
	struct perf_input_source *s = &in->source;
	struct perf_direct *d;

	s->direct_was_asked = true;
	if (!s->seekable || !direct_is_worth(s->fd, s->at, s->end))
		return false;
	d = calloc(1, sizeof(*d));
	if (d)
		d->batch = batch_for(in);
	if (!d || direct_open(s->fd, d->batch, &d->reads)) {
		free(d);
		return false;
	}
	d->next = s->at - s->at % PIECE_BYTES;
	d->depth = 1;
	s->direct = d;
	return true;
}

static bool ask_next(struct perf_input *in)
{
	struct perf_direct *d = in->source.direct;
	unsigned int slot = (d->first + d->nr) % DIRECT_DEPTH;
	struct perf_window *win = new_window(&in->windows);

	if (!win)
		return false;
	direct_ask(d->reads, slot, data_of(win), PIECE_BYTES, d->next);
	d->wins[slot] = win;
	d->offsets[slot] = d->next;
	d->next += PIECE_BYTES;
	d->nr++;
	return true;
}

/* Submits reads until `depth` are in flight. Does nothing if nearly as many are in flight already,
 * so that submissions are larger. */
static void perf_input_direct_ask(struct perf_input *in)
{
	const struct perf_input_source *s = &in->source;
	struct perf_direct *d = s->direct;

	if (d->nr > DIRECT_DEPTH - d->batch || direct_is_slow(d->reads))
		return;
	if (d->next + PIECE_BYTES <= s->at)
		d->next = s->at - s->at % PIECE_BYTES;
	while (d->nr < d->depth && d->next < s->end && ask_next(in))
		;
	direct_send(d->reads);
}

/* Returns the next window of the file, its offset and its length. Returns NULL at the end. */
static struct perf_window *
perf_input_direct_take(struct perf_input *in, uint64_t *ret_offset, ssize_t *ret_len)
{
	struct perf_direct *d = in->source.direct;

	while (d->nr) {
		struct perf_window *win = d->wins[d->first];

		*ret_offset = d->offsets[d->first];
		*ret_len = direct_wait(d->reads, d->first);
		/* After an error, the disk may still write to the window, so do not free it. */
		if (*ret_len < 0)
			return NULL;
		d->first = (d->first + 1) % DIRECT_DEPTH;
		d->nr--;
		if (*ret_offset + PIECE_BYTES > in->source.at)
			return win;
		/* The reader has skipped a payload beyond this window. */
		perf_window_put(&in->windows, win);
		d->depth = 1;
		if (!d->nr)
			perf_input_direct_ask(in);
	}
	return NULL;
}

int perf_direct_next(struct perf_input *in, const uint8_t *left, size_t nr_left,
		     struct perf_window **ret_win)
{
	struct perf_input_source *s = &in->source;
	struct perf_window *win = NULL;
	uint64_t offset = 0, lead, len;
	ssize_t came = 0;

	if (!s->direct && (s->direct_was_asked || !perf_input_direct_start(in)))
		return -EAGAIN;
	if (nr_left <= FRONT_BYTES - sizeof(*win) && s->at < s->end) {
		perf_input_direct_ask(in);
		win = perf_input_direct_take(in, &offset, &came);
	}
	if (!win || offset > s->at || offset + (uint64_t)came <= s->at) {
		perf_window_put(&in->windows, win);
		perf_direct_stop(in);
		return -EAGAIN;
	}
	s->direct->depth *= 2;
	if (s->direct->depth > DIRECT_DEPTH)
		s->direct->depth = DIRECT_DEPTH;
	lead = s->at - offset;
	len = (uint64_t)came - lead;
	if (len > s->end - s->at)
		len = s->end - s->at;
	win->bytes = data_of(win) + lead - nr_left;
	if (nr_left)
		memcpy(data_of(win) + lead - nr_left, left, nr_left);
	win->len = nr_left;
	win->filled = nr_left + len;
	/* With stacks, only the beginnings of records are parsed, so do not prefetch the rest. */
	win->far = perf_source_has_stacks(in) ? win->filled : 0;
	s->at += len;
	*ret_win = win;
	return 0;
}
