/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "format/session/session.h"

#include <errno.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "alloc_fail.h"
#include "format/session/dict_block.h"
#include "format/session/dict_calls.h"
#include "format/session/info.h"
#include "recording.h"

/* Bytes per sample of add_job(); version 2 needed 10.06. */
static const double JOB_BYTES = 9.1;

static void expect_info(const struct session_info *a, const struct session_info *b)
{
	assert_string_equal(a->tool_version, b->tool_version);
	assert_string_equal(a->hostname, b->hostname);
	assert_string_equal(a->os_release, b->os_release);
	assert_string_equal(a->machine, b->machine);
	assert_string_equal(a->cpu_desc, b->cpu_desc);
	assert_string_equal(a->boot_id, b->boot_id);
	assert_string_equal(a->command, b->command);
	assert_string_equal(a->vmlinux, b->vmlinux);
	assert_int_equal(a->kernel_build_id.len, b->kernel_build_id.len);
	assert_memory_equal(a->kernel_build_id.bytes, b->kernel_build_id.bytes,
			    BUILD_ID_MAX);
	assert_true(a->cpu_mhz == b->cpu_mhz);
	assert_int_equal(a->nr_cpus_online, b->nr_cpus_online);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->clock_id, b->clock_id);
	assert_true(a->start_ns == b->start_ns && a->start_wall_ns == b->start_wall_ns);
}

static void expect_threads(const struct dict *a, const struct dict *b)
{
	assert_int_equal(a->threads.nr, b->threads.nr);
	for (size_t i = 0; i < a->threads.nr; i++) {
		const struct thread *x = &a->threads.at[i];
		const struct thread *y = &b->threads.at[i];

		assert_true(x->pid == y->pid && x->tid == y->tid &&
			    x->ns_pid == y->ns_pid && x->ns_tid == y->ns_tid &&
			    x->comm == y->comm && x->app == y->app &&
			    x->cgroup == y->cgroup && x->flags == y->flags &&
			    x->start_ns == y->start_ns);
	}
}

static void expect_images(const struct dict *a, const struct dict *b)
{
	assert_int_equal(a->images.nr, b->images.nr);
	for (size_t i = 0; i < a->images.nr; i++) {
		const struct image *x = &a->images.at[i];
		const struct image *y = &b->images.at[i];

		assert_true(
			x->name == y->name && x->kind == y->kind && x->dev == y->dev &&
			x->inode == y->inode && x->inode_gen == y->inode_gen &&
			x->mtime_ns == y->mtime_ns && x->file_bytes == y->file_bytes &&
			x->start == y->start && x->end == y->end && x->pid == y->pid &&
			x->ref_name == y->ref_name &&
			x->ref_address == y->ref_address &&
			x->build_id.len == y->build_id.len);
		assert_memory_equal(x->build_id.bytes, y->build_id.bytes,
				    x->build_id.len);
	}
}

static void expect_events(const struct dict *a, const struct dict *b)
{
	assert_int_equal(a->events.nr, b->events.nr);
	for (size_t i = 0; i < a->events.nr; i++) {
		const struct event_desc *x = &a->events.at[i];
		const struct event_desc *y = &b->events.at[i];

		assert_true(x->name == y->name && x->about == y->about &&
			    x->type == y->type && x->flags == y->flags &&
			    x->config == y->config && x->config1 == y->config1 &&
			    x->config2 == y->config2 && x->count == y->count &&
			    x->frequency_hz == y->frequency_hz &&
			    x->unit_mask == y->unit_mask);
	}
}

static void expect_dict(const struct dict *a, const struct dict *b)
{
	assert_int_equal(a->strings.strings.nr, b->strings.strings.nr);
	for (uint32_t i = 0; i < a->strings.strings.nr; i++)
		assert_string_equal(dict_str(a, i), dict_str(b, i));
	expect_events(a, b);
	expect_images(a, b);
	expect_threads(a, b);
	assert_int_equal(a->frames.nr, b->frames.nr);
	for (size_t i = 0; i < a->frames.nr; i++)
		assert_true(a->frames.at[i].image == b->frames.at[i].image &&
			    a->frames.at[i].offset == b->frames.at[i].offset);
	assert_int_equal(a->stacks.nr, b->stacks.nr);
	for (size_t i = 0; i < a->stacks.nr; i++)
		assert_true(a->stacks.at[i].parent == b->stacks.at[i].parent &&
			    a->stacks.at[i].frame == b->stacks.at[i].frame);
}

/* Checks that the file is the complete, undamaged recording. */
static void expect_whole(const struct recording *r)
{
	struct segment *s = NULL;
	struct err err = { 0 };

	assert_int_equal(segment_open(r->path, TRUST_ANY, &s, &err), 0);
	expect_info(segment_info(s), &recording_info);
	assert_int_equal(recording_expect(r, s), r->nr);
	expect_dict(segment_dict(s), &r->dict);
	assert_int_equal(segment_damage(s)->bad_blocks, 0);
	assert_int_equal(segment_damage(s)->bad_samples, 0);
	assert_int_equal(segment_damage(s)->cut_bytes, 0);
	assert_false(segment_damage(s)->unfinished);
	assert_true(segment_totals(s)->samples == r->nr);
	assert_true(segment_totals(s)->finished);
	segment_close(s);
}

