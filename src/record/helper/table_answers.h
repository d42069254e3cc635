/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_answers.h - what the daemon makes of what the helper for unwind tables says, which may have been taken
 * over by a binary that it read.
 * Layer: record. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct unwind_table;

struct table_answers {
	int fd;                       /* -1: there is nobody */
	uint64_t number;              /* of the last question */
	uint64_t worker_ns;           /* as this worker said last; 0: it is a new one */
	atomic_uint_least64_t cpu_ns; /* of all so far; any thread may read it */
	bool told;                    /* that it is not confined */
	atomic_bool gives_up;         /* by any thread: who waits is not to */
};

/* Drops what an earlier question left. */
void table_answers_drain(struct table_answers *a);
/* What came of a question. */
enum table_outcome {
	TABLE_MADE, /* there is a table */
	TABLE_NONE, /* the worker says why there is none, or nothing that makes sense */
	TABLE_KILLED,    /* the binary's fault: the worker died of a signal */
	TABLE_TOO_SLOW,  /* the binary's fault: the worker's time was up */
	TABLE_ENDED,     /* the worker ended by itself */
	TABLE_HUNG_UP,   /* the keeper has ended, or sent what is no answer */
	TABLE_NO_ANSWER, /* in all the time that there is */
	TABLE_GIVEN_UP,  /* `gives_up` */
};

/* Waits for what comes of the last question, asked at `since_ns`.  With TABLE_MADE *ret_table; with
 * TABLE_NONE *ret_error is a negative errno, -EBADMSG for what makes no sense. */
enum table_outcome table_answers_wait(struct table_answers *a, uint64_t since_ns,
				      struct unwind_table **ret_table, int *ret_error);
