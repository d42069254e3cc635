/* SPDX-License-Identifier: GPL-2.0-or-later */
/* epoll_rest.h - pauses one descriptor of an epoll. Layer: daemon. Single-threaded. A descriptor
 * that stays readable but must not be read yet would otherwise wake the poller again and again. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;

struct epoll_rest {
	int epoll_fd; /* borrowed */
	int fd;       /* borrowed */
	int timer_fd;
	bool rests;
	uint64_t window_at_ns;
	unsigned int nr_work; /* number of events handled in this window */
};

/* Adds `fd` and a timer to the epoll, both with NULL as the event's data.  The epoll polls
 * readable when `fd` does and is not paused, and when a pause ends.  Returns 0 or a negative
 * errno with a message in *err; call epoll_rest_done() in both cases. */
int epoll_rest_open(struct epoll_rest *r, int epoll_fd, int fd, struct err *err);
/* Excludes `fd` from now on for `ns`: more than 0, less than a minute. */
void epoll_rest_begin(struct epoll_rest *r, uint64_t ns);
/* Call after accept() failed with `error`.  Pauses for a second if the connection is still
 * pending and the next call would also fail (for example because no descriptor is left). */
void epoll_rest_if_full(struct epoll_rest *r, int error);
/* Returns whether one more unit of work that any user can cause may be done at `now_ns`
 * (CLOCK_MONOTONIC).  If not, the budget of this tenth of a second is used up, and `fd` is paused
 * until the next one. */
bool epoll_rest_may_work(struct epoll_rest *r, uint64_t now_ns);
/* Returns whether `fd` may be read: it is not paused, or the pause is over. */
bool epoll_rest_is_over(struct epoll_rest *r);
void epoll_rest_done(struct epoll_rest *r); /* closes the timer if it is open */
