/* SPDX-License-Identifier: GPL-2.0-or-later */
/* full.h - leaves no free file descriptor to this process for a while. */
#pragma once
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit.h"

/* Open descriptors stay open. Returns the old limit, for full_end(). */
static inline struct rlimit full_begin(void)
{
	int next = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	struct rlimit was, full;

	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	full = was;
	full.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
	return was;
}

static inline void full_end(const struct rlimit *was)
{
	assert_int_equal(setrlimit(RLIMIT_NOFILE, was), 0);
}
