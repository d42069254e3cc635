/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/foreign.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aggregate/selection/sample.h"
#include "aggregate/selection/selection.h"
#include "aggregate/selection/session_span.h"
#include "base/buf.h"
#include "base/containers/hash.h"
#include "base/containers/map.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/mapped.h"
#include "base/log.h"
#include "format/foreign/foreign.h"
#include "format/session/session.h"
#include "import/code_images.h"
#include "import/file.h"
#include "import/foreign_file.h"
#include "import/name_images.h"

enum {
	/* Maximum number of samples to store for an event. If it has more, each stored sample
	 * represents several. */
	SAMPLES_MAX = 20000000,
	FLUSH_SAMPLES = 64 * 1024,
	/* If a line of the profile has more samples than this, `oprofile script` prints them as
	 * one, with the sum of their periods. */
	LINE_SAMPLES_MAX = 1000,
	HASH_BYTES = 16 << 20,
	TIME_STEP_NS = 100 /* resolution of times in a segment: docs/format.md, 6 */
};

/* An event, as found by the first pass. */
struct counted {
	uint32_t event; /* number in the dict */
	uint64_t count;
	uint64_t periods; /* sum of the periods */
	uint64_t divisor; /* greatest common divisor of the counts of all samples */
	uint64_t unit;    /* number of original samples per stored sample */
	bool value_only;  /* some sample of the event has value_only set */
};

struct import_foreign_import {
	const struct import_request *request;
	struct foreign_file file;
	struct foreign_info info;
	struct dict dict;
	struct name_images images;
	struct code_images code;
	struct selection selection;
	struct segment_writer *writer;
	struct session_totals totals;
	VEC(struct counted) events;
	struct counted *last; /* the last event seen, NULL: none */
	struct map stack_by;  /* (id in the file, truncated) -> stack of the dict */
	uint64_t first_ns, last_ns;
	uint64_t skipped;
	uint64_t numbered_ns; /* the number that the next sample without a time gets */
	uint32_t app;
	struct buf text, other, build_id;
	struct err *err;
};

/* ---- a sample ---- */

static const char *import_foreign_text_of(struct buf *b, struct foreign_word w,
					  const char *otherwise)
{
	buf_clear(b);
	if (!w.len)
		return otherwise;
	buf_put(b, w.at, w.len);
	buf_put_u8(b, 0);
	return b->failed ? "" : (const char *)b->data;
}

static struct counted *import_foreign_find_event(struct import_foreign_import *m,
						 struct foreign_word name)
{
	uint32_t text = dict_string(&m->dict,
				    import_foreign_text_of(&m->text, name, "samples"));
	const struct event_desc e = { .name = text,
				      .about = dict_string(&m->dict, ""),
				      .type = PERF_TYPE_SOFTWARE,
				      .config = PERF_COUNT_SW_DUMMY,
				      .config1 = m->events.nr,
				      .flags = EVENT_USER | EVENT_KERNEL |
					       EVENT_CHAINS };
	struct counted made = { .unit = 1 };

	for (size_t i = 0; i < m->events.nr; i++) {
		m->last = &m->events.at[i];
		if (m->dict.events.at[m->last->event].name == text)
			return m->last;
	}
	made.event = dict_event(&m->dict, &e);
	if (m->events.nr == FOREIGN_EVENTS_MAX) {
		err_set(m->err, -E2BIG, "more than %d events", FOREIGN_EVENTS_MAX);
		return NULL;
	}
	if (text == DICT_NONE || made.event == DICT_NONE || !vec_push(&m->events, made))
		return NULL;
	m->last = &m->events.at[m->events.nr - 1];
	return m->last;
}

/* Returns the event of a sample, which is usually that of the previous sample. */
static struct counted *import_foreign_event_of(struct import_foreign_import *m,
					       struct foreign_word name)
{
	const char *last =
		m->last ? dict_str(&m->dict, m->dict.events.at[m->last->event].name)
			: NULL;

