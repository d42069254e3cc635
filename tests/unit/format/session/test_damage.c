/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads segment files that were cut or changed, or that lack a block. */
#include "format/session/session.h"

#include <errno.h>

#include "base/files/io.h"
#include "recording.h"

enum {
	TAIL_BYTES = 64 * 1024,
	RANDOM_CUTS = 1000,
	FLUSHES_MAX = 64,
	BLOCK_HEADER = 24,
	BLOCK_DICT = 2,
	BLOCK_SAMPLES = 3
};

/* A recording on disk, its bytes, and the end of each flush. */
struct file {
	struct recording r;
	struct buf bytes;
	size_t nr_flushes;
	uint64_t end[FLUSHES_MAX];   /* size of the file after a flush */
	size_t samples[FLUSHES_MAX]; /* samples in the file then */
};

static void read_back(struct file *f)
{
	assert_int_equal(io_read_file(f->r.path, &f->bytes, SIZE_MAX), 0);
}

/* Strings that do not compress make a file long, but quick to read. */
static void add_ballast(struct file *f, size_t len)
{
	char *string = malloc(len + 1);

	assert_non_null(string);
	for (size_t i = 0; i < len; i++)
		string[i] = (char)(1 + recording_random(&f->r) % 255);
	string[len] = '\0';
	assert_int_not_equal(dict_string(&f->r.dict, string), DICT_NONE);
	free(string);
}

/* The file is sealed: set by the tests that run twice. */
static bool sealed;

static void make_file(struct file *f, bool wild, size_t nr_flushes, size_t per_flush,
		      size_t ballast_bytes)
{
	struct segment_writer *w;

	memset(f, 0, sizeof(*f));
	recording_init(&f->r, 4711, wild);
	f->r.sealed = sealed;
	w = recording_open(&f->r);
	for (size_t i = 0; i < nr_flushes; i++) {
		if (ballast_bytes)
			add_ballast(f, ballast_bytes);
		recording_add(&f->r, w, per_flush);
		recording_flush(&f->r, w);
		f->end[i] = segment_writer_bytes(w);
		f->samples[i] = f->r.nr;
	}
	f->nr_flushes = nr_flushes;
	recording_close(&f->r, w);
	read_back(f);
}

static void free_file(struct file *f)
{
	buf_done(&f->bytes);
	recording_done(&f->r);
}

/* Returns how many samples the first `len` bytes give; they must be the recording's first ones. */
static size_t samples_of_prefix(struct file *f, int fd, size_t len)
{
	struct segment *s;
	struct err err;
	size_t nr;
	int r;

	assert_int_equal(ftruncate(fd, (off_t)len), 0);
	r = segment_open_fd(dup(fd), &s, &err);
	if (r) {
		assert_int_equal(r, -EBADMSG);
		return 0;
	}
	nr = recording_expect(&f->r, s);
	assert_int_equal(segment_damage(s)->bad_blocks, 0);
	assert_int_equal(segment_damage(s)->bad_samples, 0);
	assert_true(segment_damage(s)->unfinished == (len < f->bytes.len));
	segment_close(s);
	return nr;
}

static size_t flushed_before(const struct file *f, size_t len)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->nr_flushes && f->end[i] <= len; i++)
		nr = f->samples[i];
	return nr;
}

static void each_byte_of_the_tail_may_be_cut(void **state)
{
	struct file f;
	size_t last;
	int fd;

	(void)state;
	make_file(&f, true, 24, 10, 2500);
	assert_true(f.bytes.len > TAIL_BYTES);
	fd = io_open(f.r.path, O_RDWR, 0);
	assert_true(fd >= 0);
	last = f.r.nr;
	assert_int_equal(samples_of_prefix(&f, fd, f.bytes.len), last);
	for (size_t cut = 1; cut <= TAIL_BYTES; cut++) {
		size_t len = f.bytes.len - cut;
		size_t nr = samples_of_prefix(&f, fd, len);

		assert_true(nr <= last);
		assert_true(nr >= flushed_before(&f, len));
		last = nr;
	}
	assert_true(last < f.r.nr / 4); /* so most of it was tried */
	close(fd);
	free_file(&f);
}

static void any_position_may_be_cut(void **state)
{
	struct file f;
	int fd;

	(void)state;
	make_file(&f, false, 30, 400, 0);
	fd = io_open(f.r.path, O_RDWR, 0);
	assert_true(fd >= 0);
	for (int i = 0; i < RANDOM_CUTS; i++) {
		size_t len = recording_random(&f.r) % f.bytes.len;
		size_t nr;

		/* Write the file again: a truncation does not bring bytes back. */
		assert_int_equal(pwrite(fd, f.bytes.data, len, 0), len);
		nr = samples_of_prefix(&f, fd, len);
		assert_true(nr >= flushed_before(&f, len));
		assert_true(nr <= flushed_before(&f, len) + 400);
	}
	close(fd);
	free_file(&f);
}

