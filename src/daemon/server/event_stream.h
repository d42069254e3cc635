/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_stream.h - samples as the words of OProfile's event buffer, for one reader.
 * Layer: daemon.  Single-threaded.  The words are those of Linux 4 (drivers/oprofile/event_buffer.h
 * and buffer_sync.c): native unsigned longs; a place and its counter, or ~0 and one of the codes below
 * with what follows it.  A reader that falls behind loses whole samples, and is told how many. */
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
		3,               /* cookie of the file that places are in from now on */
	STREAM_KERNEL_ENTER = 4, /* places are addresses of the kernel */
	STREAM_USER_ENTER = 5,
	STREAM_CTX_TGID = 7,
	STREAM_TRACE_BEGIN =
		8,       /* the next place is sampled, those behind it its callers */
	STREAM_LOST = 15 /* so many samples; not in OProfile, which had 1 to 14 */
};

/* Of places that are in no file: they are addresses. */
#define EVENT_NO_COOKIE 0

enum {
	EVENT_PLACES_MAX = 1024,   /* of a sample; callers behind them are left off */
	EVENT_WORDS_MIN = 8192,    /* of a reader: room for a sample of so many */
	EVENT_WORDS_MAX = 1 << 18, /* 2 MB */
	EVENT_WORDS_DEFAULT = 131072
};

struct event_place {
	uint64_t cookie; /* of user space */
	uint64_t offset; /* in that file, else the address */
};

struct event_sample {
	uint32_t cpu;
	uint32_t counter;
	int32_t tid, pid;
	uint64_t app_cookie;
	bool is_trace;
	const struct event_place *places; /* that of the sample, then its callers */
	size_t nr;                        /* at least 1 */
	size_t nr_kernel; /* of them, the first ones: they are the kernel's */
};

struct event_reader {
	struct buf words;
	size_t sent; /* bytes of them */
	size_t max_bytes;
	uint64_t lost;     /* since it was told */
	uint64_t all_lost; /* ever */
	/* What it knows: */
	bool knows_context, knows_cookie, in_kernel, knows_mode;
	uint64_t cpu, tid, pid, app_cookie, cookie;
};

/* At most so many words wait for the reader (within the bounds above). */
void event_reader_init(struct event_reader *r, uint64_t max_words);
/* Adds the sample's words, or one that is lost where there is no room. */
void event_reader_put(struct event_reader *r, const struct event_sample *sample);
/* Whether half of the room is taken: it is time to send. */
bool event_reader_is_half_full(const struct event_reader *r);
/* What is to be sent now, NULL: nothing; *ret_len bytes, good until the next call. */
const uint8_t *event_reader_bytes(struct event_reader *r, size_t *ret_len);
/* So many of them are sent. */
void event_reader_sent(struct event_reader *r, size_t bytes);
void event_reader_done(struct event_reader *r);
