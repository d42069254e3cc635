#include "format/session.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "alloc_fail.h"
#include "format/dict_block.h"
#include "format/dict_calls.h"
#include "format/session_info.h"
#include "recording.h"

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

/* The file is the recording, whole and undamaged. */
static void expect_whole(const struct recording *r)
{
	struct segment *s = NULL;
	struct err err = { 0 };

	assert_int_equal(segment_open(r->path, &s, &err), 0);
	expect_info(segment_info(s), &recording_info);
	assert_int_equal(recording_expect(r, s), r->nr);
	expect_dict(segment_dict(s), &r->dict);
	assert_int_equal(segment_damage(s)->bad_blocks, 0);
	assert_int_equal(segment_damage(s)->bad_samples, 0);
	assert_int_equal(segment_damage(s)->cut_bytes, 0);
	assert_false(segment_damage(s)->unfinished);
	assert_true(segment_totals(s)->samples == r->totals.samples);
	assert_true(segment_totals(s)->finished);
	segment_close(s);
}

static bool reads_as_unfinished(const struct recording *r)
{
	struct segment *s = NULL;
	struct err err = { 0 };
	bool unfinished;

	assert_int_equal(segment_open(r->path, &s, &err), 0);
	assert_int_equal(recording_expect(r, s), r->nr);
	assert_int_equal(segment_damage(s)->cut_bytes, 0);
	unfinished = segment_damage(s)->unfinished;
	segment_close(s);
	return unfinished;
}

/* A segment is not damaged while its recorder lives; it is when that was killed. */
static void a_segment_is_read_while_it_is_written(void **state)
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
	/* The same, in this process. */
	recording_add(&r, NULL, 100);
	assert_true(reads_as_unfinished(&r));
	recording_done(&r);
}

/* The end comes when what was there has been read: it is none that is missing. */
static void a_segment_ends_while_it_is_read(void **state)
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
	assert_int_equal(segment_open(r.path, &s, NULL), 0);
	recording_close(&r, w);
	do
		read = segment_next(s, COLUMN_ALL, &batch, NULL);
	while (!read);
	assert_int_equal(read, 1);
	assert_false(segment_damage(s)->unfinished);
	segment_close(s);
	recording_done(&r);
}

static void write_and_expect(uint64_t seed, bool wild, const size_t *flushes, size_t nr)
{
	struct recording r;
	struct segment_writer *w;
	struct stat st;

	recording_init(&r, seed, wild);
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

static void samples_come_back(void **state)
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

static void extreme_samples_come_back(void **state)
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
		UINT64_MAX, UINT64_MAX - 1,       3,    4, 5, UINT64_MAX, 7, INT32_MIN,
		true,       { 9, 0, UINT64_MAX }, { 1 }
	};
	recording_close(&r, w);
	expect_whole(&r);
	recording_done(&r);
}

/* Of versions that did not count why stacks end. */
static void old_totals_are_read(void **state)
{
	struct session_totals totals = { .samples = 300,
					 .stack_ends = { 1, 2, 3 },
					 .event_shares = { 101, 0, 102 } };
	/* Their number, and one byte each. */
	const size_t shares = 1 + SESSION_EVENT_SHARES;
	struct session_totals got;
	struct buf out = { 0 };
	struct cursor in;

	(void)state;
	session_totals_put(&totals, &out);
	/* Their number, and one byte each. */
	in = cursor_le(out.data, out.len - shares - 1 - SESSION_STACK_ENDS);
	assert_int_equal(session_totals_get(&in, &got), 0);
	assert_int_equal(got.samples, 300);
	assert_int_equal(got.stack_ends[0] + got.stack_ends[1] + got.stack_ends[2], 0);
	/* Of one that did not count what had a counter. */
	in = cursor_le(out.data, out.len - shares);
	assert_int_equal(session_totals_get(&in, &got), 0);
	assert_int_equal(got.stack_ends[2], 3);
	assert_int_equal(got.event_shares[0], 0);
	in = cursor_le(out.data, out.len);
	assert_int_equal(session_totals_get(&in, &got), 0);
	assert_memory_equal(got.event_shares, totals.event_shares,
			    sizeof(got.event_shares));
	assert_memory_equal(got.stack_ends, totals.stack_ends, sizeof(got.stack_ends));
	in = cursor_le(out.data, out.len - 1);
	assert_int_equal(session_totals_get(&in, &got), -EBADMSG);
	buf_done(&out);
}

