/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ring.h - one perf ring buffer: mapped memory that the kernel fills and we empty.
 * Layer: capture.  It has a single reader. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum {
	RING_RECORD_MAX = 65536 /* perf_event_header.size has 16 bits */
};

struct ring {
	void *base; /* the control page, followed by data; NULL: not open */
	uint8_t *data;
	size_t page_bytes;
	size_t bytes;    /* size of `data`, a power of two */
	uint64_t head;   /* position of the kernel at the last ring_look() */
	uint64_t tail;   /* position up to which records were read */
	uint8_t *joined; /* buffer for a record that wraps around the end */
};

/* Maps `pages` (a power of two) data pages of an event. Returns 0 or a negative errno (-EPERM:
 * exceeds perf_event_mlock_kb and RLIMIT_MEMLOCK). */
int ring_open(struct ring *ring, int fd, size_t pages);
void ring_close(struct ring *ring);
/* Reads the kernel's position. ring_next() returns the records up to there. */
void ring_look(struct ring *ring);
/* Returns the next record and its size in *ret_len, or NULL after the last one. It is valid
 * until ring_release(), or, if it wraps, until the next call. */
const void *ring_next(struct ring *ring, size_t *ret_len);
/* Frees the space of the records that were read, for the kernel to reuse. */
void ring_release(struct ring *ring);
