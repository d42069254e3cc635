/* SPDX-License-Identifier: GPL-2.0-or-later */
/* direct.h - reads of regular files past the page cache, some at once.
 * Layer: base.  One thread at a time.
 *
 * What a file's first reading costs is mostly the page cache's: memory is found, filled and entered, page
 * by page, for bytes that are looked at once.  Reads of a file opened with O_DIRECT (open(2)) bring them
 * to where they are wanted, and asked for with io_submit(2) they are there in time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct direct;

enum {
	DIRECT_ALIGN = 4096, /* of places in the file, in memory, and of lengths */
	DIRECT_DEPTH = 3     /* reads at once */
};

/* Whether bytes `from` to `end` of the file are so many that it matters, and most of them not in the
 * page cache (mincore(2), of some pages of them).  False where the kernel does not tell: of a
 * file of somebody else that we may not write. */
bool direct_is_worth(int fd, uint64_t from, uint64_t end);
/* Opens the file of `fd` once more.  So many reads as `batch` are waited for together: who is woken up has to
 * find their way back into the processor's caches.  0, or a negative errno where that cannot be: it
 * is to be read as ever. */
int direct_open(int fd, unsigned int batch, struct direct **ret_direct);
/* Waits for what is on its way.  NULL is fine. */
void direct_close(struct direct *d);
/* Has `len` bytes at `offset` in mind, both multiples of DIRECT_ALIGN as `memory` is, which is the
 * reader's until direct_wait(slot) or direct_close(); `slot`, less than DIRECT_DEPTH, is not in use.
 * Memory that a child would share must be MADV_DONTFORK. */
void direct_ask(struct direct *d, unsigned int slot, void *memory, size_t len,
		uint64_t offset);
/* Sends what was asked for. */
void direct_send(struct direct *d);
/* Waits for what was sent.  How many bytes came, less than asked for at the end of the file, or a negative
 * errno. */
ssize_t direct_wait(struct direct *d, unsigned int slot);
/* Whether the disk keeps us waiting.  Then the page cache is worth its price: the file may be
 * read again. */
bool direct_is_slow(const struct direct *d);