static bool reads_as_unfinished(const struct recording *r)
{
	struct segment *s = NULL;
	struct err err = { 0 };
	bool unfinished;

	assert_int_equal(segment_open(r->path, TRUST_ANY, &s, &err), 0);
	assert_int_equal(recording_expect(r, s), r->nr);
	assert_int_equal(segment_damage(s)->cut_bytes, 0);
	unfinished = segment_damage(s)->unfinished;
	segment_close(s);
	return unfinished;
}

/* A segment is not damaged while its recorder runs, but it is damaged if the recorder was
 * killed. */
static void reads_a_segment_during_writing(void **state)
{
	struct segment_writer *w;
	struct recording r;
	int pid, status;

	(void)state;
	recording_init(&r, 5, false);
	w = recording_open(&r);
	recording_add(&r, w, 100);
	recording_flush(&r, w);
	assert_false(reads_as_unfinished(&r));
	recording_close(&r, w);
	recording_done(&r);

	recording_init(&r, 5, false);
	pid = fork();
	assert_int_not_equal(pid, -1);
	if (!pid) {
		w = recording_open(&r);
		recording_add(&r, w, 100);
		recording_flush(&r, w);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* Adds the samples of the child to the expected ones of this process. */
	recording_add(&r, NULL, 100);
	assert_true(reads_as_unfinished(&r));
	recording_done(&r);
}

/* The recorder writes the end of the segment after the rest was read: the end does not count as
 * missing. */
static void handles_a_segment_that_ends_during_reading(void **state)
{
	struct sample_batch batch;
	struct segment_writer *w;
	struct segment *s = NULL;
	struct recording r;
	int read;

	(void)state;
	recording_init(&r, 5, false);
	w = recording_open(&r);
	recording_add(&r, w, 100);
	recording_flush(&r, w);
	assert_int_equal(segment_open(r.path, TRUST_ANY, &s, NULL), 0);
	recording_close(&r, w);
	do
		read = segment_next(s, COLUMN_ALL, &batch, NULL);
	while (!read);
	assert_int_equal(read, 1);
	assert_false(segment_damage(s)->unfinished);
	segment_close(s);
	recording_done(&r);
}

static void write_so(uint64_t seed, bool wild, bool sealed, const size_t *flushes,
		     size_t nr)
{
	struct recording r;
	struct segment_writer *w;
	struct stat st;

	recording_init(&r, seed, wild);
	r.sealed = sealed;
	w = recording_open(&r);
	for (size_t i = 0; i < nr; i++) {
		recording_add(&r, w, flushes[i]);
		recording_flush(&r, w);
		assert_int_equal(stat(r.path, &st), 0);
		assert_true(segment_writer_bytes(w) == (uint64_t)st.st_size);
	}
	recording_close(&r, w);
	expect_whole(&r);
	recording_done(&r);
}

static void write_and_expect(uint64_t seed, bool wild, const size_t *flushes, size_t nr)
{
	write_so(seed, wild, false, flushes, nr);
	write_so(seed, wild, true, flushes, nr);
}

static void samples_survive_a_round_trip(void **state)
{
	static const size_t some[] = { 1, 2, 0, 1000, 1, 2000, 0, 500 };
	static const size_t large[] = { 40000, 3 };

	(void)state;
	write_and_expect(1, false, some, 8);
	write_and_expect(2, true, some, 8);
	write_and_expect(3, false, large, 2);
	write_and_expect(4, true, large, 2);
	write_and_expect(5, false, NULL, 0);
}

static void extreme_samples_survive_a_round_trip(void **state)
{
	static const uint64_t values[] = {
		0, 99, 100, 1001001, INT64_MAX, 1ULL << 63, UINT64_MAX, UINT64_MAX - 99
	};
	struct recording r;
	struct segment_writer *w;

	(void)state;
	recording_init(&r, 1, false);
	w = recording_open(&r);
	for (uint64_t i = 0; i < 4096; i++) {
		struct sample s = {
			.time_ns = values[i % 8],
			.period = values[i / 8 % 8],
			.thread = DICT_NONE,
			.event = DICT_NONE,
			.stack = i / 512 ? DICT_NONE : STACK_TRUNCATED,
			.cpu = i / 64 % 8 ? (uint32_t)i : UINT32_MAX,
		};

		if (i % 640 == 1)
			recording_flush(&r, w);
		r.samples[r.nr++] = s;
		assert_int_equal(segment_writer_add(w, &s), 0);
	}
	r.totals = (struct session_totals){
		UINT64_MAX, UINT64_MAX - 1,       3,     4,
		5,          UINT64_MAX,           7,     INT32_MIN,
		true,       { 9, 0, UINT64_MAX }, { 1 }, UINT64_MAX
	};
	recording_close(&r, w);
	expect_whole(&r);
	recording_done(&r);
}

/* Totals of versions that did not count why stacks end. */
static void reads_old_totals(void **state)
{
	struct session_totals totals = { .samples = 300,
					 .stack_ends = { 1, 2, 3 },
					 .event_shares = { 101, 0, 102 },
					 .dropped = 77 };
	/* The number of shares, and one byte for each. */
	const size_t shares = 1 + SESSION_EVENT_SHARES;
	const size_t dropped = 1;
	struct session_totals got;
	struct buf out = { 0 };
	struct cursor in;

	(void)state;
	session_totals_put(&totals, &out);
	/* The number of stack ends, and one byte for each. */
	in = cursor_le(out.data, out.len - dropped - shares - 1 - SESSION_STACK_ENDS);
	assert_int_equal(session_totals_get(&in, &got), 0);
	assert_int_equal(got.samples, 300);
	assert_int_equal(got.stack_ends[0] + got.stack_ends[1] + got.stack_ends[2], 0);
	/* Totals of a version that did not count the events' time with a counter. */
	in = cursor_le(out.data, out.len - dropped - shares);
	assert_int_equal(session_totals_get(&in, &got), 0);
	assert_int_equal(got.stack_ends[2], 3);
	assert_int_equal(got.event_shares[0], 0);
	in = cursor_le(out.data, out.len);
	assert_int_equal(session_totals_get(&in, &got), 0);
	assert_memory_equal(got.event_shares, totals.event_shares,
			    sizeof(got.event_shares));
	assert_memory_equal(got.stack_ends, totals.stack_ends, sizeof(got.stack_ends));
	assert_int_equal(got.dropped, 77);
	/* Totals of a version that did not count dropped samples. */
	in = cursor_le(out.data, out.len - dropped);
	assert_int_equal(session_totals_get(&in, &got), 0);
	assert_int_equal(got.dropped, 0);
	in = cursor_le(out.data, out.len - dropped - 1);
	assert_int_equal(session_totals_get(&in, &got), -EBADMSG);
	buf_done(&out);
}

static void totals_survive_a_round_trip(void **state)
{
	struct session_totals want = { UINT64_MAX, UINT64_MAX - 1,
				       3,          4,
				       5,          UINT64_MAX,
				       7,          INT32_MIN,
				       true,       { 10, 1, 2, 3, UINT64_MAX, 5 },
				       { 10001 },  6 };
	struct segment *s;
	struct sample_batch b;
	struct recording r;
	struct err err;

	(void)state;
	recording_init(&r, 1, false);
	r.totals = want;
	recording_close(&r, recording_open(&r));
	assert_int_equal(segment_open(r.path, TRUST_ANY, &s, &err), 0);
	assert_int_equal(segment_totals(s)->target_status, -1);
	assert_int_equal(segment_next(s, COLUMN_ALL, &b, &err), 1);
	assert_int_equal(segment_next(s, COLUMN_ALL, &b, &err), 1);
	/* The writer's totals replace these. */
	assert_true(segment_totals(s)->samples == r.nr);
	assert_true(segment_totals(s)->lost == want.lost);
	assert_true(segment_totals(s)->lost_records == want.lost_records);
	assert_true(segment_totals(s)->throttled == want.throttled);
	assert_true(segment_totals(s)->undecodable == want.undecodable);
	assert_true(segment_totals(s)->end_ns == want.end_ns);
	assert_true(segment_totals(s)->recorder_cpu_ns == want.recorder_cpu_ns);
	assert_true(segment_totals(s)->target_status == want.target_status);
	assert_true(segment_totals(s)->finished);
	assert_memory_equal(segment_totals(s)->stack_ends, want.stack_ends,
			    sizeof(want.stack_ends));
	segment_close(s);
	recording_done(&r);
}

static void decodes_only_requested_columns(void **state)
{
	struct recording r;
	struct segment_writer *w;
	struct segment *s;
	struct sample_batch b;
	struct err err;

	(void)state;
	recording_init(&r, 9, false);
	w = recording_open(&r);
	recording_add(&r, w, 300);
	recording_close(&r, w);
	for (unsigned int columns = 0; columns <= COLUMN_ALL; columns++) {
		assert_int_equal(segment_open(r.path, TRUST_ANY, &s, &err), 0);
		assert_int_equal(segment_next(s, columns, &b, &err), 0);
		assert_int_equal(b.nr, 300);
		assert_true(!(columns & COLUMN_TIME) == !b.time_ns);
		assert_true(!(columns & COLUMN_PERIOD) == !b.period);
		assert_true(!(columns & COLUMN_THREAD) == !b.thread);
		assert_true(!(columns & COLUMN_EVENT) == !b.event);
		assert_true(!(columns & COLUMN_STACK) == !b.stack);
		assert_true(!(columns & COLUMN_CPU) == !b.cpu);
		if (b.stack)
			assert_int_equal(b.stack[299], r.samples[299].stack);
		segment_close(s);
	}
	recording_done(&r);
}

/* Writes a dict with more than one block of each kind. */
static void a_large_dict_survives_a_round_trip(void **state)
{
	struct recording r;
	struct segment_writer *w;
	char *string = malloc(100001);

	(void)state;
	assert_non_null(string);
	recording_init(&r, 1, false);
	for (uint32_t i = 0; i < 150000; i++) {
		uint32_t frame = dict_frame(&r.dict, recording_image(&r, i % 50), i);

		assert_int_not_equal(dict_stack(&r.dict, i, frame), DICT_NONE);
	}
	memset(string, 'x', 100000);
	string[100000] = '\0';
	for (int i = 0; i < 100; i++) {
		string[0] = (char)('0' + i);
		assert_int_not_equal(dict_string(&r.dict, string), DICT_NONE);
	}
	w = recording_open(&r);
	recording_add(&r, w, 100);
	recording_close(&r, w);
	expect_whole(&r);
	free(string);
	recording_done(&r);
}

/* Returns the bytes that stacks need if each function calls few others. `stray`: there is a
 * frame without a stack before them, so that frames are stored separately from stacks. */
static uint64_t bytes_of_calls(bool stray)
{
	struct recording r;
	struct segment_writer *w;
	struct stat st;

	recording_init(&r, 3, false);
	if (stray)
		(void)dict_frame(&r.dict, recording_image(&r, 0), 0);
	for (uint32_t i = 0; i < 70000; i++) {
		uint32_t parent = (uint32_t)(recording_random(&r) % (i / 4 + 1));
		const struct stack *caller = &r.dict.stacks.at[parent];
		uint64_t function = parent < STACK_FIRST ? 0 : caller->frame;
		uint64_t callees = hash_pair(function, 7);
		uint32_t image = recording_image(&r, (uint32_t)(callees % 20));
		uint64_t position =
			callees % 10000000 * 64 + recording_random(&r) % 3 * 16;

		(void)dict_stack(&r.dict, parent, dict_frame(&r.dict, image, position));
	}
	w = recording_open(&r);
	recording_add(&r, w, 100);
	recording_close(&r, w);
	expect_whole(&r);
	assert_int_equal(stat(r.path, &st), 0);
	recording_done(&r);
	return (uint64_t)st.st_size;
}

static void distinguishes_stacks_by_their_calls(void **state)
{
	(void)state;
	assert_true(bytes_of_calls(false) < bytes_of_calls(true) * 3 / 4);
}

/* Writes a section with one entry that claims to follow a million others, and has no content. */
static int skip_a_million(struct dict *d, struct dict_scratch *s)
{
	struct column_decoder dec = { 0 };
	uint64_t first = d->frames.nr + DICT_HOLES_MAX;
	uint8_t bytes[16] = { DICT_FRAMES };
	struct cursor in;
	bool holes;
	size_t at = 1;

	for (; first > 0x7f; first >>= 7)
		bytes[at++] = (uint8_t)(first | 0x80);
	bytes[at++] = (uint8_t)first;
	bytes[at++] = 1;
	bytes[at++] = 0;
	in = cursor_le(bytes, at);
	return dict_unpack(d, &in, s, &dec, &holes);
}

/* A file cannot fill the memory with entries that it omits. */
static void limits_the_size_of_holes(void **state)
{
	struct dict_scratch s = { 0 };
	struct dict d;

	(void)state;
	assert_int_equal(dict_init(&d), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(skip_a_million(&d, &s), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(skip_a_million(&d, &s), -EBADMSG);
	assert_true(d.frames.nr > 3 * DICT_HOLES_MAX);
	assert_true(d.frames.nr <= DICT_ENTRIES_FREE);
	dict_scratch_done(&s);
	dict_done(&d);
}

/* Writes the columns of a section, each after its length. */
static void put_column(struct column_encoder *e, const uint64_t *values, size_t nr,
		       struct buf *out)
{
	struct buf column = { 0 };

	assert_int_equal(column_encode(e, values, nr, &column), 0);
	buf_put_varint(out, column.len);
	buf_put(out, column.data, column.len);
	buf_done(&column);
}

/* Reads a section with this head, of two stacks and one chain, whose caller is the root and
 * whose first frame is frame 0 of the section before. `chain` is the column of the chains'
 * lengths; the columns after it are only written if `is_whole`. */
static int take_chain(const uint64_t *head, uint64_t chain, bool is_whole,
		      struct dict *d, struct dict_scratch *s)
{
	struct column_encoder e;
	struct column_decoder dec = { 0 };
	struct buf section = { 0 };
	struct buf payload = { 0 };
	struct cursor in;
	bool holes;
	int r;

	assert_int_equal(column_encoder_init(&e), 0);
	assert_int_equal(column_decoder_init(&dec), 0);
	put_column(&e, head, DICT_CALLS_HEAD, &section);
	for (size_t i = 0; i < CALLS_COLUMN_COUNT && (is_whole || !i); i++) {
		uint64_t value = i == CALLS_LENGTHS  ? chain
				 : i == CALLS_FRAMES ? 0
				 : i < CALLS_HOWS    ? 1
						     : CALLS_OLD;

		put_column(&e, (uint64_t[]){ value, value },
			   head[2 + i] < 3 ? head[2 + i] : 1, &section);
	}
	buf_put_u8(&payload, DICT_CALLS);
	buf_put_varint(&payload, d->stacks.nr);
	buf_put_varint(&payload, 2);
	buf_put_varint(&payload, section.len);
	buf_put(&payload, section.data, section.len);
	in = cursor_le(payload.data, payload.len);
	r = dict_unpack(d, &in, s, &dec, &holes);
	buf_done(&payload);
	buf_done(&section);
	column_decoder_done(&dec);
	column_encoder_done(&e);
	return r;
}

/* Impossible values in a head are refused before they cost anything; a section can end early. */
static void rejects_wrong_headers_of_calls(void **state)
{
	enum {
		FIRST_HOW = 2 + CALLS_HOWS,
		ROOT_HOW = FIRST_HOW + CALLS_RECENT + 1
	};
	static const struct {
		size_t at; /* position in the head; 0: it is valid */
		uint64_t value, chain;
		bool is_cut;
		int result;
	} rows[] = {
		{ 0, 0, 2 | 1, false, 0 },
		{ 0, 0, 2 | 1, true,
		  0 }, /* the rest is 0: lost, but they keep their numbers */
		{ 0, 0, 0 | 1, false, -EBADMSG }, /* one stack */
		{ 0, 0, 4 | 1, false, -EBADMSG },
		{ 0, 0, UINT64_MAX, false, -EBADMSG },
		{ 1, (1 << 20) + 1, 2 | 1, false, -EBADMSG }, /* chains omitted */
		{ 2 + CALLS_LENGTHS, 2, 2 | 1, false, -EBADMSG },
		{ 2 + CALLS_AGAIN, 1, 2 | 1, false, -EBADMSG },
		{ 2 + CALLS_CALLERS, 3, 2 | 1, false, -EBADMSG },
		{ 2 + CALLS_IMAGES, 1, 2 | 1, false, -EBADMSG },
		{ 2 + CALLS_NEAR, 3, 2 | 1, false, -EBADMSG },
		{ ROOT_HOW, 2, 2 | 1, false, -EBADMSG },
		{ ROOT_HOW, UINT64_MAX, 2 | 1, false, -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct dict_scratch s = { 0 };
		struct image image = { .kind = IMAGE_FILE };
		uint64_t head[DICT_CALLS_HEAD] = { 0 };
		struct dict d;
		int r;

		assert_int_equal(dict_init(&d), 0);
		assert_int_equal(dict_image(&d, &image), 0);
		assert_int_equal(dict_frame(&d, 0, 5), 0);
		head[0] = 1; /* number of the first new frame, after the existing one */
		head[2 + CALLS_LENGTHS] = head[2 + CALLS_CALLERS] = 1;
		head[2 + CALLS_FRAMES] = 2;
		head[FIRST_HOW] = head[ROOT_HOW] = 1;
		if (rows[i].at)
			head[rows[i].at] = rows[i].value;
		r = take_chain(head, rows[i].chain, !rows[i].is_cut, &d, &s);
		if (r != rows[i].result)
			fail_msg("row %zu: %d", i, r);
		assert_int_equal(d.stacks.nr, STACK_FIRST + (r ? 0 : 2));
		dict_scratch_done(&s);
		dict_done(&d);
	}
}

/* Returns element `i` of a column of a section. */
static uint64_t told(const struct dict_calls *c, size_t column, size_t i)
{
	assert_true(i < c->columns[column].list.nr);
	return c->columns[column].list.at[i];
}

/* A section does not depend on the section before it, which can have more frames. */
static void each_section_of_calls_starts_from_zero(void **state)
{
	const size_t first_of_chain = CALLS_HOWS + CALLS_RECENT + 1;
	struct image image = { .kind = IMAGE_FILE };
	struct dict_calls c = { 0 };
	struct dict d;

	(void)state;
	assert_int_equal(dict_init(&d), 0);
	assert_int_equal(dict_image(&d, &image), 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(dict_frame(&d, 0, 100 + i), i);
		assert_int_equal(dict_stack(&d, STACK_ROOT, i), STACK_FIRST + i);
	}
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(dict_calls_begin(&c, &d, 0, turn ? 2 : 3, STACK_FIRST),
				 0);
		assert_int_equal(dict_calls_report(&c, STACK_FIRST), 0);
		assert_int_equal(dict_calls_report(&c, STACK_FIRST + 1), 0);
		assert_int_equal(c.next, 2);
		/* The root is the caller of both stacks. */
		assert_int_equal(c.columns[CALLS_LENGTHS].list.nr, 2);
		assert_int_equal(told(&c, CALLS_LENGTHS, 0), 1);
		assert_int_equal(told(&c, CALLS_LENGTHS, 1), 0);
		assert_int_equal(told(&c, CALLS_CALLERS, 0), 1);
		assert_int_equal(told(&c, CALLS_AGAIN, 0), 0);
		/* The first frame is in a new image, the second near the first. */
		assert_int_equal(told(&c, first_of_chain, 0), CALLS_ELSEWHERE);
		assert_int_equal(told(&c, first_of_chain + 1, 0), 0);
		assert_int_equal(told(&c, CALLS_IMAGES, 0), 0);
		assert_int_equal(told(&c, CALLS_FAR, 0), 200); /* zigzag, from 0 on */
		assert_int_equal(told(&c, CALLS_NEAR, 0), 2);
	}
	dict_calls_done(&c);
	dict_done(&d);
}

static void put(struct dict_calls *c, size_t column, uint64_t value)
{
	assert_true(vec_push(&c->columns[column].list, value));
}

static void begin(struct dict_calls *c, const struct dict *d)
{
	assert_int_equal(dict_calls_begin(c, d, 3, 8, STACK_FIRST), 0);
}

/* Columns that refer to nothing, or are too short, are refused. */
static void rejects_wrong_calls(void **state)
{
	static const struct {
		uint64_t length, caller, how, more;
		size_t more_in; /* this column */
		int result;
	} rows[] = {
		{ 1, 1, CALLS_ELSEWHERE, 0, CALLS_IMAGES, 0 },
		{ 0, 1, CALLS_ELSEWHERE, 0, CALLS_IMAGES, -EBADMSG }, /* no chain ago */
		{ 0, 1, 0, 0, CALLS_AGAIN, -EBADMSG },                /* ... */
		{ 1, 1, CALLS_ELSEWHERE, 1, CALLS_IMAGES, -EBADMSG }, /* no image */
		{ 1, 1, CALLS_ELSEWHERE, UINT64_MAX, CALLS_IMAGES, -EBADMSG },
		{ 1, 1, CALLS_ELSEWHERE, 0, CALLS_NEAR, -EBADMSG }, /* not encoded */
		{ 1, 1, 0, 0, CALLS_NEAR,
		  -EBADMSG }, /* the root has no likely callee */
		{ 1, 1, 1, 0, CALLS_NEAR, -EBADMSG }, /* it has no callee */
		{ 1, 1, CALLS_RECENT, 0, CALLS_NEAR, -EBADMSG },
		{ 1, 1, UINT64_MAX, 0, CALLS_NEAR, -EBADMSG },
		{ 1, 1, CALLS_OLD, 3, CALLS_FRAMES, -EBADMSG }, /* a frame below 0 */
		{ 1, 1, CALLS_OLD, UINT64_MAX, CALLS_FRAMES, -EBADMSG },
		{ 1, 1, CALLS_OLD, 0, CALLS_NEAR, -EBADMSG }, /* not encoded */
		{ 1, 0, CALLS_ELSEWHERE, 0, CALLS_IMAGES,
		  0 }, /* unknown callers: stack 1 */
		{ 1, UINT64_MAX, CALLS_ELSEWHERE, 0, CALLS_IMAGES, -EBADMSG },
		{ 1, 2, CALLS_ELSEWHERE, 0, CALLS_IMAGES, -EBADMSG },
	};
	struct image image = { .kind = IMAGE_FILE };
	struct dict_calls c = { 0 };
	struct stack stack;
	struct frame frame;
	struct dict d;

	(void)state;
	assert_int_equal(dict_init(&d), 0);
	assert_int_equal(dict_image(&d, &image), 0);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		bool is_new = false;

		begin(&c, &d);
		put(&c, CALLS_LENGTHS, rows[i].length);
		put(&c, CALLS_CALLERS, rows[i].caller);
		put(&c, CALLS_HOWS + CALLS_RECENT + 1, rows[i].how);
		put(&c, CALLS_FAR, 10);
		put(&c, rows[i].more_in, rows[i].more);
		if (dict_calls_take(&c, STACK_FIRST, &stack, &is_new, &frame) !=
		    rows[i].result)
			fail_msg("row %zu", i);
		if (rows[i].result)
			continue;
		assert_true(is_new);
		assert_int_equal(stack.parent, 1 - rows[i].caller);
		assert_int_equal(stack.frame, 3);
		assert_true(frame.offset == 5);
	}
	begin(&c, &d); /* nothing at all */
	assert_int_equal(
		dict_calls_take(&c, STACK_FIRST, &stack, &(bool){ false }, &frame),
		-EBADMSG);
	dict_calls_done(&c);
	dict_done(&d);
}

/* Stacks of version 2 that refer to nothing, or are too short, are refused. */
static void rejects_wrong_old_calls(void **state)
{
	static const struct call_words rows[] = {
		{ 1, 0, 0 },                   /* the root has no callee */
		{ CALLS_RECENT, 0, 0 },        /* ... */
		{ CALLS_RECENT + 4, 0, 0 },    /* a frame below 0 */
		{ UINT64_MAX, 0, 0 },          /* ... */
		{ 0, 0, 0 },                   /* the image of a missing frame */
		{ 0, 2, 0 },                   /* no such image */
		{ 0, UINT64_MAX, UINT64_MAX }, /* ... */
	};
	const struct call_words good = { 0, 1, 0 };
	struct image image = { .kind = IMAGE_FILE };
	struct dict_calls c = { 0 };
	struct frame frame;
	struct dict d;
	uint32_t number;

	(void)state;
	assert_int_equal(dict_init(&d), 0);
	assert_int_equal(dict_image(&d, &image), 0);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		begin(&c, &d);
		assert_int_equal(dict_calls_take_words(&c, STACK_ROOT, &rows[i],
						       &number, &frame),
				 -EBADMSG);
	}
	/* Callers that do not exist. */
	begin(&c, &d);
	assert_int_equal(dict_calls_take_words(&c, STACK_FIRST, &good, &number, &frame),
			 -EBADMSG);
	assert_int_equal(dict_calls_take_words(&c, STACK_ROOT, &good, &number, &frame),
			 0);
	assert_int_equal(number, 3);
	assert_int_equal(frame.image, 0);
	dict_calls_done(&c);
	dict_done(&d);
}

/* A file sealed before chains were introduced (tests/data/README.md). */
static void reads_a_segment_of_version_2(void **state)
{
	char made[RECORDING_PATH_MAX + 16];
	struct recording r;

	(void)state;
	assert_non_null(getenv("TEST_DATA"));
	recording_init(&r, 31, false);
	recording_add(&r, NULL, 1500);
	recording_add(&r, NULL, 300);
	r.totals.finished = true;
	memcpy(made, r.path, sizeof(made));
	snprintf(r.path, sizeof(r.path), "%s/segments/version-2", getenv("TEST_DATA"));
	expect_whole(&r);
	memcpy(r.path, made, sizeof(made));
	recording_done(&r);
}

/* Adds a sealed job like a compilation: processes with some hundred samples alternate on two CPUs;
 * most stacks are new, but begin like others. */
static void add_job(struct recording *r, struct segment_writer *w, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t second = i / 200, cpu = i / 100 % 2;
		uint64_t process = 3 * second + cpu + 2 * (recording_random(r) % 3);
		uint64_t depth = 3 + recording_random(r) % 12;
		struct thread thread = { .pid = (int32_t)process + 5,
					 .tid = (int32_t)process + 5,
					 .app = recording_image(r, 1),
					 .start_ns = process * 333330000 };
		uint64_t function = 1;
		struct sample s = { .period = 10101010,
				    .cpu = (uint32_t)cpu,
				    .stack = STACK_ROOT };

		for (uint64_t k = 0; k < depth; k++) {
			uint64_t callee = recording_random(r);
			uint64_t position = function % 500 * 4096;

			callee = callee % 4 ? callee % 2 : callee % 6;
			position += k + 1 < depth ? callee * 16
						  : recording_random(r) % 1000;
			s.stack =
				dict_stack(&r->dict, s.stack,
					   dict_frame(&r->dict, thread.app, position));
			function = hash_pair(function, callee);
		}
		thread.comm = dict_string(&r->dict, "cc1");
		s.thread = dict_thread(&r->dict, &thread);
		s.time_ns = second * 1000000000 + i % 100 * 10101010 +
			    recording_random(r) % 40000;
		s.time_ns -= s.time_ns % RECORDING_SEALED_UNIT_NS;
		r->samples[r->nr++] = s;
		assert_int_equal(segment_writer_add(w, &s), 0);
	}
	r->totals.samples = r->nr;
}

