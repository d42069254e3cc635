/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recording.h - a made-up recording that the session tests write and read back. The same seed
 * gives the same samples. */
#pragma once
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/hash.h"
#include "base/err.h"
#include "format/session/session.h"
#include "unit.h"

enum {
	RECORDING_SAMPLES_MAX = 200000,
	/* All times of a sealed recording are multiples of it. */
	RECORDING_SEALED_UNIT_NS = 400,
	RECORDING_PATH_MAX = 256
};

struct recording {
	struct dict dict;
	struct session_totals totals;
	uint64_t seed;
	bool wild; /* values anywhere in their range, not like a real recording */
	bool sealed; /* sealed, as the daemon rewrites finished segments; set by the test */
	size_t nr;
	struct sample *samples; /* all samples passed to the writer, in that form */
	char dir[RECORDING_PATH_MAX];
	char path[RECORDING_PATH_MAX + 16];
};

static const struct session_info recording_info = {
	.tool_version = "1.2.3",
	.hostname = "host",
	.os_release = "6.1.0",
	.machine = "x86_64",
	.cpu_desc = "A \"CPU\"",
	.boot_id = "0-1-2",
	.command = "operf 'a b'",
	.vmlinux = "",
	.kernel_build_id = { .len = 4, .bytes = { 1, 2, 3, 4 } },
	.cpu_mhz = 2399.998,
	.nr_cpus_online = 64,
	.flags = SESSION_64BIT | SESSION_SYSTEM_WIDE,
	.clock_id = -7,
	.start_ns = 123456789,
	.start_wall_ns = 1700000000000000000,
};

static inline uint64_t recording_random(struct recording *r)
{
	r->seed += 0x9e3779b97f4a7c15ULL;
	return hash_u64(r->seed);
}

