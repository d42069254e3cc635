/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copies.h - limits the copies of binaries (DIR/images/ID) and of files of JIT compilers
 * (DIR/jit/PID/NAME) in a session. Each copy is charged to a user (base/files/charge.h). Layer:
 * daemon. Other processes may create or remove copies meanwhile. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct copies {
	uint64_t bytes;    /* size of the remaining copies */
	size_t nr_removed; /* number of copies that the call removed */
};

/* Removes copies that were last used before `since_ns` (since 1970); using a copy sets its
 * modification time. Then, while all copies have more than `max_bytes` (0: no limit), removes the
 * oldest copy of the user with the most bytes. Returns 0, also if there are no copies, or
 * -ENOMEM. */
int copies_bound(const char *dir, uint64_t max_bytes, uint64_t since_ns,
		 struct copies *ret_copies);