	if (last && name.len && strlen(last) == name.len &&
	    !memcmp(last, name.at, name.len))
		return m->last;
	return import_foreign_find_event(m, name);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Counts the samples of each event, and determines their time range. */
static int note_sample(void *ctx, const struct foreign_sample *s)
{
	struct import_foreign_import *m = ctx;
	struct counted *e = import_foreign_event_of(m, s->event);

	if (!e)
		return m->err->code ? m->err->code : -ENOMEM;
	if (__builtin_add_overflow(e->count, s->count, &e->count) ||
	    __builtin_add_overflow(e->periods, s->period ? s->period : s->count,
				   &e->periods))
		return err_set(m->err, -EOVERFLOW,
			       "the values of '%s' add up to more than %" PRIu64,
			       dict_str(&m->dict, m->dict.events.at[e->event].name),
			       UINT64_MAX);
	e->divisor = common_divisor(s->count, e->divisor);
	e->value_only |= s->value_only;
	if (s->time_ns && (!m->first_ns || s->time_ns < m->first_ns))
		m->first_ns = s->time_ns;
	if (s->time_ns > m->last_ns)
		m->last_ns = s->time_ns;
	return 0;
}

/* Returns the frame of the dict, or DICT_NONE if memory is short. */
static uint32_t import_foreign_frame(struct import_foreign_import *m,
				     const struct foreign_frame *f, bool is_caller)
{
	const struct code_images_position at = {
		.image = import_foreign_text_of(&m->other, f->image, "[unknown]"),
		.build_id = import_foreign_text_of(&m->build_id, f->build_id, ""),
		.is_address = f->kind == FOREIGN_ADDRESS,
		.is_call = is_caller,
		.value = f->offset
	};
	uint32_t frame = DICT_NONE;

	if (f->kind != FOREIGN_NAMED && code_images_frame(&m->code, &at, &frame))
		return DICT_NONE;
	return frame != DICT_NONE ? frame
				  : name_images_frame(&m->images, at.image,
						      import_foreign_text_of(
							      &m->text, f->name, ""));
}

static uint32_t stack_of(struct import_foreign_import *m,
			 const struct foreign_sample *s)
{
	uint32_t stack = s->truncated ? STACK_TRUNCATED : STACK_ROOT;
	size_t nr = s->nr_frames;

	/* A sample without frames still counts, so give it an unknown frame. */
	if (!nr)
		return dict_stack(&m->dict, stack,
				  name_images_frame(&m->images, "[unknown]", ""));
	for (size_t i = nr; i-- > 0 && stack != DICT_NONE;) {
		uint32_t frame = import_foreign_frame(m, &s->frames[i], i > 0);

		stack = frame == DICT_NONE ? DICT_NONE
					   : dict_stack(&m->dict, stack, frame);
	}
	return m->text.failed || m->other.failed || m->build_id.failed ? DICT_NONE
								       : stack;
}

/* Returns the stack of a sample in the dict, or DICT_NONE if memory is short. If the format
 * numbers its stacks, looks up the frames of each stack only once. */
static uint32_t import_foreign_stack(struct import_foreign_import *m,
				     const struct foreign_sample *s)
{
	uint32_t stack = MAP_NONE;

	if (s->stack_id)
		stack = map_get(&m->stack_by, s->stack_id, s->truncated);
	if (stack != MAP_NONE)
		return stack;
	stack = stack_of(m, s);
	if (s->stack_id && stack != DICT_NONE &&
	    map_set(&m->stack_by, s->stack_id, s->truncated, stack))
		return DICT_NONE;
	return stack;
}

static uint32_t thread_of(struct import_foreign_import *m,
			  const struct foreign_sample *s)
{
	const struct thread t = {
		.pid = (int32_t)s->pid,
		.tid = (int32_t)s->tid,
		.ns_pid = (int32_t)s->pid,
		.ns_tid = (int32_t)s->tid,
		.comm = dict_string(&m->dict,
				    import_foreign_text_of(&m->text, s->comm, "")),
		.app = m->app,
		.cgroup = dict_string(&m->dict, ""),
	};

	return t.comm == DICT_NONE ? DICT_NONE : dict_thread(&m->dict, &t);
}

/* Writes the sample `nr` times, and divides the period among these copies. If the profile has no
 * times, stores a consecutive number in place of each time. More than LINE_SAMPLES_MAX copies
 * all get the same number, by which script/session.c recognises them as one line of the profile. */
static int put_times(struct import_foreign_import *m, struct sample *sample,
		     uint64_t nr, uint64_t period)
{
	uint64_t step_ns = m->first_ns || nr > LINE_SAMPLES_MAX ? 0 : TIME_STEP_NS;
	int r = 0;

	for (uint64_t i = 0; !r && i < nr; i++) {
		sample->period = period / nr + (i < period % nr);
		r = segment_writer_add(m->writer, sample);
		m->totals.samples++;
		sample->time_ns += step_ns;
		if (!r && segment_writer_pending(m->writer) >= FLUSH_SAMPLES)
			r = segment_writer_flush(m->writer, &m->totals, m->err);
	}
	return r;
}

static int import_foreign_add_sample(void *ctx, const struct foreign_sample *s)
{
	struct import_foreign_import *m = ctx;
	const struct counted *e = import_foreign_event_of(m, s->event);
	struct sample sample = { 0 };
	uint64_t nr;
	int r;

	if (!e)
		return -ENOMEM;
	sample = (struct sample){
		.time_ns = m->first_ns ? s->time_ns : m->numbered_ns,
		.thread = thread_of(m, s),
		.event = e->event,
		.stack = import_foreign_stack(m, s),
		.cpu = s->cpu < 0 ? DICT_NONE : (uint32_t)s->cpu,
	};
	if (sample.thread == DICT_NONE || sample.stack == DICT_NONE)
		return -ENOMEM;
	nr = s->count / e->unit + (s->count % e->unit * 2 >= e->unit);
	nr = nr ? nr : 1;
	r = selection_wants_one(&m->selection, &sample);
	if (r <= 0) {
		m->skipped += r ? 0 : nr;
		return r;
	}
	r = put_times(m, &sample, nr, s->period ? s->period : s->count);
	m->numbered_ns = sample.time_ns + (nr > LINE_SAMPLES_MAX ? TIME_STEP_NS : 0);
	return r;
}

/* ---- the whole file ---- */

static int import_foreign_open_writer(struct import_foreign_import *m, struct err *err)
{
	struct session_info info = { .tool_version = OPROFILE_VERSION,
				     .hostname = "",
				     .os_release = "",
				     .machine = "",
				     .cpu_desc = "",
				     .boot_id = "",
				     .command = "",
				     .vmlinux = "",
				     .flags = SESSION_64BIT,
				     .clock_id = CLOCK_MONOTONIC,
				     .start_wall_ns = m->info.start_wall_ns };

	for (size_t i = 0; i < m->events.nr; i++)
		if (m->dict.events.at[m->events.at[i].event].flags & EVENT_VALUES)
			info.flags |= SESSION_VALUES;
	if (!m->first_ns)
		info.flags |= SESSION_NUMBERED;
	info.start_ns = m->first_ns - m->first_ns % TIME_STEP_NS;
	return segment_writer_open(m->request->segment, &info, &m->dict, &m->writer,
				   err);
}

/* Returns the sampling period of an event; 0: unknown. */
static uint64_t period_of(const struct import_foreign_import *m,
			  const struct counted *e)
{
	const char *name = dict_str(&m->dict, m->dict.events.at[e->event].name);
	const struct foreign_word *w = &m->info.period_event;

	return w->len == strlen(name) && !memcmp(w->at, name, w->len) ? m->info.period
								      : 0;
}

/* Chooses how many counts a stored sample represents: 1, or more for events with too many
 * counts, such as bytes or nanoseconds. For such an event, if all counts are multiples of a
 * larger number, such as the period in the output of stackcollapse-perf.pl, uses that number.
 * Otherwise marks the event, so that reports use the exact sums, which are in the periods. */
static void choose_units(struct import_foreign_import *m)
{
	for (size_t i = 0; i < m->events.nr; i++) {
		struct counted *e = &m->events.at[i];

		e->unit = e->count / SAMPLES_MAX + 1;
		if (e->unit > 1 && e->divisor > e->unit)
			e->unit = e->divisor;
		m->dict.events.at[e->event].count =
			e->unit > 1 ? e->unit : period_of(m, e);
		if (e->value_only || (e->unit > 1 && e->divisor % e->unit))
			m->dict.events.at[e->event].flags |= EVENT_VALUES;
		if (e->unit > 1)
			log_say(LOG_WARNING,
				"'%s': too many %s to store one sample for each (%" PRIu64
				"): a sample represents %" PRIu64
				" of them, and its period is the exact number",
				foreign_file_name(m->request->path),
				dict_str(&m->dict, m->dict.events.at[e->event].name),
				e->count, e->unit);
	}
}

static int import_foreign_find_app(struct import_foreign_import *m)
{
	m->app = DICT_NONE;
	if (!m->info.main_image.len)
		return 0;
	m->app = name_images_image(
		&m->images, import_foreign_text_of(&m->text, m->info.main_image, ""));
	return m->app == DICT_NONE ? -ENOMEM : 0;
}

static int import_foreign_set_times(struct import_foreign_import *m, struct err *err)
{
	const struct session_span span = { .start_ns = m->first_ns,
					   .first_ns = m->first_ns,
					   .last_ns = m->last_ns };

	if (selection_set_times(&m->selection, &span))
		return err_set(err, -ENOMEM, "out of memory");
	return m->selection.times_known
		       ? 0
		       : err_set(err, -ENODATA,
				 "time: the samples of this file have no times");
}

static void import_foreign_passed(void *ctx, const char *at)
{
	foreign_file_drop(ctx, at);
}

static int read_samples(struct import_foreign_import *m, foreign_fn fn, struct err *err)
{
	struct foreign_file *f = &m->file;
	int r;

	f->dropped = 0;
	m->info.passed = import_foreign_passed;
	m->info.passed_ctx = f;
	r = f->format->read(f->data, f->len, fn, m, &m->info, err);
	if (!r && mapped_is_lost(&f->map))
		r = err_set(err, -EIO,
			    "cannot read the file: it was truncated meanwhile");
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

static int import_foreign_convert(struct import_foreign_import *m, struct err *err)
{
	int r = read_samples(m, note_sample, err);

	if (r)
		return r;
	if (!m->events.nr)
		return err_set(err, -ENODATA, "the profile contains no samples");
	choose_units(m);
	selection_init(&m->selection, m->request->spec, &m->dict, "");
	r = import_foreign_set_times(m, err);
	if (!r && import_foreign_find_app(m))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = import_foreign_open_writer(m, err);
	if (!r)
		r = read_samples(m, import_foreign_add_sample, err);
	return r ? r : name_images_save(&m->images, m->request->jit_dir, err);
}

static int import_foreign_close_writer(struct import_foreign_import *m, int r,
				       struct err *err)
{
	int closed;

	if (!m->writer)
		return r;
	m->totals.finished = !r;
	m->totals.target_status = -1;
	m->totals.lost = m->info.lost;
	m->totals.end_ns = m->first_ns ? m->last_ns : m->numbered_ns;
	closed = segment_writer_close(m->writer, &m->totals, r ? NULL : err);
	if (r || closed)
		(void)io_unlink(m->request->segment);
	return r ? r : closed;
}

static int import_it(struct import_foreign_import *m, struct err *err)
{
	struct foreign_file *f = &m->file;
	uint64_t seed = 0;
	int r = dict_init(&m->dict);

	for (size_t pos = 0; pos < f->len; pos += HASH_BYTES) {
		size_t left = f->len - pos;

		seed = hash_bytes(f->data + pos, left < HASH_BYTES ? left : HASH_BYTES,
				  seed);
		foreign_file_drop(f, f->data + pos);
	}
	if (!r)
		r = name_images_init(&m->images, &m->dict, seed);
	r = r ? err_set(err, r, "out of memory") : import_foreign_convert(m, err);
	return import_foreign_close_writer(m, r, err);
}

/* Appends a reason, if it applies. */
static void import_foreign_put_reason(struct buf *reasons, bool applies,
				      const char *text)
{
	if (!applies)
		return;
	if (reasons->len)
		buf_put(reasons, "; ", 2);
	buf_put(reasons, text, strlen(text));
}

static void import_foreign_report_loss(const struct import_foreign_import *m)
{
	bool pprof = m->file.format->read == foreign_read_pprof;
	struct buf reason = { 0 };
	char text[128];

	snprintf(text, sizeof(text),
		 "%" PRIu64 " %s were not recognised and are left out", m->info.skipped,
		 pprof ? "parts" : "lines");
	import_foreign_put_reason(&reason, m->info.skipped, text);
	snprintf(text, sizeof(text),
		 "%" PRIu64
		 " of its sums, ids or references contradict the rest of the file",
		 m->info.contradictions);
	import_foreign_put_reason(&reason, m->info.contradictions, text);
	import_foreign_put_reason(&reason, m->info.cut,
				  "it ends within a sample: its end is missing");
	buf_put_u8(&reason, 0);
	if (reason.failed || reason.len > 1)
		fault_incomplete(foreign_file_name(m->request->path),
				 reason.failed ? "" : (const char *)reason.data);
	buf_done(&reason);
}

int import_foreign(const struct import_request *request,
		   struct import_result *ret_result, struct err *err)
{
	struct import_foreign_import m = { .request = request,
					   .code = { .dict = &m.dict },
					   .err = err };
	int r = foreign_file_open(request->path, request->trust, &m.file, err);

	if (!r) {
		r = import_it(&m, err);
		if (r)
			err_prefix(err, "%s", foreign_file_name(request->path));
	}
	if (!r) {
		import_foreign_report_loss(&m);
		*ret_result = (struct import_result){
			.samples = m.totals.samples,
			.skipped = m.skipped,
			.lost = m.info.lost,
			.malformed = m.info.skipped + m.info.contradictions + m.info.cut
		};
	}
	foreign_file_close(&m.file);
	selection_done(&m.selection);
	name_images_done(&m.images);
	code_images_done(&m.code);
	dict_done(&m.dict);
	vec_done(&m.events);
	map_done(&m.stack_by);
	buf_done(&m.text);
	buf_done(&m.other);
	buf_done(&m.build_id);
	return r;
}
