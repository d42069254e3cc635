/* ring.h - one perf ring buffer: mapped memory that the kernel fills and we empty.
 * Layer: capture.  One reader. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum {
	RING_RECORD_MAX = 65536 /* perf_event_header.size has 16 bits */
};

struct ring {
	void *base; /* the control page; data follows; NULL: not open */
	uint8_t *data;
	size_t page_bytes;
	size_t bytes;    /* of data, a power of two */
	uint64_t head;   /* as of ring_look() */
	uint64_t tail;   /* up to here records were taken */
	uint8_t *joined; /* a record that wraps around the end is put together here */
};

/* Maps `pages` (a power of two) data pages of an event.  0 or a negative errno (-EPERM: more
 * than perf_event_mlock_kb and RLIMIT_MEMLOCK allow). */
int ring_open(struct ring *ring, int fd, size_t pages);
void ring_close(struct ring *ring);
/* Looks how far the kernel has come; ring_next() gives records up to there. */
void ring_look(struct ring *ring);
/* The next record, valid until ring_release(), or for one that wraps until the next call;
 * NULL when all were taken.  *ret_len is its size. */
const void *ring_next(struct ring *ring, size_t *ret_len);
/* Gives what was taken back to the kernel. */
void ring_release(struct ring *ring);