static void all_prefixes_of_a_small_file_are_harmless(void **state)
{
	struct file f;
	size_t last;
	int fd;

	(void)state;
	make_file(&f, false, 3, 20, 0);
	fd = io_open(f.r.path, O_RDWR, 0);
	assert_true(fd >= 0);
	last = f.r.nr;
	for (size_t len = f.bytes.len; len-- > 0;) {
		size_t nr = samples_of_prefix(&f, fd, len);

		assert_true(nr <= last && nr >= flushed_before(&f, len));
		last = nr;
	}
	assert_int_equal(last, 0);
	close(fd);
	free_file(&f);
}

static bool same_stack(const struct dict *got, uint32_t a, const struct dict *want,
		       uint32_t b)
{
	while (a >= STACK_FIRST && b >= STACK_FIRST) {
		const struct frame *x = &got->frames.at[got->stacks.at[a].frame];
		const struct frame *y = &want->frames.at[want->stacks.at[b].frame];

		if (x->offset != y->offset || x->image != y->image)
			return false;
		a = got->stacks.at[a].parent;
		b = want->stacks.at[b].parent;
	}
	/* The callers can be lost, but then the stack must be marked. */
	return a == b || a == STACK_TRUNCATED;
}

/* Checks that a sample from a damaged file is one of the recording (whose times are in order
 * and all different), except for fields that are marked as lost. */
static void expect_true(const struct file *f, const struct dict *d,
			const struct sample_batch *b, size_t i)
{
	size_t number = b->time_ns[i] / 1000000 - 1;
	const struct sample *want;

	assert_true(number < f->r.nr);
	want = &f->r.samples[number];
	assert_true(b->time_ns[i] == want->time_ns);
	assert_true(b->period[i] == want->period);
	assert_int_equal(b->cpu[i], want->cpu);
	assert_true(b->thread[i] == want->thread || b->thread[i] == DICT_NONE);
	if (b->thread[i] != DICT_NONE)
		assert_int_equal(d->threads.at[b->thread[i]].pid,
				 f->r.dict.threads.at[want->thread].pid);
	assert_true(b->event[i] == want->event || b->event[i] == DICT_NONE);
	assert_true(b->stack[i] == DICT_NONE ||
		    same_stack(d, b->stack[i], &f->r.dict, want->stack));
}

struct outcome {
	bool opened;
	size_t nr;
	struct segment_damage damage;
};

/* Reads the current bytes of the file. */
static struct outcome read_damaged(const struct file *f, int fd)
{
	struct outcome out = { 0 };
	struct segment *s;
	struct sample_batch b;
	struct err err;
	int r;

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, f->bytes.data, f->bytes.len, 0), f->bytes.len);
	r = segment_open_fd(dup(fd), &s, &err);
	if (r) {
		assert_true(r == -EBADMSG || r == -EPROTONOSUPPORT);
		return out;
	}
	out.opened = true;
	while (!(r = segment_next(s, COLUMN_ALL, &b, &err))) {
		for (size_t i = 0; i < b.nr; i++)
			expect_true(f, segment_dict(s), &b, i);
		out.nr += b.nr;
	}
	assert_int_equal(r, 1);
	out.damage = *segment_damage(s);
	segment_close(s);
	return out;
}

static void each_byte_may_flip(void **state)
{
	struct file f;
	int fd;

	(void)state;
	make_file(&f, false, 6, 20, 0);
	fd = io_open(f.r.path, O_RDWR, 0);
	assert_true(fd >= 0);
	for (size_t i = 0; i < f.bytes.len; i++) {
		uint8_t was = f.bytes.data[i];

		for (int turn = 0; turn < 2; turn++) {
			struct outcome out;

			f.bytes.data[i] = (uint8_t)(was ^ (turn ? 0xff : 1 << i % 8));
			out = read_damaged(&f, fd);
			if (!out.opened)
				continue;
			/* One block is lost, and the loss is reported. */
			assert_true(out.damage.bad_blocks == 1 || out.damage.cut_bytes);
			assert_true(out.nr >= f.r.nr - 20);
		}
		f.bytes.data[i] = was;
	}
	close(fd);
	free_file(&f);
}

/* Returns the offset of the n-th block of a type, relying on the lengths of the blocks before
 * it. */