static void a_sealed_job_is_small(void **state)
{
	struct recording r;
	struct segment_writer *w;
	double bytes;

	(void)state;
	recording_init(&r, 12, false);
	r.sealed = true;
	w = recording_open(&r);
	add_job(&r, w, 50000);
	recording_flush(&r, w);
	bytes = (double)segment_writer_bytes(w) / (double)r.nr;
	recording_close(&r, w);
	expect_whole(&r);
	recording_done(&r);
	if (bytes > JOB_BYTES)
		fail_msg("%.2f bytes a sample", bytes);
}

static void rounds_old_times(void **state)
{
	struct recording r;
	struct sample_batch b;
	struct segment_writer *w;
	struct segment *s;
	size_t nr = 0;

	(void)state;
	recording_init(&r, 9, false);
	w = recording_open(&r);
	segment_writer_coarsen(w, 10000);
	recording_add(&r, w, 3000);
	recording_close(&r, w);
	assert_int_equal(segment_open(r.path, TRUST_ANY, &s, NULL), 0);
	while (!segment_next(s, COLUMN_ALL, &b, NULL))
		for (size_t i = 0; i < b.nr; i++, nr++)
			assert_int_equal(b.time_ns[i],
					 r.samples[nr].time_ns / 10000 * 10000);
	assert_int_equal(nr, 3000);
	segment_close(s);
	recording_done(&r);
}

