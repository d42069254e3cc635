/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_stream.h - encodes samples as the words of OProfile's event buffer, for one reader.
 * Layer: daemon.  Single-threaded.  The words are those of Linux 4
 * (drivers/oprofile/event_buffer.h and buffer_sync.c), native unsigned longs: a location and its
 * counter, or ~0 and one of the codes below with its arguments.  A reader that is too slow loses
 * whole samples; the stream reports how many. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum stream_code {
	STREAM_CTX_SWITCH =
		1, /* tid, cookie of the program, ~0, STREAM_CTX_TGID, pid */
	STREAM_CPU_SWITCH = 2, /* cpu */
	STREAM_COOKIE_SWITCH =
		3, /* cookie of the file that contains the following locations */
	STREAM_KERNEL_ENTER = 4, /* locations are kernel addresses */
	STREAM_USER_ENTER = 5,
	STREAM_CTX_TGID = 7,
	STREAM_TRACE_BEGIN =
		8, /* the next location is the sampled one; its callers follow */
	STREAM_LOST =
		15 /* number of lost samples; not in OProfile, which had 1 to 14 */
};

/* Cookie of locations outside files: their offset is an address. */
#define EVENT_NO_COOKIE 0

enum {
	EVENT_POSITIONS_MAX =
		1024, /* maximum locations of a sample; further callers are dropped */
	EVENT_WORDS_MIN =
		8192, /* minimum size of a reader's queue: the largest sample fits */
	EVENT_WORDS_MAX = 1 << 18, /* 2 MB */
	EVENT_WORDS_DEFAULT = 131072
};

struct event_position {
	uint64_t cookie; /* for user space */
	uint64_t offset; /* in the cookie's file; without a file, the address */
};

struct event_sample {
	uint32_t cpu;
	uint32_t counter;
	int32_t tid, pid;
	uint64_t app_cookie;
	bool is_trace;
	const struct event_position
		*positions; /* the sample's own location, then its callers */
	size_t nr;          /* number of positions, at least 1 */
	size_t nr_kernel;   /* how many of the first locations are in the kernel */
};

struct event_reader {
	struct buf words;
	size_t sent; /* bytes already sent */
	size_t max_bytes;
	uint64_t lost;     /* not reported yet */
	uint64_t all_lost; /* samples lost since the start */
	/* The values that were sent last; words are sent only when they change. */
	bool knows_context, knows_cookie, in_kernel, knows_mode;
	uint64_t cpu, tid, pid, app_cookie, cookie;
};

/* Limits the reader's queue to `max_words` (within the bounds above). */
void event_reader_init(struct event_reader *r, uint64_t max_words);
/* Appends the sample's words to the queue, or counts the sample as lost if there is no room.
 * Ignores a sample whose location has the value of an escape code. */
void event_reader_put(struct event_reader *r, const struct event_sample *sample);
/* Returns whether more than half of the queue is used, so that it should be sent soon. */
bool event_reader_is_half_full(const struct event_reader *r);
/* Returns the bytes to send now and their number in *ret_len, or NULL; valid until the next call.
 */
const uint8_t *event_reader_bytes(struct event_reader *r, size_t *ret_len);
/* Removes the first `bytes` bytes, which were sent. */
void event_reader_sent(struct event_reader *r, size_t bytes);
void event_reader_done(struct event_reader *r);
