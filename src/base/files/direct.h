/* SPDX-License-Identifier: GPL-2.0-or-later */
/* direct.h - reads regular files with direct I/O, several blocks at once.
 * Layer: base. Use from one thread at a time.
 *
 * When a file is read for the first time, the page cache causes most of the cost: it allocates,
 * fills and inserts pages for bytes that are read only once. Reads of a file opened with O_DIRECT
 * (open(2)) put the bytes directly into the caller's memory, and io_submit(2) starts them early
 * enough. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct direct;

enum {
	/* alignment of file offsets, memory addresses and lengths */
	DIRECT_ALIGN = 4096,
	DIRECT_DEPTH = 3 /* reads in flight */
};

/* Returns true if direct I/O is worthwhile for the bytes `from` to `end`: there are many of them,
 * and most are not in the page cache (mincore(2) on a sample of pages). Returns false if the
 * kernel does not report this, as for a file that the caller may not write. */
bool direct_is_worth(int fd, uint64_t from, uint64_t end);
/* Opens the file of `fd` again for direct I/O. Waits for `batch` reads together, because each
 * wakeup costs CPU cache misses. Returns 0, or a negative errno if direct I/O is not possible. */
int direct_open(int fd, unsigned int batch, struct direct **ret_direct);
/* Waits for the reads in flight. Accepts NULL. */
void direct_close(struct direct *d);
/* Prepares a read of `len` bytes at `offset` into `memory`, all multiples of DIRECT_ALIGN.
 * `memory` must stay valid until direct_wait(slot) or direct_close(). `slot` must be unused and
 * less than DIRECT_DEPTH. If this process forks meanwhile, `memory` must have MADV_DONTFORK. */
void direct_ask(struct direct *d, unsigned int slot, void *memory, size_t len,
		uint64_t offset);
/* Submits the prepared reads. */
void direct_send(struct direct *d);
/* Waits for a submitted read. Returns the number of bytes read, which is smaller at the end of
 * the file, or a negative errno. */
ssize_t direct_wait(struct direct *d, unsigned int slot);
/* Returns true if the disk is the bottleneck. Then use the page cache, because it makes later
 * reads of the file faster. */
bool direct_is_slow(const struct direct *d);
