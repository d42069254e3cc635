/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/epoll_rest.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"

/* Without a limit, requests that every user may send would add to the daemon's cost, and the
 * governor would then lower the sampling rate. */
enum {
	WINDOW_WORK = 10
};
static const uint64_t window_ns = 100000000;

int epoll_rest_open(struct epoll_rest *r, int epoll_fd, int fd, struct err *err)
{
	struct epoll_event event = { .events = EPOLLIN };

	/* Create the timer in advance: when it is needed, the process may have no free
	 * descriptor. */
	*r = (struct epoll_rest){ .epoll_fd = epoll_fd, .fd = fd };
	r->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->timer_fd < 0)
		return err_sys(err, -errno, "cannot create a timer");
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, r->timer_fd, &event) ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return err_sys(err, -errno, "cannot wait for the timer");
	return 0;
}

void epoll_rest_begin(struct epoll_rest *r, uint64_t ns)
{
	struct itimerspec at = { .it_value = clock_timespec(ns) };
	/* Disable the events instead of removing the descriptor, because adding it again could
	 * fail. */
	struct epoll_event event = { .events = 0 };

	r->rests = !timerfd_settime(r->timer_fd, 0, &at, NULL) &&
		   !epoll_ctl(r->epoll_fd, EPOLL_CTL_MOD, r->fd, &event);
}

void epoll_rest_if_full(struct epoll_rest *r, int error)
{
	if (error != EAGAIN && error != EINTR && error != ECONNABORTED)
		epoll_rest_begin(r, NS_PER_S);
}

bool epoll_rest_may_work(struct epoll_rest *r, uint64_t now_ns)
{
	if (now_ns - r->window_at_ns >= window_ns) {
		r->window_at_ns = now_ns;
		r->nr_work = 0;
	}
	if (r->nr_work < WINDOW_WORK) {
		r->nr_work++;
		return true;
	}
	epoll_rest_begin(r, r->window_at_ns + window_ns - now_ns);
	return false;
}

bool epoll_rest_is_over(struct epoll_rest *r)
{
	struct epoll_event event = { .events = EPOLLIN };
	uint64_t nr;

	if (!r->rests)
		return true;
	if (read(r->timer_fd, &nr, sizeof(nr)) < 0)
		return false;
	r->rests = epoll_ctl(r->epoll_fd, EPOLL_CTL_MOD, r->fd, &event) != 0;
	return true;
}

void epoll_rest_done(struct epoll_rest *r)
{
	if (r->timer_fd >= 0)
		close(r->timer_fd);
	r->timer_fd = -1;
}
