/* SPDX-License-Identifier: GPL-2.0-or-later */
/* number_queue.h - a queue of numbers that uses a temporary file if it is long. Readers of
 * profiles need it because a file contains one column after the other, but a sample consists of a
 * number from each column.
 * Layer: format, private to its readers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct err;

/* Zero-initialize it, and end with number_queue_done(). */
struct number_queue {
	VEC(int64_t) tail; /* the last numbers */
	VEC(int64_t) head; /* numbers that were read back from the file */
	size_t pos; /* index of the first number, in `head` or, if that is empty, in `tail` */
	bool has_file;
	int fd;
	uint64_t from, to; /* bytes of the file that are not read back yet */
	uint64_t nr;       /* numbers in the queue */
	int error;         /* the first error of the temporary file; 0: none */
};

/* Appends a number. Returns 0, -ENOMEM, or an error of the temporary file. */
int number_queue_push(struct number_queue *q, int64_t number);
/* Removes the first number and stores it. Returns 0, -ENODATA if the queue is empty, or an error
 * as number_queue_push() does. */
int number_queue_pop(struct number_queue *q, int64_t *ret_number);
void number_queue_clear(struct number_queue *q);
/* If `r` is an error of the temporary file, stores a message in *err. Returns `r`. */
int number_queue_explain(const struct number_queue *q, int r, struct err *err);
void number_queue_done(struct number_queue *q);
