/* SPDX-License-Identifier: GPL-2.0-or-later */
/* epoll_rest.h - a descriptor of an epoll that can be left out of it for a while.
 * Layer: daemon.  Single-threaded.  What stays readable, and is not to be read yet, would wake
 * who polls the epoll again and again. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;

struct epoll_rest {
	int epoll_fd; /* the caller's */
	int fd;       /* the caller's */
	int timer_fd;
	bool rests;
	uint64_t window_at_ns;
	unsigned int nr_work; /* in this window */
};

/* Adds `fd` to the epoll, and a timer, both with NULL as the event's data: the epoll polls readable
 * when `fd` does and does not rest, and when its rest is over.  0 or a negative errno with a line,
 * and then epoll_rest_done() is due, too. */
int epoll_rest_open(struct epoll_rest *r, int epoll_fd, int fd, struct err *err);
/* From now on `fd` is left out, for so long: more than 0, less than a minute. */
void epoll_rest_begin(struct epoll_rest *r, uint64_t ns);
/* After accept() failed with `error`: rests for a second if the connection still waits, and the next
 * call would fail as well (no descriptor is left, say). */
void epoll_rest_if_full(struct epoll_rest *r, int error);
/* Whether one more piece of work that anybody can cause may be done at `now_ns` (CLOCK_MONOTONIC).
 * False: that was all for a tenth of a second, and `fd` rests until the next. */
bool epoll_rest_may_work(struct epoll_rest *r, uint64_t now_ns);
/* Whether `fd` may be read: it does not rest, or no longer. */
bool epoll_rest_is_over(struct epoll_rest *r);
void epoll_rest_done(struct epoll_rest *r); /* closes the timer, if timer_fd is one */