static size_t find_block(const struct file *f, uint8_t type, int n)
{
	size_t at = 32;

	while (at + BLOCK_HEADER <= f->bytes.len) {
		const uint8_t *h = f->bytes.data + at;

		if (h[4] == type && n-- == 0)
			return at;
		at += BLOCK_HEADER + (h[8] | h[9] << 8 | (size_t)h[10] << 16);
	}
	fail_msg("no such block");
	return 0;
}

/* The remaining blocks are valid: only the totals show the loss. */
static void a_block_of_samples_that_was_cut_out_is_missed(void **state)
{
	struct outcome out;
	struct file f;
	int fd;

	(void)state;
	make_file(&f, false, 6, 200, 0);
	fd = io_open(f.r.path, O_RDWR, 0);
	assert_true(fd >= 0);
	out = read_damaged(&f, fd);
	assert_int_equal(out.nr, f.r.nr);
	assert_int_equal(out.damage.missing_samples, 0);
	for (int n = 5; n >= 0; n -= 5) {
		size_t at = find_block(&f, BLOCK_SAMPLES, n);
		const uint8_t *h = f.bytes.data + at;
		size_t len = BLOCK_HEADER + (h[8] | h[9] << 8 | (size_t)h[10] << 16);

		f.bytes.len -= len;
		memmove(f.bytes.data + at, f.bytes.data + at + len, f.bytes.len - at);
	}
	out = read_damaged(&f, fd);
	assert_int_equal(out.nr, f.r.nr - 400);
	assert_int_equal(out.damage.missing_samples, 400);
	assert_int_equal(out.damage.bad_blocks, 0);
	assert_false(out.damage.unfinished);
	assert_true(segment_damage_any(&out.damage));
	close(fd);
	free_file(&f);
}

static void a_lost_dict_block_leaves_holes(void **state)
{
	struct outcome out;
	struct file f;
	int fd;

	(void)state;
	make_file(&f, false, 6, 200, 0);
	fd = io_open(f.r.path, O_RDWR, 0);
	assert_true(fd >= 0);
	f.bytes.data[find_block(&f, BLOCK_DICT, 2) + BLOCK_HEADER + 5] ^= 1;
	out = read_damaged(&f, fd);
	assert_int_equal(out.damage.bad_blocks, 1);
	assert_int_equal(out.nr, f.r.nr); /* no numbers shift; some refer to nothing */
	assert_true(out.damage.bad_samples > 0);
	/* In the sealed form, entries that refer to earlier ones lose more. */
	assert_true(out.damage.bad_samples < (sealed ? f.r.nr : f.r.nr / 2));
	/* The very first block: every sample lacks something. */
	f.bytes.data[find_block(&f, BLOCK_DICT, 0) + BLOCK_HEADER + 5] ^= 1;
	out = read_damaged(&f, fd);
	assert_int_equal(out.damage.bad_blocks, 2);
	assert_int_equal(out.nr, f.r.nr);
	close(fd);
	free_file(&f);
}

/* Stacks that are stored as callees of stacks in the lost block: the blocks after it can still
 * be read. */
static void lost_callers_lose_no_block(void **state)
{
	struct outcome out;
	struct file f;
	int fd;

	(void)state;
	make_file(&f, false, 6, 3000, 0);
	fd = io_open(f.r.path, O_RDWR, 0);
	assert_true(fd >= 0);
	f.bytes.data[find_block(&f, BLOCK_DICT, 1) + BLOCK_HEADER + 5] ^= 1;
	out = read_damaged(&f, fd);
	assert_int_equal(out.damage.bad_blocks, 1);
	assert_int_equal(out.nr, f.r.nr);
	assert_true(out.damage.bad_samples > 0);
	assert_true(out.damage.bad_samples < f.r.nr);
	close(fd);
	free_file(&f);
}

/* Removes, duplicates or swaps whole blocks: the bytes are valid, so the numbers must reveal
 * it. */
static void missing_and_doubled_blocks_are_harmless(void **state)
{
	struct outcome out;
	struct file f;
	size_t at;
	size_t len;
	int fd;

	(void)state;
	make_file(&f, false, 6, 50, 0);
	fd = io_open(f.r.path, O_RDWR, 0);
	assert_true(fd >= 0);
	at = find_block(&f, BLOCK_SAMPLES, 2);
	len = find_block(&f, BLOCK_DICT, 3) - at;
	memmove(f.bytes.data + at, f.bytes.data + at + len, f.bytes.len - at - len);
	f.bytes.len -= len;
	out = read_damaged(&f, fd);
	assert_int_equal(out.nr, f.r.nr - 50);
	at = find_block(&f, BLOCK_DICT, 3);
	len = find_block(&f, BLOCK_SAMPLES, 2) - at;
	assert_true(buf_reserve(&f.bytes, len));
	memmove(f.bytes.data + at + len, f.bytes.data + at, f.bytes.len - at);
	f.bytes.len += len;
	out = read_damaged(&f, fd);
	assert_int_equal(out.nr, f.r.nr - 50);
	assert_int_equal(out.damage.bad_blocks, 1);
	close(fd);
	free_file(&f);
}

