/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/number_queue.h"

#include <errno.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "base/files/spool.h"

enum {
	PIECE_NUMBERS = 1 << 15
};

/* Moves the numbers of the tail to the file. */
static int number_queue_spill(struct number_queue *q)
{
	const size_t bytes = q->tail.nr * sizeof(*q->tail.at);
	const char *dir;
	int r = 0;

	if (!q->has_file) {
		q->fd = spool_open(&dir);
		q->has_file = q->fd >= 0;
		r = q->has_file ? 0 : q->fd;
	}
	if (!r)
		r = io_write_all(q->fd, q->tail.at, bytes);
	if (r) {
		q->error = r;
		return r;
	}
	q->to += bytes;
	q->tail.nr = 0;
	return 0;
}

int number_queue_push(struct number_queue *q, int64_t number)
{
	int r = 0;

	/* The tail is full: move the rest of it over the numbers that were already removed. */
	if (q->tail.nr == PIECE_NUMBERS && !q->head.nr && q->from == q->to) {
		for (size_t i = q->pos; i < q->tail.nr; i++)
			q->tail.at[i - q->pos] = q->tail.at[i];
		q->tail.nr -= q->pos;
		q->pos = 0;
	}
	if (q->tail.nr == PIECE_NUMBERS)
		r = number_queue_spill(q);
	if (!r && !vec_push(&q->tail, number))
		r = -ENOMEM;
	q->nr += !r;
	return r;
}

/* Reads the next numbers of the file into the head. */
static int number_queue_refill(struct number_queue *q)
{
	size_t bytes = PIECE_NUMBERS * sizeof(*q->head.at);
	ssize_t n;

	if (bytes > q->to - q->from)
		bytes = (size_t)(q->to - q->from);
	if (!vec_reserve(&q->head, PIECE_NUMBERS))
		return -ENOMEM;
	n = io_pread_full(q->fd, q->head.at, bytes, q->from);
	if (n != (ssize_t)bytes) {
		q->error = n < 0 ? (int)n : -EIO;
		return q->error;
	}
	q->from += bytes;
	q->head.nr = bytes / sizeof(*q->head.at);
	q->pos = 0;
	return 0;
}

int number_queue_pop(struct number_queue *q, int64_t *ret_number)
{
	int r = 0;

	if (!q->nr)
		return -ENODATA;
	if (q->head.nr && q->pos == q->head.nr)
		q->head.nr = q->pos = 0;
	if (!q->head.nr && q->from < q->to)
		r = number_queue_refill(q);
	if (r)
		return r;
	*ret_number = q->head.nr ? q->head.at[q->pos] : q->tail.at[q->pos];
	q->pos++;
	q->nr--;
	return 0;
}

void number_queue_clear(struct number_queue *q)
{
	q->tail.nr = q->head.nr = q->pos = 0;
	q->nr = 0;
	/* Empty the file, to use it again. */
	if (q->has_file && (lseek(q->fd, 0, SEEK_SET) || ftruncate(q->fd, 0))) {
		close(q->fd);
		q->has_file = false;
	}
	q->from = q->to = 0;
}

int number_queue_explain(const struct number_queue *q, int r, struct err *err)
{
	if (r && r == q->error)
		err_sys(err, r, "cannot use a temporary file in $TMPDIR or /var/tmp");
	return r;
}

void number_queue_done(struct number_queue *q)
{
	if (q->has_file)
		close(q->fd);
	vec_done(&q->tail);
	vec_done(&q->head);
	*q = (struct number_queue){ 0 };
}
