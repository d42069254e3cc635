/* SPDX-License-Identifier: GPL-2.0-or-later */
/* simpleperf.c - reports of Android's `simpleperf report-sample --protobuf` (system/extras,
 * simpleperf/cmd_report_sample.proto). After "SIMPLEPERF" and a version (2 bytes), each message
 * Record follows its size (4 bytes); a size of 0 is the end. Files, threads and events follow the
 * samples that refer to them, so the first pass reads them. */
#include <errno.h>
#include <string.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "base/cursor.h"
#include "base/err.h"
#include "format/foreign/foreign.h"
#include "format/foreign/protobuf.h"

enum {
	MAGIC_BYTES = 10,
	VERSION = 1
};

/* Fields of a Record. */
enum {
	RECORD_SAMPLE = 1,
	RECORD_LOST = 2,
	RECORD_FILE = 3,
	RECORD_THREAD = 4,
	RECORD_META = 5
};

/* The number of a function whose name is unknown: -1. */
static const uint64_t SYMBOL_UNKNOWN = UINT64_MAX;

struct simpleperf_file {
	struct foreign_word path;
	size_t first_symbol, nr_symbols;
};

struct simpleperf_thread {
	struct foreign_word name;
	uint64_t pid;
};

struct simpleperf {
	struct map file_by; /* (id, 0): index of `files` */
	struct map thread_by;
	VEC(struct simpleperf_file) files;
	VEC(struct foreign_word) symbols;
	VEC(struct simpleperf_thread) threads;
	VEC(struct foreign_word) events;
	VEC(struct foreign_frame) frames; /* frames of the current sample */
	/* Number of samples according to the file; 0: unknown. */
	uint64_t nr_samples;
	uint64_t nr_read;
	bool no_memory;
	foreign_fn fn;
	void *ctx;
	struct foreign_info *info;
};

static struct foreign_word simpleperf_text(const struct protobuf_field *f)
{
	return (struct foreign_word){ (const char *)f->bytes.data, f->bytes.len };
}

/* ---- the tables ---- */

static void simpleperf_take_file(struct simpleperf *s, struct cursor c)
{
	struct simpleperf_file file = { .first_symbol = s->symbols.nr };
	struct protobuf_field f;
	uint64_t id = 0;

	while (protobuf_next_field(&c, &f)) {
		if (f.number == 1)
			id = f.value;
		else if (f.number == 2)
			file.path = simpleperf_text(&f);
		else if (f.number == 3 && !vec_push(&s->symbols, simpleperf_text(&f)))
			s->no_memory = true;
	}
	file.nr_symbols = s->symbols.nr - file.first_symbol;
	if (map_get(&s->file_by, id, 0) != MAP_NONE) {
		s->info->contradictions++;
		return;
	}
	if (!vec_push(&s->files, file) ||
	    map_set(&s->file_by, id, 0, (uint32_t)s->files.nr - 1))
		s->no_memory = true;
}

static void simpleperf_take_thread(struct simpleperf *s, struct cursor c)
{
	struct simpleperf_thread thread = { 0 };
	struct protobuf_field f;
	uint64_t id = 0;

	while (protobuf_next_field(&c, &f)) {
		if (f.number == 1)
			id = f.value;
		else if (f.number == 2)
			thread.pid = f.value;
		else if (f.number == 3)
			thread.name = simpleperf_text(&f);
	}
	if (map_get(&s->thread_by, id, 0) != MAP_NONE) {
		s->info->contradictions++;
		return;
	}
	if (!vec_push(&s->threads, thread) ||
	    map_set(&s->thread_by, id, 0, (uint32_t)s->threads.nr - 1))
		s->no_memory = true;
}

static void simpleperf_take_meta(struct simpleperf *s, struct cursor c)
{
	struct protobuf_field f;

	while (protobuf_next_field(&c, &f))
		if (f.number == 1 && !vec_push(&s->events, simpleperf_text(&f)))
			s->no_memory = true;
}

static void simpleperf_take_lost(struct simpleperf *s, struct cursor c)
{
	struct protobuf_field f;

	while (protobuf_next_field(&c, &f))
		if (f.number == 1)
			s->nr_samples = f.value;
		else if (f.number == 2 && f.value <= INT64_MAX)
			s->info->lost = f.value;
		else if (f.number == 2)
			s->info->contradictions++;
}

static int simpleperf_take_table(struct simpleperf *s, const struct protobuf_field *f)
{
	if (f->number == RECORD_FILE)
		simpleperf_take_file(s, f->bytes);
	else if (f->number == RECORD_THREAD)
		simpleperf_take_thread(s, f->bytes);
	else if (f->number == RECORD_META)
		simpleperf_take_meta(s, f->bytes);
	else if (f->number == RECORD_LOST)
		simpleperf_take_lost(s, f->bytes);
	return s->no_memory ? -ENOMEM : 0;
}

/* ---- samples ---- */