/* Flushes into a file that can only grow by `room` bytes, which is too little. */
static void flush_in_vain(struct recording *r, struct segment_writer *w, uint64_t room)
{
	uint64_t before = segment_writer_bytes(w);
	size_t pending = segment_writer_pending(w);
	struct rlimit old, limit;
	struct err err = { 0 };
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = before + room;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int turn = 0; turn < 3; turn++)
		assert_int_equal(segment_writer_flush(w, &r->totals, &err), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(err.code, -EFBIG);
	assert_int_equal(stat(r->path, &st), 0);
	assert_true((uint64_t)st.st_size == before);
	assert_true(segment_writer_bytes(w) == before);
	assert_int_equal(segment_writer_pending(w), pending);
}

static void fill_disk(bool sealed)
{
	struct recording r;
	struct segment_writer *w;

	recording_init(&r, 21, true);
	r.sealed = sealed;
	w = recording_open(&r);
	recording_add(&r, w, 500);
	recording_flush(&r, w);
	for (uint64_t room = 0; room < 3000; room += 997) {
		recording_add(&r, w, 400);
		flush_in_vain(&r, w, room);
		assert_int_equal(segment_writer_pending(w), 400);
		recording_flush(&r, w);
	}
	recording_close(&r, w);
	expect_whole(&r);
	recording_done(&r);
}