static void totals_come_back(void **state)
{
	struct session_totals want = { UINT64_MAX, UINT64_MAX - 1,
				       3,          4,
				       5,          UINT64_MAX,
				       7,          INT32_MIN,
				       true,       { 10, 1, 2, 3, UINT64_MAX, 5 },
				       { 10001 } };
	struct segment *s;
	struct sample_batch b;
	struct recording r;
	struct err err;

	(void)state;
	recording_init(&r, 1, false);
	r.totals = want;
	recording_close(&r, recording_open(&r));
	assert_int_equal(segment_open(r.path, &s, &err), 0);
	assert_int_equal(segment_totals(s)->target_status, -1);
	assert_int_equal(segment_next(s, COLUMN_ALL, &b, &err), 1);
	assert_int_equal(segment_next(s, COLUMN_ALL, &b, &err), 1);
	assert_true(segment_totals(s)->samples == want.samples);
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

static void only_what_is_asked_for_is_decoded(void **state)
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
		assert_int_equal(segment_open(r.path, &s, &err), 0);
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

/* The writer is not disturbed by a dict of more than one block of everything. */
static void a_large_dict_comes_back(void **state)
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

/* The bytes that stacks of functions take which call few others each; `stray`: there is a frame
 * before that no stack has, so that frames are told apart from stacks. */
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
		uint64_t place =
			callees % 10000000 * 64 + recording_random(&r) % 3 * 16;

		(void)dict_stack(&r.dict, parent, dict_frame(&r.dict, image, place));
	}
	w = recording_open(&r);
	recording_add(&r, w, 100);
	recording_close(&r, w);
	expect_whole(&r);
	assert_int_equal(stat(r.path, &st), 0);
	recording_done(&r);
	return (uint64_t)st.st_size;
}

static void stacks_are_told_by_their_calls(void **state)
{
	(void)state;
	assert_true(bytes_of_calls(false) < bytes_of_calls(true) * 3 / 4);
}

/* A section of one entry that says a million are before it, and has nothing to say of its own. */
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

/* No file fills the memory with what it leaves out. */
static void holes_are_not_believed_without_end(void **state)
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

/* A section knows nothing of the one before, which may have been of more frames. */
static void each_section_of_calls_begins_anew(void **state)
{
	struct image image = { .kind = IMAGE_FILE };
	struct dict_calls c = { 0 };
	struct call_words words;
	struct dict d;

	(void)state;
	assert_int_equal(dict_init(&d), 0);
	assert_int_equal(dict_image(&d, &image), 0);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(dict_frame(&d, 0, 100 + i), i);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(dict_calls_begin(&c, &d, 0, turn ? 2 : 3), 0);
		assert_int_equal(dict_calls_tell(&c, STACK_ROOT, 0, &words), 0);
		assert_int_equal(words.how, 0);
		assert_int_equal(words.image, 1);
		assert_int_equal(words.offset, 200); /* zigzag, from 0 on */
		assert_int_equal(dict_calls_tell(&c, STACK_ROOT, 0, &words), 0);
		assert_int_equal(words.how, 1);
		assert_int_equal(dict_calls_tell(&c, STACK_ROOT, 1, &words), 0);
		assert_int_equal(words.image, 0);
		assert_int_equal(words.offset, 2);
	}
	dict_calls_done(&c);
	dict_done(&d);
}

