/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_stream.c - splits the bytes of each part into chunks of whole records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "format/perfdata/input_priv.h"

enum {
	HEADER_BYTES = sizeof(struct perf_event_header),
	/* A window with less free space than this is not filled further. */
	ROOM_MIN = 1 << 16
};

/* The result of reading more bytes of the file. */
enum stream_fill {
	FILL_BYTES, /* some bytes were added */
	FILL_END,   /* no more bytes */
};

/* The result of a step through a part. */
enum stream_step {
	STEP_CHUNK,    /* a chunk is ready */
	STEP_ON,       /* no chunk yet: continue */
	STEP_PART_END, /* end of the part */
};

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
		memcpy(win->own, level->win->bytes + level->pos, win->len);
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

static void perf_input_stream_emit(struct perf_input *in, struct perf_level *level,
				   size_t len, uint64_t offset,
				   struct perf_chunk *ret_chunk)
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

static uint64_t cell_end(const struct perf_input *in, uint64_t offset)
{
	return offset - offset % in->windows.cell + in->windows.cell;
}

/* Makes the next cell of a window available that is already loaded. Returns false if the window
 * has no more cells. */
static bool next_cell(struct perf_input *in, struct perf_level *raw)
{
	struct perf_window *win = raw->win;
	uint64_t len;

	if (!win || win->len >= win->filled)
		return false;
	len = cell_end(in, raw->base + win->len) - raw->base;
	win->len = len < win->filled ? len : win->filled;
	return true;
}

/* Loads the next window of a file that is not in the page cache. */
static int fill_direct(struct perf_input *in, struct perf_level *raw)
{
	size_t left = level_left(raw);
	struct perf_window *win;
	int r = perf_direct_next(in, left ? raw->win->bytes + raw->pos : NULL, left,
				 &win);

	if (r)
		return r;
	perf_window_put(&in->windows, raw->win);
	raw->win = win;
	raw->base += raw->pos;
	raw->pos = 0;
	next_cell(in, raw);
	return 0;
}

/* Maps the next window of a file, which begins with the unread rest of the previous one. */
static int fill_mapped(struct perf_input *in, struct perf_level *raw)
{
	uint64_t at = in->source.at;
	uint64_t next = at - level_left(raw);
	uint64_t from = next - next % (uint64_t)sysconf(_SC_PAGESIZE);
	struct perf_window *win;
	int r = perf_source_map(in, from, &win);

	if (r)
		return r;
	perf_window_put(&in->windows, raw->win);
	raw->win = win;
	raw->base = from;
	raw->pos = (size_t)(next - from);
	win->len = (size_t)(at - from);
	next_cell(in, raw);
	return 0;
}

/* Reads the next cell of a file, or the available bytes of a pipe. Returns an enum stream_fill
 * or a negative errno. */
static int fill_read(struct perf_input *in, struct perf_level *raw, struct err *err)
{
	const struct perf_input_source *s = &in->source;
	size_t least = s->seekable ? cell_end(in, s->at) - s->at : ROOM_MIN;
	struct perf_window *win = raw->win;
	size_t room;
	ssize_t n;

	if (!win || win->room < win->len + least) {
		if (perf_level_rotate(in, raw) < 0)
			return err_sys(err, -ENOMEM, "cannot read '%s'", in->name);
		win = raw->win;
	}
	room = win->room - win->len;
	n = perf_source_read(in, win->own + win->len,
			     s->seekable && least < room ? least : room, err);
	if (n < 0)
		return (int)n;
	win->len += (size_t)n;
	return n ? FILL_BYTES : FILL_END;
}

/* Makes more bytes available. Returns an enum stream_fill or a negative errno. */
static int perf_input_stream_fill(struct perf_input *in, struct perf_level *raw,
				  struct err *err)
{
	int r;

	if (next_cell(in, raw))
		return FILL_BYTES;
	r = fill_direct(in, raw);
	if (r == -EAGAIN && perf_source_is_sparse(in))
		r = fill_mapped(in, raw);
	if (r == -ENOMEM)
		return err_sys(err, -ENOMEM, "cannot read '%s'", in->name);
	return r == -EAGAIN ? fill_read(in, raw, err) : r;
}

/* Skips a payload: the bytes in the window, then the rest by not reading it from the file.
 * Returns FILL_BYTES if it was skipped, FILL_END if the file ended in it, or a negative errno. */
static int skip_payload(struct perf_input *in, struct perf_level *raw, struct err *err)
{
	struct perf_input_source *s = &in->source;

	while (raw->skip) {
		size_t here = level_left(raw);

		if (here > raw->skip)
			here = raw->skip;
		if (here && in->keeps_tracing)
			buf_put(&in->tracing, raw->win->bytes + raw->pos, here);
		raw->pos += here;
		raw->skip -= here;
		if (raw->skip && next_cell(in, raw))
			continue;
		if (raw->skip && !in->keeps_tracing && s->seekable &&
		    s->end != UINT64_MAX) {
			uint64_t ahead = s->end - s->at;

			if (ahead > raw->skip)
				ahead = raw->skip;
			s->at += ahead;
			raw->base += ahead;
			raw->skip -= ahead;
		}
		if (raw->skip) {
			int r = perf_input_stream_fill(in, raw, err);

			if (r != FILL_BYTES)
				return r;
		}
	}
	return FILL_BYTES;
}

