/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mapped.h - maps sections of files for reading. They stay readable if the file is truncated or
 * its disk fails.
 * Layer: base.  Thread safe. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped {
	const uint8_t *bytes;
	size_t len;
	unsigned int slot;
};

/* Maps `len` bytes of a regular file from `offset`, a multiple of the page size. Bytes after
 * the end of the file, at the time of the access, read as zeros. Returns 0, -EAGAIN (too many
 * mappings at the moment), or another negative errno. Installs a SIGBUS handler, which passes
 * signals for other addresses to the previous handler. */
int mapped_window(int fd, uint64_t offset, size_t len, struct mapped *ret_mapped);
/* Advises the kernel that the mapping will be read sequentially. Data that is not in the page
 * cache is then read in blocks of megabytes, whatever the device's read-ahead is, and is cached
 * in large folios (madvise(2), MADV_HUGEPAGE on files). */
void mapped_stream(const struct mapped *m);
/* Unmaps the window; accepts a zeroed struct. A build with AddressSanitizer keeps the addresses
 * reserved for a while and reports later accesses. */
void mapped_release(struct mapped *m);
/* Returns whether some bytes of the mapping could not be read; these and all following ones are
 * zero. Check this after reading the data. */
bool mapped_is_lost(const struct mapped *m);