/* Abandons a recording with 500 samples in the file and 400 pending, for which the file has `room`
 * more bytes. Expects `nr` samples in the file. */
static void abandon(uint64_t room, int expected, uint64_t nr)
{
	struct rlimit old, limit;
	struct segment_writer *w;
	struct sample_batch b;
	struct recording r;
	struct segment *s;

	recording_init(&r, 22, true);
	w = recording_open(&r);
	recording_add(&r, w, 500);
	recording_flush(&r, w);
	recording_add(&r, w, 400);
	r.totals.dropped = 3;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = segment_writer_bytes(w) + room;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(segment_writer_abandon(w, &r.totals, NULL), expected);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(segment_open(r.path, TRUST_ANY, &s, NULL), 0);
	while (!segment_next(s, COLUMN_ALL, &b, NULL))
		;
	assert_true(segment_damage(s)->unfinished);
	assert_int_equal(segment_damage(s)->missing_samples, 0);
	assert_int_equal(segment_totals(s)->samples, nr);
	assert_int_equal(segment_totals(s)->dropped, 900 - nr + 3);
	segment_close(s);
	recording_done(&r);
}

static void an_abandoned_segment_states_its_loss(void **state)
{
	(void)state;
	abandon(1 << 20, 0, 900);
	abandon(300, -EFBIG, 500);
}

