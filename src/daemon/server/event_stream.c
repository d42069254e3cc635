/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/event_stream.h"

#include <string.h>

enum {
	/* Maximum words of a sample in addition to its locations: loss, CPU, context, trace, two
	 * modes. */
	HEAD_WORDS = 3 + 3 + 7 + 2 + 4,
	PLACE_WORDS =
		5, /* maximum words of a location: its cookie, offset and counter */
	LOST_WORDS = 3,
	WORD_BYTES = sizeof(unsigned long)
};

static const unsigned long escape = ~0UL;

void event_reader_init(struct event_reader *r, uint64_t max_words)
{
	if (max_words < EVENT_WORDS_MIN)
		max_words = EVENT_WORDS_MIN;
	if (max_words > EVENT_WORDS_MAX)
		max_words = EVENT_WORDS_MAX;
	*r = (struct event_reader){ .max_bytes = (size_t)max_words * WORD_BYTES };
}

/* ---- words ---- */

static void event_stream_put(struct event_reader *r, uint64_t value)
{
	unsigned long word = (unsigned long)value;

	buf_put(&r->words, &word, sizeof(word));
}

static void put_code(struct event_reader *r, enum stream_code code)
{
	event_stream_put(r, escape);
	event_stream_put(r, code);
}

static void put_lost(struct event_reader *r)
{
	put_code(r, STREAM_LOST);
	event_stream_put(r, r->lost);
	r->lost = 0;
}

static void put_context(struct event_reader *r, const struct event_sample *s)
{
	bool another_cpu = !r->knows_context || r->cpu != s->cpu;

	if (another_cpu) {
		put_code(r, STREAM_CPU_SWITCH);
		event_stream_put(r, s->cpu);
		r->knows_cookie = r->knows_mode = false;
	}
	if (s->is_trace)
		put_code(r, STREAM_TRACE_BEGIN);
	if (another_cpu || r->tid != (uint64_t)s->tid || r->pid != (uint64_t)s->pid ||
	    r->app_cookie != s->app_cookie) {
		put_code(r, STREAM_CTX_SWITCH);
		event_stream_put(r, (uint64_t)s->tid);
		event_stream_put(r, s->app_cookie);
		put_code(r, STREAM_CTX_TGID);
		event_stream_put(r, (uint64_t)s->pid);
	}
	r->knows_context = true;
	r->cpu = s->cpu;
	r->tid = (uint64_t)s->tid;
	r->pid = (uint64_t)s->pid;
	r->app_cookie = s->app_cookie;
}

/* Returns whether a reader would take the location for an escape code. */
static bool is_escape(const struct event_position *position)
{
	return (unsigned long)position->offset == escape;
}

static void event_stream_put_position(struct event_reader *r,
				      const struct event_position *position,
				      bool in_kernel, uint32_t counter)
{
	if (!r->knows_mode || r->in_kernel != in_kernel)
		put_code(r, in_kernel ? STREAM_KERNEL_ENTER : STREAM_USER_ENTER);
	r->knows_mode = true;
	r->in_kernel = in_kernel;
	if (!in_kernel && (!r->knows_cookie || r->cookie != position->cookie)) {
		put_code(r, STREAM_COOKIE_SWITCH);
		event_stream_put(r, position->cookie);
		r->knows_cookie = true;
		r->cookie = position->cookie;
	}
	event_stream_put(r, position->offset);
	event_stream_put(r, counter);
}

/* ---- the queue ---- */

static bool event_stream_has_room(struct event_reader *r, size_t words)
{
	struct buf *b = &r->words;

	/* Wait until at least half is sent, so moving the rest costs no more than sending did. */
	if (r->sent && r->sent >= b->len - r->sent) {
		memmove(b->data, b->data + r->sent, b->len - r->sent);
		b->len -= r->sent;
		r->sent = 0;
	}
	return b->len + words * WORD_BYTES <= r->max_bytes &&
	       buf_reserve(b, words * WORD_BYTES);
}

static void lose(struct event_reader *r)
{
	r->words.failed = false; /* let the next sample try to allocate again */
	r->lost++;
	r->all_lost++;
	r->knows_context = r->knows_cookie = r->knows_mode = false;
}

void event_reader_put(struct event_reader *r, const struct event_sample *sample)
{
	size_t nr = sample->nr < EVENT_POSITIONS_MAX ? sample->nr : EVENT_POSITIONS_MAX;

	if (is_escape(&sample->positions[0]))
		return;
	if (!event_stream_has_room(r, HEAD_WORDS + nr * PLACE_WORDS)) {
		lose(r);
		return;
	}
	if (r->lost)
		put_lost(r);
	put_context(r, sample);
	/* Only the first location carries the counter. */
	for (size_t i = 0; i < nr; i++) {
		if (is_escape(&sample->positions[i]))
			continue;
		event_stream_put_position(r, &sample->positions[i],
					  i < sample->nr_kernel,
					  i ? 0 : sample->counter);
	}
}

bool event_reader_is_half_full(const struct event_reader *r)
{
	return r->words.len - r->sent > r->max_bytes / 2;
}

const uint8_t *event_reader_bytes(struct event_reader *r, size_t *ret_len)
{
	/* No further sample might come, so report losses now. */
	if (r->lost && event_stream_has_room(r, LOST_WORDS))
		put_lost(r);
	*ret_len = r->words.len - r->sent;
	return *ret_len ? r->words.data + r->sent : NULL;
}

void event_reader_sent(struct event_reader *r, size_t bytes)
{
	r->sent += bytes;
	if (r->sent == r->words.len) {
		buf_clear(&r->words);
		r->sent = 0;
	}
}

void event_reader_done(struct event_reader *r)
{
	buf_done(&r->words);
}