/* Parses the TRACING_DATA that was kept. Returns 0 or -ENOMEM. */
static int end_tracing(struct perf_input *in)
{
	struct cursor c = cursor_of(in->tracing.data, in->tracing.len, in->info.swap);
	int r = in->tracing.failed ? -ENOMEM : perf_tracing_parse(in, &c);

	in->keeps_tracing = false;
	buf_done(&in->tracing);
	in->tracing = (struct buf){ 0 };
	if (r == -EBADMSG)
		in->damage.bad_features++;
	return r == -ENOMEM ? r : 0;
}

/* Counts the rest of the part as bad and skips it, which for a pipe means reading it. Returns
 * FILL_END or a negative errno. */
static int give_up_part(struct perf_input *in, struct err *err)
{
	struct perf_input_source *s = &in->source;
	struct perf_level *raw = &in->raw;
	int r;

	perf_level_done(in, &in->plain);
	in->plain_more = false;
	do {
		while (next_cell(in, raw))
			;
		in->damage.bad_bytes += level_left(raw);
		raw->pos = raw->win->len;
		if (s->end != UINT64_MAX) {
			in->damage.bad_bytes += s->end - s->at;
			s->at = s->end;
		}
		r = perf_input_stream_fill(in, raw, err);
	} while (r == FILL_BYTES);
	return r;
}

/* After records of impossible size, searches for the next valid records. Returns FILL_BYTES;
 * FILL_END if there are none; or a negative errno. */
static int perf_input_stream_resync(struct perf_input *in, struct err *err)
{
	struct perf_level *raw = &in->raw;
	bool at_end = false;
	enum perf_found found;

	in->damage.cut_bytes += level_left(&in->plain);
	perf_level_done(in, &in->plain);
	in->plain_lost = false;
	perf_unzip_break(in->unzip);
	perf_level_step(in, raw, 1);
	while ((found = perf_records_find(in, raw, at_end)) == FOUND_NONE && !at_end) {
		int r = perf_input_stream_fill(in, raw, err);

		if (r < 0)
			return r;
		at_end = r == FILL_END;
	}
	return found == FOUND_RECORDS ? FILL_BYTES : give_up_part(in, err);
}

static void count_frame(struct perf_input_damage *damage, uint32_t type, size_t size)
{
	struct perf_input_frames *frames =
		&damage->frames[type == PERF_USER_COMPRESSED2];

	frames->records++;
	frames->bytes += size;
}

/* If the next record of the file is compressed, passes its data to the decompressor. Returns false
 * if it is not compressed. */
static bool feed_frame(struct perf_input *in)
{
	struct perf_level *raw = &in->raw;
	const uint8_t *at = raw->win->bytes + raw->pos;
	const uint8_t *bytes = NULL;
	size_t left = level_left(raw);
	size_t size, len = 0;
	struct perf_head h;

	if (left < HEADER_BYTES)
		return false;
	h = perf_head_at(at, in->info.swap);
	size = perf_record_bytes(at, left, h, in->info.swap);
	if (perf_class_of(in, h.type) != CLASS_COMPRESSED || size < HEADER_BYTES ||
	    size > left)
		return false;
	if (perf_frame_of(in, at, size, h, &bytes, &len))
		perf_unzip_feed(in->unzip, bytes, len);
	else
		in->damage.bad_bytes += size;
	count_frame(&in->damage, h.type, size);
	in->frame = raw->base + raw->pos;
	in->plain_more = true;
	raw->pos += size;
	return true;
}

/* Proceeds by one step through the file. Returns an enum stream_step or a negative errno. */
static int next_raw(struct perf_input *in, struct perf_chunk *ret_chunk,
		    struct err *err)
{
	struct perf_level *raw = &in->raw;
	enum perf_stop stop = STOP_SHORT;
	size_t len = 0;
	int r;

	if (raw->skip) {
		r = skip_payload(in, raw, err);
		if (in->keeps_tracing && end_tracing(in))
			return err_sys(err, -ENOMEM, "%s", in->name);
		if (r == FILL_END)
			in->damage.missing_bytes += raw->skip;
		if (r != FILL_BYTES)
			return r < 0 ? r : STEP_PART_END;
	}
	if (raw->win && perf_walk(in, raw, &len, &stop) < 0)
		return err_sys(err, -ENOMEM, "cannot read '%s'", in->name);
	if (len) {
		perf_input_stream_emit(in, raw, len, raw->base + raw->pos, ret_chunk);
		return STEP_CHUNK;
	}
	if (stop == STOP_COMPRESSED && feed_frame(in))
		return STEP_ON;
	if (stop == STOP_BAD && mapped_is_lost(&raw->win->mapped) &&
	    perf_source_cut(in, raw->win, raw->base, raw->pos))
		return STEP_ON;
	if (stop == STOP_HEADER)
		r = give_up_part(in, err);
	else
		r = stop == STOP_BAD ? perf_input_stream_resync(in, err)
				     : perf_input_stream_fill(in, raw, err);
	if (r < 0)
		return r;
	return r == FILL_END ? STEP_PART_END : STEP_ON;
}

