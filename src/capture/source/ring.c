/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/source/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_open(struct ring *ring, int fd, size_t pages)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *base = mmap(NULL, (pages + 1) * page_bytes, PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
	uint8_t *joined;

	if (base == MAP_FAILED)
		return -errno;
	joined = malloc(RING_RECORD_MAX);
	if (!joined) {
		munmap(base, (pages + 1) * page_bytes);
		return -ENOMEM;
	}
	*ring = (struct ring){ .base = base,
			       .data = (uint8_t *)base + page_bytes,
			       .page_bytes = page_bytes,
			       .bytes = pages * page_bytes,
			       .joined = joined };
	return 0;
}

void ring_close(struct ring *ring)
{
	if (ring->base)
		munmap(ring->base, ring->bytes + ring->page_bytes);
	free(ring->joined);
	*ring = (struct ring){ 0 };
}

void ring_look(struct ring *ring)
{
	const struct perf_event_mmap_page *page = ring->base;

	/* Pairs with the kernel's barrier between data and data_head
	 * (include/uapi/linux/perf_event.h, perf_event_mmap_page). */
	ring->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

static void copy_out(const struct ring *ring, uint64_t from, void *out, size_t len)
{
	size_t at = from & (ring->bytes - 1);
	size_t first = ring->bytes - at < len ? ring->bytes - at : len;

	memcpy(out, ring->data + at, first);
	memcpy((uint8_t *)out + first, ring->data, len - first);
}

const void *ring_next(struct ring *ring, size_t *ret_len)
{
	const struct perf_event_header *header;
	size_t at = ring->tail & (ring->bytes - 1);
	size_t len;

	/* Records are multiples of 8 bytes, so a header never wraps. */
	if (ring->head - ring->tail < sizeof(*header))
		return NULL;
	header = (const void *)(ring->data + at);
	len = header->size;
	if (len < sizeof(*header) || len > ring->head - ring->tail) {
		/* The kernel never writes such a size; discard all records. */
		ring->tail = ring->head;
		return NULL;
	}
	*ret_len = len;
	if (at + len > ring->bytes) {
		copy_out(ring, ring->tail, ring->joined, len);
		header = (const void *)ring->joined;
	}
	ring->tail += len;
	return header;
}

void ring_release(struct ring *ring)
{
	struct perf_event_mmap_page *page = ring->base;

	__atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