/* The file grows by complete flushes or not at all, and the samples of a failed flush are
 * written with the next one. */
static void a_full_disk_loses_nothing(void **state)
{
	(void)state;
	fill_disk(false);
	fill_disk(true);
}

/* Stacks that were stored as chains can be stored otherwise when they are written again:
 * samples do not refer to the chains of a failed flush. */
static void discards_chains_of_a_failed_flush(void **state)
{
	struct recording r;
	struct segment_writer *w;

	(void)state;
	recording_init(&r, 22, true);
	r.sealed = true;
	w = recording_open(&r);
	recording_add(&r, w, 400);
	flush_in_vain(&r, w, 100);
	/* A stack without a frame, which a damaged file can contain, is not stored as a chain. */
	assert_int_not_equal(dict_stack(&r.dict, r.samples[399].stack, DICT_NONE),
			     DICT_NONE);
	recording_flush(&r, w);
	recording_add(&r, w, 400);
	recording_close(&r, w);
	assert_false(reads_as_unfinished(&r));
	recording_done(&r);
}

static void does_not_overwrite_an_existing_file(void **state)
{
	struct recording r;
	struct segment_writer *w = NULL;
	struct err err = { 0 };

	(void)state;
	recording_init(&r, 1, false);
	recording_close(&r, recording_open(&r));
	assert_int_equal(
		segment_writer_open(r.path, &recording_info, &r.dict, &w, &err),
		-EEXIST);
	assert_null(w);
	expect_whole(&r);
	assert_int_equal(segment_writer_open("/nowhere/at/all", &recording_info,
					     &r.dict, &w, &err),
			 -ENOENT);
	recording_done(&r);
}