static int perf_input_stream_make_room(struct perf_input *in, struct perf_level *plain)
{
	if (plain->win && plain->win->room >= plain->win->len + ROOM_MIN)
		return 0;
	return perf_level_rotate(in, plain);
}

/* Unpacks until the window is full or the file continues with another kind of record. */
static void perf_input_stream_unpack(struct perf_input *in, struct perf_level *plain)
{
	do {
		uint64_t bad = 0;

		if (perf_unzip_into(in->unzip, plain->win, &bad))
			in->damage.bad_bytes += bad;
	} while (perf_unzip_hungry(in->unzip) && plain->win->len < plain->win->room &&
		 feed_frame(in));
	if (plain->skip) {
		size_t here = level_left(plain);

		if (here > plain->skip)
			here = plain->skip;
		plain->pos += here;
		plain->skip -= here;
	}
}

/* Proceeds by one step through the contents of compressed records. Returns the same as next_raw().
 */
static int next_plain(struct perf_input *in, struct perf_chunk *ret_chunk,
		      struct err *err)
{
	struct perf_level *plain = &in->plain;
	uint64_t offset = in->frame;
	enum perf_stop stop;
	size_t len;
	int r;

	if (perf_input_stream_make_room(in, plain) < 0)
		return err_sys(err, -ENOMEM, "cannot read '%s'", in->name);
	perf_input_stream_unpack(in, plain);
	if (in->plain_lost)
		in->plain_lost = perf_records_find(in, plain, false) == FOUND_NONE;
	if (in->plain_lost) {
		in->plain_more = !perf_unzip_hungry(in->unzip);
		return STEP_ON;
	}
	if (perf_walk(in, plain, &len, &stop) < 0)
		return err_sys(err, -ENOMEM, "cannot read '%s'", in->name);
	if (len) {
		perf_input_stream_emit(in, plain, len, offset, ret_chunk);
		return STEP_CHUNK;
	}
	if (stop == STOP_HEADER) {
		in->damage.bad_bytes += level_left(plain);
		r = give_up_part(in, err);
		return r < 0 ? r : STEP_PART_END;
	}
	/* A compressed record within compressed data is damage also, because no writer compresses
	 * records twice. */
	if (stop == STOP_BAD || stop == STOP_COMPRESSED) {
		perf_level_step(in, plain, 1);
		in->plain_lost = true;
		return STEP_ON;
	}
	in->plain_more = !perf_unzip_hungry(in->unzip);
	return STEP_ON;
}

static void clear_levels(struct perf_input *in)
{
	perf_level_done(in, &in->raw);
	perf_level_done(in, &in->plain);
	in->plain_more = false;
	in->plain_lost = false;
	in->unsized_end = 0;
	perf_unzip_reset(in->unzip);
}

static int start_part(struct perf_input *in, size_t index, struct err *err)
{
	clear_levels(in);
	in->raw.base = in->parts.at[index].offset;
	return perf_part_open(in, index, err);
}

/* At the end of a part, counts the bytes of an incomplete record or frame as cut off. */
static int perf_input_stream_end_part(struct perf_input *in, struct err *err)
{
	in->damage.cut_bytes += level_left(&in->raw) + level_left(&in->plain) +
				perf_unzip_unfinished(in->unzip);
	if (in->part + 1 < in->parts.nr) {
		in->done_bytes += in->source.at - in->parts.at[in->part].offset;
		return start_part(in, in->part + 1, err);
	}
	clear_levels(in);
	in->at_end = true;
	return 0;
}

static void note_progress(struct perf_input *in)
{
	uint64_t here = in->source.at - in->parts.at[in->part].offset;

	__atomic_store_n(&in->taken, in->done_bytes + here, __ATOMIC_RELAXED);
}

int perf_stream_start(struct perf_input *in, struct err *err)
{
	in->damage = (struct perf_input_damage){
		.bad_features = in->damage.bad_features,
		.missing_files = in->damage.missing_files,
		.bad_bytes = in->appended_bytes + in->packed_bad,
	};
	/* Reset the limits of sample sizes, so that a search before the first sample gives the
	 * same result as in the first pass. */
	in->classes[PERF_RECORD_SAMPLE] = CLASS_FIRST_SAMPLE;
	in->limits[PERF_RECORD_SAMPLE] = 0;
	in->least_sample = 0;
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

		note_progress(in);
		if (r < 0 || r == STEP_CHUNK)
			return r;
		if (r == STEP_PART_END) {
			r = perf_input_stream_end_part(in, err);
			if (r < 0)
				return r;
		}
	}
	return 1;
}
