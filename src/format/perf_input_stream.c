#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "format/perf_input_priv.h"

enum {
	HEADER_BYTES = sizeof(struct perf_event_header),
	FIRST_SIMPLEPERF = 32768,
	LAST_SIMPLEPERF = FIRST_SIMPLEPERF + 63,
	/* A window with less room than this is not filled up. */
	ROOM_MIN = 1 << 16
};

/* Why a walk over records ended. */
enum stop {
	STOP_SHORT, /* what is left is not a whole record */
	STOP_PAYLOAD,
	STOP_COMPRESSED, /* at `pos` */
	STOP_BAD         /* no record can be so small */
};

struct head {
	uint32_t type;
	uint16_t size;
};

static inline struct head head_at(const uint8_t *at, bool swap)
{
	struct perf_event_header h;

	memcpy(&h, at, sizeof(h));
	if (swap)
		return (struct head){ __builtin_bswap32(h.type),
				      __builtin_bswap16(h.size) };
	return (struct head){ h.type, h.size };
}

/* Steps over the records that are passed on as they are: the most of all data goes through
 * this loop. */
static inline __attribute__((always_inline)) const uint8_t *
step_plain(const uint8_t *at, const uint8_t *end, const uint8_t *classes, bool swap)
{
	while (end - at >= HEADER_BYTES) {
		struct head h = head_at(at, swap);

		if (h.type >= PERF_CLASSES || classes[h.type] != CLASS_PLAIN ||
		    h.size < HEADER_BYTES || h.size > end - at)
			break;
		at += h.size;
	}
	return at;
}

static uint8_t class_of(struct perf_input *in, uint32_t type)
{
	if (type < PERF_CLASSES)
		return in->classes[type];
	return in->info.is_simpleperf && type >= FIRST_SIMPLEPERF &&
			       type <= LAST_SIMPLEPERF
		       ? CLASS_PLAIN
		       : CLASS_UNKNOWN;
}

static uint64_t load_u64(const uint8_t *at, bool swap)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static uint32_t load_u32(const uint8_t *at, bool swap)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

/* HEADER_TRACING_DATA has a u32 behind its header, AUXTRACE a u64: the bytes that follow
 * the record.  False if it is too short for that. */
static bool payload_of(struct perf_input *in, struct perf_level *level,
		       const uint8_t *at, struct head h)
{
	bool swap = in->info.swap;

	if (h.type == PERF_USER_TRACING_DATA && h.size >= HEADER_BYTES + 4) {
		level->skip = load_u32(at + HEADER_BYTES, swap);
		return true;
	}
	if (h.type == PERF_USER_AUXTRACE && h.size >= HEADER_BYTES + 8) {
		level->skip = load_u64(at + HEADER_BYTES, swap);
		in->damage.aux_bytes += level->skip;
		return true;
	}
	return false;
}

static int tell_info(struct perf_input *in, struct perf_level *level, const uint8_t *at,
		     struct head h)
{
	uint64_t offset = level->base + (uint64_t)(at - level->win->bytes);

	if (in->part || offset < level->info_seen)
		return 0;
	level->info_seen = offset + h.size;
	return perf_info_record(in, h.type, at, h.size);
}

/* No more events from here on, wherever the walk begins the next time. */
static void freeze(struct perf_input *in)
{
	in->frozen = true;
	in->classes[PERF_RECORD_SAMPLE] = CLASS_PLAIN;
}

/* A record that is not simply passed on.  Returns how many bytes of it belong to the run
 * (0: it ends before), or -ENOMEM. */
static int step_other(struct perf_input *in, struct perf_level *level,
		      const uint8_t *at, struct head h, enum stop *stop)
{
	int r;

	switch (class_of(in, h.type)) {
	case CLASS_UNKNOWN:
		in->damage.unknown_records++;
		return h.size;
	case CLASS_INFO:
		r = tell_info(in, level, at, h);
		return r < 0 ? r : h.size;
	case CLASS_FIRST_SAMPLE:
		freeze(in);
		return h.size;
	case CLASS_PAYLOAD:
		*stop = payload_of(in, level, at, h) ? STOP_PAYLOAD : STOP_BAD;
		return *stop == STOP_BAD ? 0 : h.size;
	case CLASS_COMPRESSED:
		*stop = STOP_COMPRESSED;
		return 0;
	default:
		return h.size;
	}
}

/* The run of whole records at level->pos: *ret_len bytes.  0 or -ENOMEM. */
static int walk(struct perf_input *in, struct perf_level *level, size_t *ret_len,
		enum stop *ret_stop)
{
	const uint8_t *first = level->win->bytes + level->pos;
	const uint8_t *end = level->win->bytes + level->win->len;
	const uint8_t *at = first;
	bool swap = in->info.swap;

