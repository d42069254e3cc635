/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "aggregate/selection/sample.h"
#include "aggregate/selection/selection.h"
#include "aggregate/selection/session_span.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/log.h"
#include "format/session/session.h"
#include "import/jit.h"
#include "resolve/replay/replay.h"
#include "resolve/symbolize/naming.h"
#include "resolve/symbolize/unwind.h"
#include "resolve/unwind/unwind.h"

enum {
	FLUSH_SAMPLES = 64 * 1024,
	TIME_UNIT_NS = 100 /* resolution of times in a segment: docs/format.md, 6 */
};

struct import_file_import {
	const char *segment;
	const struct spec *spec;
	struct perf_input *input;
	struct replay *replay;
	struct naming *naming; /* NULL: no unwinding */
	struct naming_unwind *unwind;
	struct selection selection;
	struct session_info info; /* its strings belong to the replay */
	struct segment_writer *writer;
	struct session_totals totals;
	/* Unit of the numbers that replace missing sample times. */
	uint64_t time_factor;
	struct import_result result;
	bool flushed; /* data has been written to the segment */
	/* The number of changed names in the dict when it was written. */
	uint64_t changed;
	const char *jit_dir; /* destination of JIT compilers' files, NULL: none */
	struct import_jit jit;
};

bool import_is_incomplete(const struct import_result *result)
{
	const struct perf_input_damage *d = &result->damage;

	return d->cut_bytes || d->missing_bytes || d->bad_bytes || d->bad_features ||
	       d->missing_files || result->interrupted || result->malformed;
}

void import_say_incomplete(const char *name, const struct import_result *result)
{
	const struct perf_input_damage *d = &result->damage;

	log_say(LOG_WARNING,
		"%s is incomplete: %s%s%" PRIu64 " bytes missing, %" PRIu64
		" of a record cut off, %" PRIu64 " damaged, %" PRIu64
		" header features unreadable, %" PRIu64 " records malformed; %" PRIu64
		" samples read",
		name, result->interrupted ? "the recording was interrupted; " : "",
		perf_input_files_text(d).text, d->missing_bytes, d->cut_bytes,
		d->bad_bytes, d->bad_features, result->malformed,
		result->samples + result->skipped);
}

/* Returns the factor for sample times. Samples without a time get their number in the file as the
 * time, multiplied so that rounding keeps them distinct. */
static uint64_t time_factor(const struct perf_input_info *info)
{
	for (size_t i = 0; i < info->events.nr; i++)
		if (info->events.at[i].attr.sample_type & PERF_SAMPLE_TIME)
			return 1;
	return TIME_UNIT_NS;
}

/* Returns the start time from the header or, if the header has none, the earliest time in the
 * first batch of samples, rounded down to TIME_UNIT_NS. */
static uint64_t import_file_start_of(const struct import_file_import *m,
				     const struct sample_batch *first)
{
	uint64_t start_ns = replay_info(m->replay)->start_ns;

	for (size_t i = 0; !replay_info(m->replay)->start_ns && i < first->nr; i++)
		if (!i || first->time_ns[i] < start_ns)
			start_ns = first->time_ns[i];
	return start_ns - start_ns % TIME_UNIT_NS;
}

static int import_file_open_writer(struct import_file_import *m, struct err *err)
{
	uint64_t start_ns = m->info.start_ns;

	m->info = *replay_info(m->replay);
	m->info.flags |= SESSION_IMPORTED;
	/* The file contains the wall-clock time of some other moment; convert it to that of the
	 * start. */
	if (m->info.start_wall_ns)
		m->info.start_wall_ns += start_ns - perf_input_info(m->input)->clock_ns;
	m->info.start_ns = start_ns;
	return segment_writer_open(m->segment, &m->info, replay_dict(m->replay),
				   &m->writer, err);
}

static void import_file_update_totals(struct import_file_import *m)
{
	const struct feed_counts *c = replay_counts(m->replay);
	struct session_totals *t = &m->totals;

	t->lost = c->lost;
	t->lost_records = c->lost_records;
	t->throttled = c->by_type[PERF_RECORD_THROTTLE];
	t->undecodable = replay_undecodable(m->replay);
	t->end_ns = c->last_ns;
	t->target_status = -1;
	for (size_t i = 0; i < UNWIND_ENDS; i++)
		t->stack_ends[i] = replay_unwind_ends(m->replay)[i];
}

