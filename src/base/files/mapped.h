/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mapped.h - pieces of files that are mapped for reading, and stay readable when the file
 * becomes shorter or its disk fails.
 * Layer: base.  Any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped {
	const uint8_t *bytes;
	size_t len;
	unsigned int slot;
};

/* Maps `len` bytes of a regular file from `offset` on, a multiple of the page size.  What is
 * behind the end of the file by the time it is looked at reads as zeros.  0; -EAGAIN: too
 * many are mapped at the moment; or another negative errno.
 * Takes over SIGBUS: one that is none of ours goes to the handler before. */
int mapped_window(int fd, uint64_t offset, size_t len, struct mapped *ret_mapped);
/* Advice: it will be looked at from its start to its end.  What is not in the page cache then
 * comes in pieces of megabytes, however small the device's own read-ahead is, and stays
 * there in large ones (madvise(2), MADV_HUGEPAGE on files). */
void mapped_stream(const struct mapped *m);
/* One that is all zero is fine.  A build with AddressSanitizer keeps the addresses for a while and
 * reports each later access. */
void mapped_release(struct mapped *m);
/* Some of it could not be read: from now on, or since earlier, it is zeros from some page
 * on.  To be asked after what it is about was looked at. */
bool mapped_is_lost(const struct mapped *m);