/* Words that lead to nothing are refused. */
static void wrong_calls_are_refused(void **state)
{
	static const struct call_words rows[] = {
		{ 1, 0, 0 },                   /* nothing was behind the root */
		{ CALLS_RECENT, 0, 0 },        /* ... */
		{ CALLS_RECENT + 4, 0, 0 },    /* a frame below 0 */
		{ UINT64_MAX, 0, 0 },          /* ... */
		{ 0, 0, 0 },                   /* the image of nothing */
		{ 0, 2, 0 },                   /* no such image */
		{ 0, UINT64_MAX, UINT64_MAX }, /* ... */
	};
	struct image image = { .kind = IMAGE_FILE };
	struct dict_calls c = { 0 };
	struct frame frame;
	struct dict d;
	uint32_t number;

	(void)state;
	assert_int_equal(dict_init(&d), 0);
	assert_int_equal(dict_image(&d, &image), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(dict_calls_begin(&c, &d, 3, 8), 0);
		assert_int_equal(
			dict_calls_take(&c, STACK_ROOT, &rows[i], &number, &frame),
			-EBADMSG);
	}
	/* Callers that are not there. */
	assert_int_equal(dict_calls_begin(&c, &d, 3, 8), 0);
	assert_int_equal(dict_calls_take(&c, STACK_FIRST,
					 &(struct call_words){ 0, 1, 0 }, &number,
					 &frame),
			 -EBADMSG);
	assert_int_equal(dict_calls_take(&c, STACK_ROOT,
					 &(struct call_words){ 0, 1, 0 }, &number,
					 &frame),
			 0);
	assert_int_equal(number, 3);
	assert_int_equal(frame.image, 0);
	dict_calls_done(&c);
	dict_done(&d);
}

static void times_are_rounded_when_they_are_old(void **state)
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
	assert_int_equal(segment_open(r.path, &s, NULL), 0);
	while (!segment_next(s, COLUMN_ALL, &b, NULL))
		for (size_t i = 0; i < b.nr; i++, nr++)
			assert_int_equal(b.time_ns[i],
					 r.samples[nr].time_ns / 10000 * 10000);
	assert_int_equal(nr, 3000);
	segment_close(s);
	recording_done(&r);
}

/* The file grows by whole flushes or not at all, and what failed comes with the next. */
static void a_full_disk_loses_nothing(void **state)
{
	struct rlimit old;
	struct rlimit limit;
	struct recording r;
	struct segment_writer *w;
	struct err err = { 0 };
	struct stat st;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	recording_init(&r, 21, true);
	w = recording_open(&r);
	recording_add(&r, w, 500);
	recording_flush(&r, w);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	for (uint64_t room = 0; room < 3000; room += 997) {
		uint64_t before = segment_writer_bytes(w);

		limit = old;
		limit.rlim_cur = before + room;
		recording_add(&r, w, 400);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		for (int turn = 0; turn < 3; turn++)
			assert_int_equal(segment_writer_flush(w, &r.totals, &err),
					 -EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_int_equal(err.code, -EFBIG);
		assert_int_equal(stat(r.path, &st), 0);
		assert_true((uint64_t)st.st_size == before);
		assert_true(segment_writer_bytes(w) == before);
		assert_int_equal(segment_writer_pending(w), 400);
		recording_flush(&r, w);
	}
	recording_close(&r, w);
	expect_whole(&r);
	recording_done(&r);
}

static void an_existing_file_is_not_overwritten(void **state)
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

/* Writes, flushing twice, and reads back; the first error. */
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
		ret = segment_open(r->path, &s, NULL);
	while (!ret && !(ret = segment_next(s, COLUMN_ALL, &b, NULL)))
		nr += b.nr;
	segment_close(s);
	if (ret == 1)
		assert_int_equal(nr, r->nr);
	return ret;
}

static void short_memory_is_told(void **state)
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
		cmocka_unit_test(samples_come_back),
		cmocka_unit_test(extreme_samples_come_back),
		cmocka_unit_test(totals_come_back),
		cmocka_unit_test(old_totals_are_read),
		cmocka_unit_test(only_what_is_asked_for_is_decoded),
		cmocka_unit_test(a_large_dict_comes_back),
		cmocka_unit_test(stacks_are_told_by_their_calls),
		cmocka_unit_test(wrong_calls_are_refused),
		cmocka_unit_test(each_section_of_calls_begins_anew),
		cmocka_unit_test(holes_are_not_believed_without_end),
		cmocka_unit_test(times_are_rounded_when_they_are_old),
		cmocka_unit_test(a_full_disk_loses_nothing),
		cmocka_unit_test(a_segment_is_read_while_it_is_written),
		cmocka_unit_test(a_segment_ends_while_it_is_read),
		cmocka_unit_test(an_existing_file_is_not_overwritten),
		cmocka_unit_test(short_memory_is_told),
	};

	return UNIT_RUN(cases);
}