static int import_file_add_sample(struct import_file_import *m,
				  const struct sample_batch *b, size_t i)
{
	struct sample sample = sample_batch_at(b, i);
	int wanted = selection_wants_sample(&m->selection, b, i);

	if (wanted < 0)
		return wanted;
	if (!wanted) {
		m->result.skipped++;
		return 0;
	}
	sample.time_ns *= m->time_factor;
	m->totals.samples++;
	return segment_writer_add(m->writer, &sample);
}

static int import_file_add_batch(struct import_file_import *m,
				 const struct sample_batch *b, struct err *err)
{
	for (size_t i = 0; i < b->nr; i++)
		if (import_file_add_sample(m, b, i))
			return err_set(err, -ENOMEM, "out of memory");
	if (segment_writer_pending(m->writer) < FLUSH_SAMPLES)
		return 0;
	if (!m->flushed)
		m->changed = replay_changed(m->replay);
	m->flushed = true;
	/* Do not update the totals here: the counts of the reading thread may only be read after
	 * it has ended. */
	return segment_writer_flush(m->writer, &m->totals, err);
}

/* Creates the segment; called with the first samples, when the start time is known. */
static int import_file_begin(struct import_file_import *m,
			     const struct sample_batch *first, struct err *err)
{
	const struct perf_input_info *info = perf_input_info(m->input);
	struct session_span span = { .first_ns = info->first_ns,
				     .last_ns = info->last_ns,
				     .wall_ns = info->clock_wall_ns,
				     .wall_at_ns = info->clock_ns };

	m->info.start_ns = import_file_start_of(m, first);
	span.start_ns = m->info.start_ns;
	if (selection_set_times(&m->selection, &span))
		return err_set(err, -ENOMEM, "out of memory");
	if (!m->selection.times_known)
		return err_set(
			err, -ENODATA,
			"time: percentages need known start and end times of the samples: give seconds, such as time:1.5s-3s");
	return import_file_open_writer(m, err);
}

static int import_file_copy_samples(struct import_file_import *m, struct err *err)
{
	for (;;) {
		struct sample_batch batch;
		int r = replay_next(m->replay, &batch, err);

		if (r)
			return r < 0 ? r : 0;
		if (!m->writer)
			r = import_file_begin(m, &batch, err);
		if (!r)
			r = import_file_add_batch(m, &batch, err);
		if (r)
			return r;
	}
}

static int copy_batch(struct import_file_import *m, const struct sample_batch *b)
{
	for (size_t i = 0; i < b->nr; i++) {
		const struct sample sample = sample_batch_at(b, i);

		if (segment_writer_add(m->writer, &sample))
			return -ENOMEM;
	}
	return 0;
}

/* Writes the segment again with the current contents of the dict and the info. */
static int copy_segment(struct import_file_import *m, const char *from, struct err *err)
{
	struct segment *s;
	int r = segment_open(from, TRUST_OWN, &s, err);

	if (r)
		return r;
	while (!r) {
		struct sample_batch b;

		r = segment_next(s, COLUMN_ALL, &b, err);
		if (!r && copy_batch(m, &b))
			r = err_set(err, -ENOMEM, "out of memory");
		if (!r)
			r = segment_writer_flush(m->writer, &m->totals, err);
	}
	segment_close(s);
	return r < 0 ? r : 0;
}

/* Writes the segment again, with the same numbers, if the dict has changed after parts of it
 * were written: a pipe contains the build-ids after its samples, and a thread's name can follow
 * its first sample. */
