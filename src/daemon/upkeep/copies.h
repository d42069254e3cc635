/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copies.h - limits the copies of binaries and of JIT compilers' files in a session,
 * DIR/images/ID and DIR/jit/PID/NAME, as its segments are limited.  Each copy is charged to a
 * user (base/files/charge.h).
 * Layer: daemon.  Files may appear or disappear meanwhile. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct copies {
	uint64_t bytes;    /* of the remaining copies */
	size_t nr_removed; /* by the call */
};

/* Removes copies that no recording has written or checked, by their time, since `since_ns` (since
 * 1970).  Then, while there are more than `max_bytes` (0: no limit), removes the oldest copy of
 * the user who has the most.
 * Returns 0, also if there are no copies, or -ENOMEM. */
int copies_bound(const char *dir, uint64_t max_bytes, uint64_t since_ns,
		 struct copies *ret_copies);