static void garbage_between_blocks_is_stepped_over(void **state)
{
	static const uint8_t garbage[] = { 0xd3, 'O', 'P', 'B', 0xd3, 'O', 0xd3, 'O',
					   'P',  'B', 3,   0,   0,    0,   9,    0,
					   0,    0,   1,   2,   3,    4,   5,    6 };
	struct outcome out;
	struct file f;
	size_t at;
	int fd;

	(void)state;
	make_file(&f, false, 4, 50, 0);
	fd = io_open(f.r.path, O_RDWR, 0);
	assert_true(fd >= 0);
	at = find_block(&f, BLOCK_SAMPLES, 1);
	assert_true(buf_reserve(&f.bytes, sizeof(garbage)));
	memmove(f.bytes.data + at + sizeof(garbage), f.bytes.data + at,
		f.bytes.len - at);
	memcpy(f.bytes.data + at, garbage, sizeof(garbage));
	f.bytes.len += sizeof(garbage);
	out = read_damaged(&f, fd);
	assert_int_equal(out.nr, f.r.nr);
	assert_true(out.damage.bad_blocks > 0);
	assert_int_equal(out.damage.bad_samples, 0);
	assert_false(out.damage.unfinished);
	/* Bytes after the end do not count as a lost block. */
	at = f.bytes.len;
	buf_put(&f.bytes, garbage, sizeof(garbage));
	out = read_damaged(&f, fd);
	assert_int_equal(out.damage.cut_bytes, f.bytes.len - at);
	close(fd);
	free_file(&f);
}

static void rejects_other_files(void **state)
{
	struct segment *s = NULL;
	struct err err = { 0 };
	struct file f;

	(void)state;
	make_file(&f, false, 1, 5, 0);
	assert_int_equal(segment_open("/dev/null", TRUST_ANY, &s, &err), -EBADMSG);
	assert_int_equal(segment_open("/", TRUST_ANY, &s, &err), -EBADMSG);
	assert_int_equal(segment_open("/no/such/file", TRUST_ANY, &s, &err), -ENOENT);
	assert_int_equal(truncate(f.r.path, 0), 0);
	assert_int_equal(segment_open(f.r.path, TRUST_ANY, &s, &err), -EBADMSG);
	f.bytes.data[0]++;
	assert_int_equal(io_write_file(f.r.path, f.bytes.data, f.bytes.len, 0644), 0);
	assert_int_equal(segment_open(f.r.path, TRUST_ANY, &s, &err), -EBADMSG);
	assert_null(s);
	f.bytes.data[0]--;
	f.bytes.data[8]++; /* a future version, with the checksum that it then has */
	for (uint64_t sum = hash_bytes(f.bytes.data, 24, 0), i = 0; i < 8; i++)
		f.bytes.data[24 + i] = (uint8_t)(sum >> (8 * i));
	assert_int_equal(io_write_file(f.r.path, f.bytes.data, f.bytes.len, 0644), 0);
	assert_int_equal(segment_open(f.r.path, TRUST_ANY, &s, &err), -EPROTONOSUPPORT);
	free_file(&f);
}

static int seal(void **state)
{
	(void)state;
	sealed = true;
	return 0;
}

static int unseal(void **state)
{
	(void)state;
	sealed = false;
	return 0;
}

/* Runs a test twice: on a recorded file, and on a sealed one. */
#define BOTH(test)                                                                     \
	cmocka_unit_test(test),                                                        \
	{                                                                              \
#test "_sealed", test, seal, unseal, NULL                              \
	}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		BOTH(each_byte_of_the_tail_may_be_cut),
		BOTH(any_position_may_be_cut),
		BOTH(all_prefixes_of_a_small_file_are_harmless),
		BOTH(each_byte_may_flip),
		BOTH(a_block_of_samples_that_was_cut_out_is_missed),
		BOTH(a_lost_dict_block_leaves_holes),
		BOTH(lost_callers_lose_no_block),
		BOTH(missing_and_doubled_blocks_are_harmless),
		BOTH(garbage_between_blocks_is_stepped_over),
		cmocka_unit_test(rejects_other_files),
	};

	return UNIT_RUN(cases);
}
