/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copies.h - copies of binaries and of JIT compilers' files in a session, DIR/images/ID and
 * DIR/jit/PID/NAME, bounded as its segments are.  Each is charged to a user
 * (base/files/charge.h).
 * Layer: daemon.  Files that appear or go meanwhile do no harm. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct copies {
	uint64_t bytes;    /* of what is there now */
	size_t nr_removed; /* by the call */
};

/* Removes those that nobody used (wrote or looked at for a recording, by their time) since
 * `since_ns` (since 1970), and while there are more than `max_bytes` (0: no bound) the oldest of the
 * user who has the most.
 * 0, also where there are none, or -ENOMEM. */
int copies_bound(const char *dir, uint64_t max_bytes, uint64_t since_ns,
		 struct copies *ret_copies);
