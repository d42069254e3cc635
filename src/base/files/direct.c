/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files/io.h"

/* Architectures with only 64-bit times do not have this call; it fails there. */
#ifndef SYS_io_getevents
#define SYS_io_getevents (-1)
#endif

enum {
	WORTH_BYTES = 16 << 20, /* smaller files are not worth the effort */
	PAGES_ASKED = 32,
	/* 500 MB/s: with a slower disk, all reports except flat ones wait for it. */
	SLOW_NS_PER_BYTE = 2,
	SLOW_AFTER_BYTES = 32 << 20
};

struct direct {
	int fd;
	aio_context_t context;
	long batch; /* reads to wait for together */
	struct iocb asks[DIRECT_DEPTH];
	struct iocb *unsent[DIRECT_DEPTH];
	long nr_unsent;
	long nr_sent; /* submitted but not complete */
	bool done[DIRECT_DEPTH];
	int64_t result[DIRECT_DEPTH];
	uint64_t bytes; /* bytes read so far */
	uint64_t waited_ns;
};

/* Returns 1 if the page at `offset` is in the page cache, 0 if not, or a negative errno. */
static int direct_is_cached(int fd, uint64_t offset, size_t page_bytes)
{
	unsigned char here = 0;
	void *page = mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, fd,
			  (off_t)(offset - offset % page_bytes));
	int r;

	if (page == MAP_FAILED)
		return -errno;
	r = mincore(page, page_bytes, &here) < 0 ? -errno : here & 1;
	munmap(page, page_bytes);
	return r;
}

bool direct_is_worth(int fd, uint64_t from, uint64_t end)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	unsigned int nr_cached = 0;

	if (end <= from || end - from < WORTH_BYTES || end > INT64_MAX)
		return false;
	for (unsigned int i = 0; i < PAGES_ASKED; i++) {
		int r = direct_is_cached(fd, from + (end - from) / PAGES_ASKED * i,
					 page_bytes);

		if (r < 0)
			return false;
		nr_cached += (unsigned int)r;
	}
	return nr_cached < PAGES_ASKED / 2;
}

/* Returns whether the file allows direct I/O with DIRECT_ALIGN. The file system may report a
 * stricter alignment (statx(2), Linux 6.1). */
static bool is_able(int fd)
{
#ifdef STATX_DIOALIGN
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &st) < 0 ||
	    !(st.stx_mask & STATX_DIOALIGN))
		return true;
	return st.stx_dio_mem_align && st.stx_dio_mem_align <= DIRECT_ALIGN &&
	       st.stx_dio_offset_align && st.stx_dio_offset_align <= DIRECT_ALIGN;
#else
	(void)fd;
	return true;
#endif
}

int direct_open(int fd, unsigned int batch, struct direct **ret_direct)
{
	struct direct *d = calloc(1, sizeof(*d));
	char path[32];
	int r = 0;

	if (!d)
		return -ENOMEM;
	d->batch = batch;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	d->fd = io_open(path, O_RDONLY | O_DIRECT, 0);
	if (d->fd < 0)
		r = d->fd;
	else if (!is_able(d->fd))
		r = -EOPNOTSUPP;
	else if (syscall(SYS_io_setup, DIRECT_DEPTH, &d->context) < 0)
		r = -errno;
	if (r) {
		if (d->fd >= 0)
			(void)close(d->fd);
		free(d);
		return r;
	}
	*ret_direct = d;
	return 0;
}

/* Closes the file. io_destroy(2) returns after all reads in flight have ended, so that none still
 * writes to memory. */
void direct_close(struct direct *d)
{
	if (!d)
		return;
	(void)syscall(SYS_io_destroy, d->context);
	(void)close(d->fd);
	free(d);
}

void direct_ask(struct direct *d, unsigned int slot, void *memory, size_t len,
		uint64_t offset)
{
	d->asks[slot] = (struct iocb){ .aio_data = slot,
				       .aio_lio_opcode = IOCB_CMD_PREAD,
				       .aio_fildes = (uint32_t)d->fd,
				       .aio_buf = (uintptr_t)memory,
				       .aio_nbytes = len,
				       .aio_offset = (int64_t)offset };
	d->unsent[d->nr_unsent++] = &d->asks[slot];
	d->done[slot] = false;
}

static void note_done(struct direct *d, uint64_t slot, int64_t result)
{
	d->done[slot] = true;
	d->result[slot] = result;
}

void direct_send(struct direct *d)
{
	long sent = 0;

	while (sent < d->nr_unsent) {
		long nr = syscall(SYS_io_submit, d->context, d->nr_unsent - sent,
				  d->unsent + sent);

		if (nr > 0) {
			sent += nr;
			d->nr_sent += nr;
			continue;
		}
		note_done(d, d->unsent[sent]->aio_data,
			  nr < 0 && errno ? -errno : -EIO);
		sent++;
	}
	d->nr_unsent = 0;
}

static int wait_for_some(struct direct *d)
{
	struct io_event events[DIRECT_DEPTH];
	long min = d->nr_sent < d->batch ? d->nr_sent : d->batch;
	uint64_t from_ns = clock_now_ns(CLOCK_MONOTONIC);
	long nr =
		syscall(SYS_io_getevents, d->context, min, DIRECT_DEPTH, events, NULL);

	d->waited_ns += clock_now_ns(CLOCK_MONOTONIC) - from_ns;
	if (nr < 0)
		return errno == EINTR ? 0 : -errno;
	for (long i = 0; i < nr; i++)
		note_done(d, events[i].data, events[i].res);
	d->nr_sent -= nr;
	return 0;
}

ssize_t direct_wait(struct direct *d, unsigned int slot)
{
	while (!d->done[slot]) {
		int r = wait_for_some(d);

		if (r)
			return r;
	}
	if (d->result[slot] > 0)
		d->bytes += (uint64_t)d->result[slot];
	return (ssize_t)d->result[slot];
}

bool direct_is_slow(const struct direct *d)
{
	return d->bytes >= SLOW_AFTER_BYTES &&
	       d->waited_ns > d->bytes * SLOW_NS_PER_BYTE;
}
