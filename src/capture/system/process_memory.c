/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/process_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/async_call.h"
#include "base/files/process_facts.h"

enum {
	COPY_STEP = 4096,
	COPY_PAGES = 64 /* per call */
};

/* Reading pages that were swapped out takes some milliseconds. */
static const uint64_t patience_ns = 100000000;

struct memory_call {
	struct async_call call; /* must be the first member */
	int32_t pid;
	uint64_t address;
	size_t len;
	size_t copied;
	uint8_t bytes[];
};

static void process_memory_drop(struct async_call *e)
{
	free(e);
}

/* Copies up to `len` bytes, page by page. Each page has a separate iovec, because
 * process_vm_readv() does not copy parts of an iovec. */
static size_t copy_pages(struct memory_call *m, size_t from)
{
	struct iovec here = { .iov_base = m->bytes + from, .iov_len = m->len - from };
	uint64_t at = m->address + from, end = m->address + m->len;
	struct iovec there[COPY_PAGES];
	size_t nr = 0;
	ssize_t copied;

	for (; at < end && nr < COPY_PAGES; nr++) {
		uint64_t next = (at / COPY_STEP + 1) * COPY_STEP;

		if (next > end)
			next = end;
		/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
		there[nr].iov_base = (void *)(uintptr_t)at;
		there[nr].iov_len = (size_t)(next - at);
		at = next;
	}
	copied = process_vm_readv(m->pid, &here, 1, there, nr, 0);
	return copied > 0 ? (size_t)copied : 0;
}

static void process_memory_run(struct async_call *e)
{
	struct memory_call *m = (struct memory_call *)e;
	size_t copied;

	do {
		copied = copy_pages(m, m->copied);
		m->copied += copied;
	} while (copied && m->copied < m->len);
}

size_t process_memory_read(int32_t pid, uint64_t address, void *bytes, size_t len)
{
	struct memory_call *m;
	size_t copied = 0;
	int r;

	if (len > UINT64_MAX - address)
		return 0;
	m = malloc(sizeof(*m) + len);
	if (!m)
		return 0;
	*m = (struct memory_call){ .call = { .kind = ASYNC_CALL_MEMORY,
					     .about = (uint32_t)pid,
					     .user = process_async_user(pid),
					     .run = process_memory_run,
					     .drop = process_memory_drop },
				   .pid = pid,
				   .address = address,
				   .len = len };
	r = async_call_run(&m->call, patience_ns);
	if (r == -ETIMEDOUT)
		return 0;
	if (!r) {
		copied = m->copied;
		memcpy(bytes, m->bytes, copied);
	}
	free(m);
	return copied;
}