static inline void recording_init(struct recording *r, uint64_t seed, bool wild)
{
	*r = (struct recording){ .seed = seed, .wild = wild };
	assert_int_equal(dict_init(&r->dict), 0);
	r->samples = calloc(RECORDING_SAMPLES_MAX, sizeof(*r->samples));
	assert_non_null(r->samples);
	snprintf(r->dir, sizeof(r->dir), "%s/segment-test-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(r->dir));
	snprintf(r->path, sizeof(r->path), "%s/segment-000001", r->dir);
	r->totals.target_status = -1;
	for (uint32_t i = 0; i < 2; i++) {
		struct event_desc event = {
			.name = dict_string(&r->dict, i ? "page-faults" : "TIMER"),
			.about = dict_string(&r->dict, "what it counts"),
			.type = 1,
			.config = ~0ULL - i,
			.flags = EVENT_USER,
			.count = 1 + i,
			.frequency_hz = 999,
			.unit_mask = 7,
		};

		assert_int_equal(dict_event(&r->dict, &event), i);
	}
}

static inline void recording_done(struct recording *r)
{
	dict_done(&r->dict);
	free(r->samples);
	unlink(r->path);
	rmdir(r->dir);
}

static inline uint32_t recording_image(struct recording *r, uint64_t n)
{
	char name[64];
	struct image image = {
		.kind = IMAGE_FILE + (enum image_kind)(n % (IMAGE_COUNT - 1)),
		.dev = n,
		.inode = n * n,
		.inode_gen = n * 3,
		.mtime_ns = ~n,
		.file_bytes = n << 20,
		.start = n << 40,
		.end = ~0ULL - n,
		.pid = (int32_t)n - 3,
		.ref_address = n << 33 ^ 5,
	};

	snprintf(name, sizeof(name), "/usr/lib/lib%d.so", (int)n);
	image.name = dict_string(&r->dict, name);
	image.ref_name = n % 3 ? dict_string(&r->dict, "_stext") : 0;
	image.build_id.len = (uint8_t)(n % (BUILD_ID_MAX + 1));
	memset(image.build_id.bytes, (int)n, image.build_id.len);
	return dict_image(&r->dict, &image);
}

static inline uint32_t recording_thread(struct recording *r, uint64_t n)
{
	struct thread thread = {
		.pid = (int32_t)n - 1,
		.tid = (int32_t)(n + n % 3),
		.ns_pid = (int32_t)n,
		.ns_tid = 1,
		.comm = dict_string(&r->dict, n % 2 ? "cc1" : "sh"),
		.app = n % 5 ? recording_image(r, n % 7) : DICT_NONE,
		.cgroup = dict_string(&r->dict, "/user"),
		.flags = n % 2,
		.start_ns = n << 30,
	};

	return dict_thread(&r->dict, &thread);
}

static inline uint32_t recording_stack(struct recording *r)
{
	uint32_t stack = (uint32_t)(recording_random(r) % STACK_FIRST);
	unsigned int depth = (unsigned int)(recording_random(r) % 5);

	while (depth--) {
		uint64_t x = recording_random(r);
		uint32_t image = recording_image(r, x % 20);
		uint64_t offset = r->wild ? x : (x >> 20) % 300;

		stack = dict_stack(&r->dict, stack,
				   dict_frame(&r->dict, image, offset));
	}
	return stack;
}

/* Adds `nr` samples to the recording, and to `w` if there is one. */
static inline void recording_add(struct recording *r, struct segment_writer *w,
				 size_t nr)
{
	assert_true(r->nr + nr <= RECORDING_SAMPLES_MAX);
	for (size_t i = 0; i < nr; i++) {
		struct sample *s = &r->samples[r->nr];
		uint64_t x = recording_random(r);

		/* Each sample has a different time, which identifies it. */
		s->time_ns = 1000000 * (r->nr + 1) + x % 2000 * 400;
		s->period = r->wild ? x : 1001001;
		if (r->wild)
			s->time_ns = x / 400 * 400;
		s->cpu = r->wild ? (uint32_t)x : (uint32_t)(i * 2 / nr);
		s->thread = recording_thread(r, r->wild ? x % 5000 : r->nr / 50);
		s->event = x % 50 == 0;
		s->stack = recording_stack(r);
		r->nr++;
		if (w)
			assert_int_equal(segment_writer_add(w, s), 0);
	}
	r->totals.samples = r->nr;
}

static inline struct segment_writer *recording_open(struct recording *r)
{
	struct segment_writer *w = NULL;
	struct err err = { 0 };

	assert_int_equal(
		segment_writer_open(r->path, &recording_info, &r->dict, &w, &err), 0);
	if (r->sealed)
		segment_writer_coarsen(w, RECORDING_SEALED_UNIT_NS);
	return w;
}

static inline void recording_flush(struct recording *r, struct segment_writer *w)
{
	struct err err;

	assert_int_equal(segment_writer_flush(w, &r->totals, &err), 0);
	assert_int_equal(segment_writer_pending(w), 0);
}

static inline void recording_close(struct recording *r, struct segment_writer *w)
{
	struct err err;

	r->totals.finished = true;
	assert_int_equal(segment_writer_close(w, &r->totals, &err), 0);
}

/* Returns whether sample `i` of a batch with all columns is equal to `want`. */
static inline bool batch_is(const struct sample_batch *b, size_t i,
			    const struct sample *want)
{
	return b->time_ns[i] == want->time_ns / 100 * 100 &&
	       b->period[i] == want->period && b->thread[i] == want->thread &&
	       b->event[i] == want->event && b->stack[i] == want->stack &&
	       b->cpu[i] == want->cpu;
}

/* Reads the rest of a segment, whose samples must be the recording's first ones. Returns their
 * number. */
static inline size_t recording_expect(const struct recording *r, struct segment *s)
{
	struct sample_batch b;
	struct err err;
	size_t nr = 0;
	int ret;

	while (!(ret = segment_next(s, COLUMN_ALL, &b, &err))) {
		assert_true(b.nr <= r->nr - nr);
		for (size_t i = 0; i < b.nr; i++)
			if (!batch_is(&b, i, &r->samples[nr + i]))
				fail_msg("sample %zu differs", nr + i);
		nr += b.nr;
	}
	assert_int_equal(ret, 1);
	return nr;
}
