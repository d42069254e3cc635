/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_answers.h - receives and validates the answers of the helper for unwind tables. A malicious
 * binary may have taken over the helper that read it.
 * Layer: record. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct unwind_table;

struct table_answers {
	int fd;          /* -1: not running */
	uint64_t number; /* number of the last request */
	/* CPU time that the current worker reported last; 0: a new worker. */
	uint64_t worker_ns;
	/* CPU time of all workers so far; any thread may read it. */
	atomic_uint_least64_t cpu_ns;
	bool is_reported;     /* already logged that the worker is not confined */
	atomic_bool gives_up; /* set by any thread to stop waiting */
};

/* Drops pending answers to earlier requests. */
void table_answers_drain(struct table_answers *a);
/* The result of a request. */
enum table_outcome {
	TABLE_MADE,     /* success */
	TABLE_NONE,     /* the worker reported an error, or an invalid answer */
	TABLE_KILLED,   /* a signal killed the worker, probably because of the binary */
	TABLE_TOO_SLOW, /* the worker exceeded its CPU time for this binary */
	TABLE_ENDED,    /* the worker exited by itself */
	TABLE_HUNG_UP, /* the supervisor exited, or sent something that is not an answer */
	TABLE_NO_ANSWER, /* no answer within the time limit */
	TABLE_GIVEN_UP,  /* `gives_up` was set */
};

/* Waits for the answer to the last request, sent at `since_ns`.  TABLE_MADE sets *ret_table;
 * TABLE_NONE sets *ret_error to a negative errno, -EBADMSG for an invalid answer. */
enum table_outcome table_answers_wait(struct table_answers *a, uint64_t since_ns,
				      struct unwind_table **ret_table, int *ret_error);