static void simpleperf_take_frame(struct simpleperf *s, struct cursor c)
{
	struct foreign_frame frame = { .name = { "", 0 } };
	const struct simpleperf_file *file = NULL;
	uint64_t symbol = SYMBOL_UNKNOWN;
	struct protobuf_field f;
	uint32_t at = map_get(&s->file_by, 0, 0);

	while (protobuf_next_field(&c, &f)) {
		if (f.number == 2)
			at = map_get(&s->file_by, f.value, 0);
		else if (f.number == 3)
			symbol = f.value;
	}
	s->info->contradictions +=
		at == MAP_NONE ||
		(symbol != SYMBOL_UNKNOWN && symbol >= s->files.at[at].nr_symbols);
	if (at != MAP_NONE)
		file = &s->files.at[at];
	if (file)
		frame.image = file->path;
	if (file && symbol < file->nr_symbols)
		frame.name = s->symbols.at[file->first_symbol + symbol];
	s->info->skipped += c.failed;
	if (s->frames.nr < FOREIGN_FRAMES_MAX && !vec_push(&s->frames, frame))
		s->no_memory = true;
}

static void simpleperf_set_thread(const struct simpleperf *s, uint64_t tid,
				  struct foreign_sample *sample)
{
	const uint32_t at = map_get(&s->thread_by, tid, 0);

	if (tid <= INT32_MAX)
		sample->tid = (int64_t)tid;
	if (at == MAP_NONE)
		return;
	sample->comm = s->threads.at[at].name;
	if (s->threads.at[at].pid <= INT32_MAX)
		sample->pid = (int64_t)s->threads.at[at].pid;
}

static int simpleperf_take_sample(struct simpleperf *s, struct cursor c)
{
	struct foreign_sample sample = { .pid = -1, .tid = -1, .cpu = -1, .count = 1 };
	uint64_t event = 0, tid = 0;
	struct protobuf_field f;

	s->frames.nr = 0;
	while (protobuf_next_field(&c, &f) && !s->no_memory) {
		if (f.number == 1)
			sample.time_ns = f.value;
		else if (f.number == 2)
			tid = f.value;
		else if (f.number == 3 && f.type == PROTOBUF_BYTES)
			simpleperf_take_frame(s, f.bytes);
		else if (f.number == 4)
			sample.period = f.value;
		else if (f.number == 5)
			event = f.value;
	}
	if (s->no_memory)
		return -ENOMEM;
	if (c.failed || sample.period > INT64_MAX) {
		s->info->skipped++;
		return 0;
	}
	if (event < s->events.nr)
		sample.event = s->events.at[event];
	else /* Old versions do not write a list of events. */
		s->info->contradictions += event || s->events.nr;
	simpleperf_set_thread(s, tid, &sample);
	sample.frames = s->frames.at;
	sample.nr_frames = s->frames.nr;
	sample.truncated = s->frames.nr == FOREIGN_FRAMES_MAX;
	s->nr_read++;
	return s->fn(s->ctx, &sample);
}

static int simpleperf_take_data(struct simpleperf *s, const struct protobuf_field *f)
{
	return f->number == RECORD_SAMPLE ? simpleperf_take_sample(s, f->bytes) : 0;
}

/* ---- the file ---- */

typedef int (*simpleperf_fn)(struct simpleperf *s, const struct protobuf_field *f);

/* Calls `fn` for each record. Sets *ret_cut if the end of the file is missing. Returns 0 or the
 * error of `fn`. */
static int simpleperf_each(struct simpleperf *s, struct cursor c, simpleperf_fn fn,
			   bool *ret_cut)
{
	for (;;) {
		const uint32_t size = cursor_u32(&c);
		const uint8_t *bytes = cursor_take(&c, size);
		struct cursor record = cursor_le(bytes, bytes ? size : 0);
		struct protobuf_field f;
		int r = 0;

		foreign_info_passed(s->info, bytes);
		*ret_cut = c.failed;
		if (c.failed || !size)
			return 0;
		while (!r && protobuf_next_field(&record, &f))
			if (f.type == PROTOBUF_BYTES)
				r = fn(s, &f);
		s->info->skipped += record.failed;
		if (r)
			return r;
	}
}

static int simpleperf_read(struct simpleperf *s, struct cursor c, struct err *err)
{
	const void *magic = cursor_take(&c, MAGIC_BYTES);
	const uint16_t version = cursor_u16(&c);
	bool cut;
	int r;

	if (!magic || version != VERSION)
		return err_set(err, -EBADMSG,
			       "unsupported format version %u (supported: %d)", version,
			       VERSION);
	r = simpleperf_each(s, c, simpleperf_take_table, &cut);
	/* Do not count damaged records twice: the second pass finds them again. */
	s->info->skipped = 0;
	if (!r)
		r = simpleperf_each(s, c, simpleperf_take_data, &cut);
	s->info->cut = cut || s->nr_read < s->nr_samples;
	s->info->contradictions += s->nr_samples && s->nr_read > s->nr_samples;
	return r;
}

int foreign_read_simpleperf(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			    struct foreign_info *ret_info, struct err *err)
{
	struct simpleperf s = { .fn = fn, .ctx = ctx, .info = ret_info };
	int r;

	foreign_info_begin(ret_info);
	r = simpleperf_read(&s, cursor_le(bytes, len), err);
	map_done(&s.file_by);
	map_done(&s.thread_by);
	vec_done(&s.files);
	vec_done(&s.symbols);
	vec_done(&s.threads);
	vec_done(&s.events);
	vec_done(&s.frames);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}