	for (*ret_stop = STOP_SHORT; *ret_stop == STOP_SHORT;) {
		struct head h;
		int r;

		at = swap ? step_plain(at, end, in->classes, true)
			  : step_plain(at, end, in->classes, false);
		if (end - at < HEADER_BYTES)
			break;
		h = head_at(at, swap);
		if (h.size < HEADER_BYTES) {
			*ret_stop = STOP_BAD;
			break;
		}
		if (h.size > end - at)
			break;
		r = step_other(in, level, at, h, ret_stop);
		if (r < 0)
			return r;
		at += r;
	}
	*ret_len = (size_t)(at - first);
	return 0;
}

void perf_level_done(struct perf_input *in, struct perf_level *level)
{
	perf_window_put(&in->windows, level->win);
	level->win = NULL;
	level->pos = 0;
	level->base = 0;
	level->skip = 0;
}

int perf_level_rotate(struct perf_input *in, struct perf_level *level)
{
	struct perf_window *win = perf_window_new(&in->windows);

	if (!win)
		return -ENOMEM;
	if (level->win) {
		win->len = level->win->len - level->pos;
		memcpy(win->bytes, level->win->bytes + level->pos, win->len);
		level->base += level->pos;
		perf_window_put(&in->windows, level->win);
	}
	level->win = win;
	level->pos = 0;
	return 0;
}

static size_t level_left(const struct perf_level *level)
{
	return level->win ? level->win->len - level->pos : 0;
}

static void emit(struct perf_input *in, struct perf_level *level, size_t len,
		 uint64_t offset, struct perf_chunk *ret_chunk)
{
	perf_window_get(&in->windows, level->win);
	*ret_chunk = (struct perf_chunk){
		.bytes = level->win->bytes + level->pos,
		.len = len,
		.offset = offset,
		.part = (uint32_t)in->part,
		.hold = level->win,
	};
	level->pos += len;
}

/* More bytes of the file.  0, 1 at the end, or a negative errno. */
static int fill(struct perf_input *in, struct perf_level *raw, struct err *err)
{
	struct perf_window *win = raw->win;
	ssize_t n;

	if (!win || sizeof(win->bytes) - win->len < ROOM_MIN) {
		if (perf_level_rotate(in, raw) < 0)
			return err_sys(err, -ENOMEM, "%s", in->name);
		win = raw->win;
	}
	n = perf_source_read(in, win->bytes + win->len, sizeof(win->bytes) - win->len,
			     err);
	if (n < 0)
		return (int)n;
	win->len += (size_t)n;
	return n == 0;
}

/* Steps over a payload: what is in the window, and the rest in the file, by not reading it.
 * 0, 1 at the end, or a negative errno. */
static int skip_payload(struct perf_input *in, struct perf_level *raw, struct err *err)
{
	struct perf_source *s = &in->source;

	while (raw->skip) {
		size_t here = level_left(raw);

		if (here > raw->skip)
			here = raw->skip;
		raw->pos += here;
		raw->skip -= here;
		if (raw->skip && s->seekable && s->end != UINT64_MAX) {
			uint64_t ahead = s->end - s->at;

			if (ahead > raw->skip)
				ahead = raw->skip;
			s->at += ahead;
			raw->base += ahead;
			raw->skip -= ahead;
		}
		if (raw->skip) {
			int r = fill(in, raw, err);

			if (r)
				return r;
		}
	}
	return 0;
}

/* Nothing more of this file can be told apart: the rest is counted, of a pipe by reading
 * it.  0 or a negative errno. */
static int give_up_part(struct perf_input *in, struct err *err)
{
	struct perf_source *s = &in->source;
	struct perf_level *raw = &in->raw;
	int r;

	perf_level_done(in, &in->plain);
	in->plain_more = false;
	do {
		in->damage.bad_bytes += level_left(raw);
		raw->pos = raw->win->len;
		if (s->end != UINT64_MAX) {
			in->damage.bad_bytes += s->end - s->at;
			s->at = s->end;
		}
		r = fill(in, raw, err);
	} while (r == 0);
	return r < 0 ? r : 0;
}

/* Where the stream's bytes lie in a compressed record: all behind its header, or, with a
 * size of their own, as many as that says.  False if the record is malformed. */
static bool frame_of(const struct perf_input *in, const uint8_t *at, struct head h,
		     const uint8_t **ret_bytes, size_t *ret_len)
{
	uint64_t len;

	if (h.type == PERF_USER_COMPRESSED) {
		*ret_bytes = at + HEADER_BYTES;
		*ret_len = h.size - HEADER_BYTES;
		return true;
	}
	if (h.size < HEADER_BYTES + sizeof(len))
		return false;
	len = load_u64(at + HEADER_BYTES, in->info.swap);
	if (len > h.size - HEADER_BYTES - sizeof(len))
		return false;
	*ret_bytes = at + HEADER_BYTES + sizeof(len);
	*ret_len = len;
	return true;
}