static int add_late(struct import_file_import *m, struct err *err)
{
	bool named = m->flushed && replay_changed(m->replay) > m->changed;
	char *first;
	int r;

	if (!perf_input_info(m->input)->is_pipe && !named)
		return 0;
	replay_late_build_ids(m->replay);
	if (asprintf(&first, "%s.first", m->segment) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	r = segment_writer_close(m->writer, &m->totals, err);
	m->writer = NULL;
	if (!r && (r = io_rename(m->segment, first)))
		err_sys(err, r, "cannot rename '%s'", m->segment);
	if (!r)
		r = import_file_open_writer(m, err);
	if (!r)
		r = copy_segment(m, first, err);
	(void)io_unlink(first);
	free(first);
	return r;
}

static void note_result(struct import_file_import *m)
{
	const struct perf_input_info *info = perf_input_info(m->input);

	m->result.samples = m->totals.samples;
	m->result.lost = m->totals.lost;
	m->result.malformed = m->totals.undecodable;
	m->result.damage = *perf_input_damage(m->input);
	for (size_t i = 0; i < info->events.nr; i++)
		m->result.sample_types |= info->events.at[i].attr.sample_type;
	m->result.interrupted = info->interrupted;
	m->totals.finished = !import_is_incomplete(&m->result);
}

static int import_file_convert(struct import_file_import *m, struct err *err)
{
	int r = import_file_copy_samples(m, err);

	if (r)
		return r;
	if (!m->writer)
		return err_set(err, -ENODATA, "the recording contains no samples");
	import_file_update_totals(m);
	note_result(m);
	return add_late(m, err);
}

static int import_file_close_writer(struct import_file_import *m, int r,
				    struct err *err)
{
	int closed;

	if (!m->writer)
		return r;
	closed = segment_writer_close(m->writer, &m->totals, r ? NULL : err);
	m->writer = NULL;
	return r ? r : closed;
}

static void jit_mapped(void *ctx, const struct record_mmap *mmap, uint64_t time_ns)
{
	struct import_file_import *m = ctx;

	import_jit_mapped(&m->jit, mmap, time_ns);
}

/* Enables unwinding if the samples contain stack copies. */
static int import_file_use_unwind(struct import_file_import *m,
				  const struct import_request *request)
{
	const struct perf_input_info *info = perf_input_info(m->input);
	struct jit_locations jit;
	uint64_t types = 0;
	int r;

	for (size_t i = 0; i < info->events.nr; i++)
		types |= info->events.at[i].attr.sample_type;
	if (!(types & PERF_SAMPLE_STACK_USER))
		return 0;
	r = naming_new(replay_dict(m->replay), replay_info(m->replay), "", &m->naming);
	if (r)
		return r;
	naming_use(m->naming, request->locations);
	naming_recorded_in(m->naming, request->path);
	jit = naming_jit_locations(m->naming);
	r = replay_use_jit_tables(m->replay, &jit);
	if (!r)
		r = naming_unwind_new(m->naming, &m->unwind);
	return r ? r
		 : replay_use_unwind(m->replay,
				     &(struct replay_unwind){ naming_unwind_table,
							      naming_unwind_code,
							      m->unwind });
}

static int import_file_read_input(struct import_file_import *m,
				  const struct import_request *request, struct err *err)
{
	const struct replay_options options = { .chains = true,
						.threads = true,
						.jit_mapped =
							m->jit_dir ? jit_mapped : NULL,
						.ctx = m };
	int r = replay_new(m->input, &options, &m->replay, err);

	if (!r && m->jit_dir &&
	    import_jit_init(&m->jit,
			    &(struct import_jit_source){ m->jit_dir, request->path,
							 replay_info(m->replay) },
			    replay_dict(m->replay), request->locations))
		r = err_set(err, -ENOMEM, "out of memory");
	if (r) {
		replay_free(m->replay);
		return r;
	}
	m->time_factor = time_factor(perf_input_info(m->input));
	selection_init(&m->selection, m->spec, replay_dict(m->replay), "");
	r = import_file_use_unwind(m, request);
	r = r ? err_set(err, r, "out of memory") : import_file_convert(m, err);
	r = import_file_close_writer(m, r, err);
	if (!r && m->jit_dir)
		import_jit_maps(&m->jit, replay_dict(m->replay));
	import_jit_done(&m->jit);
	if (r)
		(void)io_unlink(m->segment);
	selection_done(&m->selection);
	/* End the replay first, because its threads use the unwind tables. */
	replay_end(m->replay);
	naming_unwind_free(m->unwind);
	naming_free(m->naming);
	replay_free(m->replay);
	return r;
}

int import_file(const struct import_request *request, struct import_result *ret_result,
		struct err *err)
{
	struct import_file_import m = { .segment = request->segment,
					.spec = request->spec,
					.jit_dir = request->jit_dir };
	int r = perf_input_open(request->path, request->trust, &m.input, err);

	if (r)
		return r;
	r = import_file_read_input(&m, request, err);
	if (r)
		err_prefix(err, "%s", request->path);
	else
		*ret_result = m.result;
	perf_input_close(m.input);
	return r;
}