/* Returns how a file of that name was created in the directory: the event of inotify(7), or 0
 * if it was not. */
static uint32_t how_it_came(int watch, const char *name)
{
	_Alignas(struct inotify_event) char events[4096];
	ssize_t len = read(watch, events, sizeof(events));

	for (ssize_t at = 0; at < len;) {
		const struct inotify_event *e = (void *)(events + at);

		if (e->len && !strcmp(e->name, name))
			return e->mask;
		at += (ssize_t)(sizeof(*e) + e->len);
	}
	return 0;
}

/* A reader that opens the file at any time finds a segment with its header, or no file. */
static void a_segment_appears_with_its_header(void **state)
{
	struct recording r;
	struct segment_writer *w = NULL;
	struct rlimit old, limit;
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	(void)state;
	recording_init(&r, 1, false);
	assert_true(inotify_add_watch(watch, r.dir, IN_CREATE | IN_MOVED_TO) >= 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(
		segment_writer_open(r.path, &recording_info, &r.dict, &w, NULL),
		-EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	(void)how_it_came(watch, "segment-000001");
	assert_int_equal(
		segment_writer_open(r.path, &recording_info, &r.dict, &w, NULL), 0);
	assert_int_equal(how_it_came(watch, "segment-000001"), IN_MOVED_TO);
	assert_int_equal(segment_writer_close(w, &r.totals, NULL), 0);
	close(watch);
	/* No other file is left, not even by the failed attempt. */
	assert_int_equal(unlink(r.path), 0);
	assert_int_equal(rmdir(r.dir), 0);
	recording_done(&r);
}

/* Writes a recording with two flushes, and reads it back. Returns the first error. */
static int whole_round(struct recording *r)
{
	struct segment_writer *w = NULL;
	struct segment *s = NULL;
	struct sample_batch b;
	size_t nr = 0;
	int ret = segment_writer_open(r->path, &recording_info, &r->dict, &w, NULL);

	for (size_t i = 0; !ret && i < r->nr; i++) {
		ret = segment_writer_add(w, &r->samples[i]);
		if (!ret && i == r->nr / 2)
			ret = segment_writer_flush(w, &r->totals, NULL);
	}
	if (w) {
		int closed = segment_writer_close(w, &r->totals, NULL);

		ret = ret ? ret : closed;
	}
	if (!ret)
		ret = segment_open(r->path, TRUST_ANY, &s, NULL);
	while (!ret && !(ret = segment_next(s, COLUMN_ALL, &b, NULL)))
		nr += b.nr;
	segment_close(s);
	if (ret == 1)
		assert_int_equal(nr, r->nr);
	return ret;
}

static void reports_allocation_failure(void **state)
{
	struct recording r;

	(void)state;
	recording_init(&r, 77, false);
	recording_add(&r, NULL, 400);
	for (unsigned long n = 1;; n++) {
		bool failed;
		int ret;

		unlink(r.path);
		alloc_fail_at(n);
		ret = whole_round(&r);
		failed = alloc_fail_off();
		assert_int_equal(ret, failed ? -ENOMEM : 1);
		if (!failed)
			break;
	}
	recording_done(&r);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(samples_survive_a_round_trip),
		cmocka_unit_test(extreme_samples_survive_a_round_trip),
		cmocka_unit_test(totals_survive_a_round_trip),
		cmocka_unit_test(reads_old_totals),
		cmocka_unit_test(decodes_only_requested_columns),
		cmocka_unit_test(a_large_dict_survives_a_round_trip),
		cmocka_unit_test(distinguishes_stacks_by_their_calls),
		cmocka_unit_test(rejects_wrong_headers_of_calls),
		cmocka_unit_test(rejects_wrong_calls),
		cmocka_unit_test(rejects_wrong_old_calls),
		cmocka_unit_test(reads_a_segment_of_version_2),
		cmocka_unit_test(a_sealed_job_is_small),
		cmocka_unit_test(each_section_of_calls_starts_from_zero),
		cmocka_unit_test(limits_the_size_of_holes),
		cmocka_unit_test(rounds_old_times),
		cmocka_unit_test(a_full_disk_loses_nothing),
		cmocka_unit_test(an_abandoned_segment_states_its_loss),
		cmocka_unit_test(discards_chains_of_a_failed_flush),
		cmocka_unit_test(reads_a_segment_during_writing),
		cmocka_unit_test(handles_a_segment_that_ends_during_reading),
		cmocka_unit_test(does_not_overwrite_an_existing_file),
		cmocka_unit_test(a_segment_appears_with_its_header),
		cmocka_unit_test(reports_allocation_failure),
	};

	return UNIT_RUN(cases);
}