/* Takes the compressed record that is next in the file, if the next is one. */
static bool feed_frame(struct perf_input *in)
{
	struct perf_level *raw = &in->raw;
	const uint8_t *at = raw->win->bytes + raw->pos;
	const uint8_t *bytes = NULL;
	size_t left = level_left(raw);
	size_t len = 0;
	struct head h;

	if (left < HEADER_BYTES)
		return false;
	h = head_at(at, in->info.swap);
	if (class_of(in, h.type) != CLASS_COMPRESSED || h.size < HEADER_BYTES ||
	    h.size > left)
		return false;
	if (frame_of(in, at, h, &bytes, &len))
		perf_unzip_feed(in->unzip, bytes, len);
	else
		in->damage.bad_bytes += h.size;
	in->frame = raw->base + raw->pos;
	in->plain_more = true;
	raw->pos += h.size;
	return true;
}

/* One step through the file.  0: a chunk; 1: go on; 2: the part is at its end. */
static int next_raw(struct perf_input *in, struct perf_chunk *ret_chunk,
		    struct err *err)
{
	struct perf_level *raw = &in->raw;
	enum stop stop = STOP_SHORT;
	size_t len = 0;
	int r = 0;

	if (raw->skip) {
		r = skip_payload(in, raw, err);
		if (r == 1)
			in->damage.missing_bytes += raw->skip;
		if (r)
			return r < 0 ? r : 2;
	}
	if (raw->win && walk(in, raw, &len, &stop) < 0)
		return err_sys(err, -ENOMEM, "%s", in->name);
	if (len) {
		emit(in, raw, len, raw->base + raw->pos, ret_chunk);
		return 0;
	}
	if (stop == STOP_COMPRESSED && feed_frame(in))
		return 1;
	if (stop == STOP_BAD) {
		r = give_up_part(in, err);
		return r < 0 ? r : 2;
	}
	r = fill(in, raw, err);
	return r < 0 ? r : 1 + r;
}

static int make_room(struct perf_input *in, struct perf_level *plain)
{
	if (plain->win && sizeof(plain->win->bytes) - plain->win->len >= ROOM_MIN)
		return 0;
	return perf_level_rotate(in, plain);
}

/* Unpacks until the window is full or the file has something else. */
static void unpack(struct perf_input *in, struct perf_level *plain)
{
	do {
		uint64_t bad = 0;

		if (perf_unzip_into(in->unzip, plain->win, &bad))
			in->damage.bad_bytes += bad;
	} while (perf_unzip_hungry(in->unzip) &&
		 plain->win->len < sizeof(plain->win->bytes) && feed_frame(in));
	if (plain->skip) {
		size_t here = level_left(plain);

		if (here > plain->skip)
			here = plain->skip;
		plain->pos += here;
		plain->skip -= here;
	}
}

/* One step through what compressed records hold; as next_raw(). */
static int next_plain(struct perf_input *in, struct perf_chunk *ret_chunk,
		      struct err *err)
{
	struct perf_level *plain = &in->plain;
	uint64_t offset = in->frame;
	enum stop stop;
	size_t len;
	int r;

	if (make_room(in, plain) < 0)
		return err_sys(err, -ENOMEM, "%s", in->name);
	unpack(in, plain);
	if (walk(in, plain, &len, &stop) < 0)
		return err_sys(err, -ENOMEM, "%s", in->name);
	if (len) {
		emit(in, plain, len, offset, ret_chunk);
		return 0;
	}
	/* Compressed twice: nobody writes that. */
	if (stop == STOP_BAD || stop == STOP_COMPRESSED) {
		in->damage.bad_bytes += level_left(plain);
		r = give_up_part(in, err);
		return r < 0 ? r : 2;
	}
	in->plain_more = !perf_unzip_hungry(in->unzip);
	return 1;
}

static void clear_levels(struct perf_input *in)
{
	perf_level_done(in, &in->raw);
	perf_level_done(in, &in->plain);
	in->plain_more = false;
	perf_unzip_reset(in->unzip);
}

static int start_part(struct perf_input *in, size_t index, struct err *err)
{
	clear_levels(in);
	in->raw.base = in->parts.at[index].offset;
	return perf_part_open(in, index, err);
}

/* What is left at the end is a record, or a frame, without its rest. */
static int end_part(struct perf_input *in, struct err *err)
{
	in->damage.cut_bytes += level_left(&in->raw) + level_left(&in->plain);
	if (in->part + 1 < in->parts.nr) {
		in->done_bytes += in->source.at - in->parts.at[in->part].offset;
		return start_part(in, in->part + 1, err);
	}
	clear_levels(in);
	in->at_end = true;
	return 0;
}

int perf_stream_start(struct perf_input *in, struct err *err)
{
	uint64_t bad_features = in->damage.bad_features;

	in->damage = (struct perf_input_damage){ .bad_features = bad_features };
	in->done_bytes = 0;
	in->at_end = false;
	return start_part(in, 0, err);
}

int perf_stream_next(struct perf_input *in, struct perf_chunk *ret_chunk,
		     struct err *err)
{
	while (!in->at_end) {
		int r = in->plain_more ? next_plain(in, ret_chunk, err)
				       : next_raw(in, ret_chunk, err);

		if (r <= 0)
			return r;
		if (r == 2) {
			r = end_part(in, err);
			if (r < 0)
				return r;
		}
	}
	return 1;
}
