/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts samples to records and, through decoder and resolver, back again. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "resolve/replay/resolver.h"
#include "resolve/unresolve/unresolve.h"

enum {
	IMAGES = 9,
	EVENTS = 2,
	STEPS = 3000,
	TEXT = 512
};

#define KERNEL_START 0xffffffff81000000ULL
#define MODULE_START 0xffffffffc0400000ULL
#define BPF_START 0xffffffffc0900000ULL

/* Feeds the output of an unresolve into a resolver. */
struct world {
	struct dict dict; /* given */
	struct unresolve *unresolve;
	struct unresolve_ops write;
	struct dict found; /* filled by the resolver */
	struct decoder decoder;
	struct resolver_ops ops;
	struct resolver *resolver;
	char last[TEXT];     /* the last sample, from the resolver */
	char band[4 * TEXT]; /* side-band records since the last sample, in short */
	size_t nr_records;
	bool refuse; /* -EIO from write */
};

/* "comm pid/tid cgroup cpu time period event: kind image+0xoffset ...". */
static void describe(const struct dict *d, const struct sample *s, char *out)
{
	const struct thread *t = &d->threads.at[s->thread];
	int len = snprintf(out, TEXT,
			   "%s %d/%d %s %d %llu %llu %u:", dict_str(d, t->comm), t->pid,
			   t->tid, dict_str(d, t->cgroup), (int)s->cpu,
			   (unsigned long long)s->time_ns,
			   (unsigned long long)s->period, s->event);

	for (uint32_t at = s->stack; at >= STACK_FIRST; at = d->stacks.at[at].parent) {
		const struct frame *f = &d->frames.at[d->stacks.at[at].frame];
		const struct image *image = &d->images.at[f->image];

		assert_true(len < TEXT - 100);
		len += snprintf(out + len, TEXT - (size_t)len, " %d %s+0x%llx",
				(int)image->kind, dict_str(d, image->name),
				(unsigned long long)f->offset);
	}
}

static void note_band(struct world *w, const struct record *rec)
{
	size_t len = strlen(w->band);
	char *out = w->band + len;
	size_t room = sizeof(w->band) - len;

	assert_true(room > TEXT);
	if (rec->type == PERF_RECORD_COMM)
		snprintf(out, room, "comm %d/%d %s%s\n", rec->comm.pid, rec->comm.tid,
			 rec->comm.comm, rec->comm.exec ? " exec" : "");
	else if (rec->type == PERF_RECORD_FORK)
		snprintf(out, room, "fork %d/%d of %d\n", rec->task.pid, rec->task.tid,
			 rec->task.ppid);
	else if (rec->type == PERF_RECORD_MMAP2 || rec->type == PERF_RECORD_MMAP)
		snprintf(out, room, "map %d 0x%llx 0x%llx %s\n", rec->mmap.pid,
			 (unsigned long long)rec->mmap.start,
			 (unsigned long long)rec->mmap.pgoff, rec->mmap.path);
	else
		snprintf(out, room, "record %u\n", rec->type);
}

static int take_record(void *ctx, const void *bytes, size_t len)
{
	struct world *w = ctx;
	const struct perf_event_header *h = bytes;
	struct record rec;
	struct sample s;

	assert_int_equal(h->size, len);
	assert_int_equal(len % 8, 0);
	if (w->refuse)
		return -EIO;
	assert_int_equal(decoder_record(&w->decoder, bytes, len, &rec, NULL), 0);
	w->nr_records++;
	if (rec.type != PERF_RECORD_SAMPLE) {
		note_band(w, &rec);
		assert_int_equal(resolver_side_band(w->resolver, &rec), 0);
		return 0;
	}
	assert_int_equal(resolver_sample(w->resolver, &w->decoder, &rec, &s), 0);
	describe(&w->found, &s, w->last);
	return 0;
}

static uint32_t add_image(struct world *w, enum image_kind kind, const char *name,
			  uint64_t start, uint64_t end, int32_t pid)
{
	const struct image image = { .kind = kind,
				     .name = dict_string(&w->dict, name),
				     .start = start,
				     .end = end,
				     .pid = pid,
				     .inode = start };

	return dict_image(&w->dict, &image);
}

static void add_event(struct world *w, uint32_t number, const char *name)
{
	const struct event_desc event = {
		.name = dict_string(&w->dict, name),
		.type = PERF_TYPE_SOFTWARE,
		.config = number,
		.flags = EVENT_USER | EVENT_KERNEL | EVENT_CHAINS,
		.frequency_hz = 999,
	};

	assert_int_equal(dict_event(&w->dict, &event), number);
}

/* Makes the world. Its images by number: 0 and 1 kernel, 2 to 4 files, 5 and 6 memory, 7 BPF, 8
 * unknown. */
static void begin(struct world *w)
{
	*w = (struct world){ .write = { .write = take_record } };
	w->write.ctx = w;
	assert_int_equal(dict_init(&w->dict), 0);
	assert_int_equal(dict_init(&w->found), 0);
	add_event(w, 0, "cycles");
	add_event(w, 1, "faults");
	add_image(w, IMAGE_KERNEL, "[kernel.kallsyms]", KERNEL_START,
		  KERNEL_START + 0x1000000, 0);
	add_image(w, IMAGE_MODULE, "ext4", MODULE_START, MODULE_START + 0x8000, 0);
	add_image(w, IMAGE_FILE, "/bin/a", 0, 0, 0);
	add_image(w, IMAGE_FILE, "/bin/b", 0, 0, 0);
	add_image(w, IMAGE_FILE, "/lib/c.so", 0, 0, 0);
	add_image(w, IMAGE_ANON, "//anon", 0x7000, 0x9000, 5);
	add_image(w, IMAGE_ANON, "//anon", 0x8000, 0xa000, 5);
	add_image(w, IMAGE_BPF, "bpf_prog_x", BPF_START, BPF_START + 0x100, 0);
	add_image(w, IMAGE_UNMAPPED, "[unknown]", 0, 0, 5);
	assert_int_equal(w->dict.images.nr, IMAGES);
	decoder_init(&w->decoder, false);
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct perf_event_attr attr;

		unresolve_attr(&w->dict, i, true, &attr);
		assert_int_equal(decoder_add_attr(&w->decoder, &attr), 0);
		assert_int_equal(decoder_add_id(&w->decoder, unresolve_id(i), i), 0);
	}
	assert_int_equal(resolver_new(&w->found, &w->ops, RESOLVE_CHAINS, &w->resolver),
			 0);
	assert_int_equal(unresolve_new(&w->dict, &w->write, true, &w->unresolve), 0);
}

static void end(struct world *w)
{
	unresolve_free(w->unresolve);
	resolver_free(w->resolver);
	decoder_done(&w->decoder);
	dict_done(&w->dict);
	dict_done(&w->found);
}

static uint32_t stack(struct world *w, uint32_t caller, uint32_t image, uint64_t offset)
{
	return dict_stack(&w->dict, caller, dict_frame(&w->dict, image, offset));
}

static uint32_t thread(struct world *w, int32_t pid, int32_t tid, const char *comm,
		       uint32_t app, uint64_t start_ns)
{
	const struct thread t = {
		.pid = pid,
		.tid = tid,
		.ns_pid = pid,
		.ns_tid = tid,
		.comm = dict_string(&w->dict, comm),
		.cgroup = dict_string(&w->dict, "/a/group"),
		.app = app,
		.start_ns = start_ns,
	};

	return dict_thread(&w->dict, &t);
}

/* Converts a sample and expects it back. */
static void there_and_back(struct world *w, uint64_t time_ns, uint32_t who,
			   uint32_t where)
{
	const struct sample s = { .time_ns = time_ns,
				  .period = time_ns * 3,
				  .thread = who,
				  .event = (uint32_t)(time_ns % EVENTS),
				  .stack = where,
				  .cpu = (uint32_t)(time_ns % 7) - 1 };
	char given[TEXT];

	w->last[0] = 0;
	assert_int_equal(unresolve_sample(w->unresolve, &s), 0);
	describe(&w->dict, &s, given);
	assert_string_equal(w->last, given);
}

/* Expects this side band since the last call. */
static void expect_band(struct world *w, const char *expected)
{
	assert_string_equal(w->band, expected);
	w->band[0] = 0;
}

static void place_kernels(struct world *w)
{
	static const uint32_t machines[IMAGES];

	assert_int_equal(unresolve_kernel(w->unresolve, machines), 0);
}

static void test_each_kind_of_mapping(void **unused)
{
	struct sample gone = { .period = 1 };
	struct world w;
	uint32_t who, user;

	(void)unused;
	begin(&w);
	place_kernels(&w);
	expect_band(&w, "map -1 0xffffffff81000000 0x0 [kernel.kallsyms]\n"
			"map -1 0xffffffffc0400000 0x0 [ext4]\n");
	who = thread(&w, 5, 5, "a", 2, 0);
	user = stack(&w, stack(&w, STACK_ROOT, 2, 0x1234), 4, 0x5678);
	there_and_back(&w, 100, who, user);
	expect_band(&w, "comm 5/5 a exec\n"
			"map 5 0x1000000000000000 0x0 /bin/a\n"
			"comm 5/5 a\n"
			"record 19\n"
			"map 5 0x1000000100000000 0x0 /lib/c.so\n");
	there_and_back(&w, 200, who, stack(&w, stack(&w, user, 0, 0x77), 1, 0x42));
	there_and_back(&w, 300, who, stack(&w, stack(&w, user, 0, 0x77), 7, 0x10));
	expect_band(&w, "record 17\n");
	there_and_back(&w, 400, who, stack(&w, user, 5, 0x1004));
	/* Another mapping overlaps half of this memory while it has samples. */
	there_and_back(&w, 500, who, stack(&w, user, 6, 0x4));
	there_and_back(&w, 600, who, stack(&w, user, 5, 0x1004));
	expect_band(&w, "map 5 0x7000 0x7000 //anon\n"
			"map 5 0x8000 0x8000 //anon\n"
			"map 5 0x7000 0x7000 //anon\n");
	/* The address is more than 4 GiB after the start of the file. */
	there_and_back(&w, 700, who, stack(&w, user, 2, 0x312345678));
	expect_band(&w, "map 5 0x1000000200000000 0x300000000 /bin/a\n");
	/* perf must not find anything at an address that is not mapped any more. */
	gone.thread = who;
	for (gone.time_ns = 800; gone.time_ns < 802; gone.time_ns++) {
		gone.stack = stack(&w, STACK_ROOT, 8, 0x7000 + gone.time_ns);
		assert_int_equal(unresolve_sample(w.unresolve, &gone), 0);
		assert_non_null(strstr(w.last, "[unknown]"));
	}
	expect_band(&w, "map 5 0x7000 0x7000 [unknown]\n");
	end(&w);
}

static void test_reused_pid_and_tid(void **unused)
{
	struct world w;
	uint32_t a, a2, b, leader;

	(void)unused;
	begin(&w);
	a = thread(&w, 5, 5, "a", 2, 0);
	a2 = thread(&w, 5, 6, "worker", 2, 0);
	b = thread(&w, 5, 5, "b", 3, 1000);
	leader = thread(&w, 6, 6, "six", 3, 2000);
	there_and_back(&w, 100, a, stack(&w, STACK_ROOT, 4, 0x10));
	there_and_back(&w, 200, a2, stack(&w, STACK_ROOT, 4, 0x10));
	w.band[0] = 0;
	there_and_back(&w, 1100, b, stack(&w, STACK_ROOT, 4, 0x20));
	/* All mappings are repeated, because perf has dropped them. */
	expect_band(&w, "fork 5/5 of 1\n"
			"comm 5/5 b exec\n"
			"map 5 0x1000000200000000 0x0 /bin/b\n"
			"comm 5/5 b\n"
			"map 5 0x1000000100000000 0x0 /lib/c.so\n");
	there_and_back(&w, 2100, leader, stack(&w, STACK_ROOT, 3, 0x30));
	/* Without the fork record, perf takes process 6 for the former thread of process 5, and
	 * then drops its name. */
	expect_band(&w, "fork 6/6 of 1\n"
			"comm 6/6 six exec\n"
			"map 6 0x1000000200000000 0x0 /bin/b\n"
			"comm 6/6 six\n");
	end(&w);
}

/* Two kernels at the same address, and a module whose address is inside the other kernel. */
static void test_two_machines(void **unused)
{
	const uint32_t machines[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1 };
	struct world w;
	uint32_t kernel, inside, outside, who;

	(void)unused;
	begin(&w);
	kernel = add_image(&w, IMAGE_KERNEL, "[kernel.kallsyms]", KERNEL_START + 0x1000,
			   KERNEL_START + 0x2000, 0);
	inside = add_image(&w, IMAGE_MODULE, "xfs", KERNEL_START, KERNEL_START + 0x800,
			   0);
	outside = add_image(&w, IMAGE_MODULE, "btrfs", 0xffffffffa0000000ULL,
			    0xffffffffa0001000ULL, 0);
	assert_int_equal(unresolve_kernel(w.unresolve, machines), 0);
	expect_band(&w, "map -1 0xffffffff81000000 0x0 [kernel.kallsyms]\n"
			"map -1 0xb000000900000000 0x0 [kernel.9]\n"
			"map -1 0xffffffffc0400000 0x0 [ext4]\n"
			"map -1 0xb000000a00000000 0x0 [xfs]\n"
			"map -1 0xffffffffa0000000 0x0 [btrfs]\n");
	assert_string_equal(unresolve_image_name(w.unresolve, kernel), "[kernel.9]");
	assert_string_equal(unresolve_image_name(w.unresolve, 0), "[kernel.kallsyms]");
	assert_null(unresolve_image_name(w.unresolve, 8));
	who = thread(&w, 0, 0, "swapper", DICT_NONE, 0);
	there_and_back(&w, 100, who, stack(&w, STACK_ROOT, inside, 0x7ff));
	there_and_back(&w, 200, who, stack(&w, STACK_ROOT, outside, 0x10));
	there_and_back(&w, 300, who, stack(&w, STACK_ROOT, 0, 0x10));
	end(&w);
}

/* A kernel of one machine with and without its build-id; and another build at the same address. */
static void test_a_build_id_of_only_some_mappings(void **unused)
{
	static const uint32_t machines[IMAGES + 3];
	struct image image;
	struct world w;
	uint32_t known, other, again, who;

	(void)unused;
	begin(&w);
	image = w.dict.images.at[0];
	image.build_id = (struct build_id){ .len = 20, .bytes = "one" };
	known = dict_image(&w.dict, &image);
	image.build_id = (struct build_id){ .len = 20, .bytes = "two" };
	other = dict_image(&w.dict, &image);
	image.inode = 7;
	again = dict_image(&w.dict, &image);
	assert_int_equal(unresolve_kernel(w.unresolve, machines), 0);
	expect_band(&w, "map -1 0xffffffff81000000 0x0 [kernel.kallsyms]\n"
			"map -1 0xb000000a00000000 0x0 [kernel.10]\n"
			"map -1 0xffffffffc0400000 0x0 [ext4]\n");
	assert_string_equal(unresolve_image_name(w.unresolve, known),
			    "[kernel.kallsyms]");
	assert_string_equal(unresolve_image_name(w.unresolve, other), "[kernel.10]");
	assert_string_equal(unresolve_image_name(w.unresolve, again), "[kernel.10]");
	who = thread(&w, 0, 0, "swapper", DICT_NONE, 0);
	there_and_back(&w, 100, who, stack(&w, STACK_ROOT, known, 0x7ff));
	there_and_back(&w, 200, who, stack(&w, STACK_ROOT, 0, 0x7ff));
	end(&w);
}

/* perf script prints no addresses if all events are dummies. */
static void test_a_tracepoint_is_not_a_dummy_event(void **unused)
{
	struct event_desc event = { .type = PERF_TYPE_TRACEPOINT,
				    .config = 314,
				    .flags = EVENT_KERNEL };
	struct perf_event_attr attr;
	struct world w;

	(void)unused;
	begin(&w);
	event.name = dict_string(&w.dict, "sched:sched_switch");
	unresolve_attr(&w.dict, dict_event(&w.dict, &event), false, &attr);
	assert_int_equal(attr.type, PERF_TYPE_SOFTWARE);
	assert_true(attr.config > PERF_COUNT_SW_MAX);
	end(&w);
}

static uint64_t state = 88172645463325252ULL;

static uint32_t random_below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % n;
}

static uint32_t random_stack(struct world *w, int32_t pid)
{
	uint32_t at = STACK_ROOT;
	uint32_t depth = 1 + random_below(4);

	for (uint32_t i = 0; i < depth; i++)
		at = stack(w, at, 2 + random_below(3), 0x1000 + random_below(50));
	if (pid == 5 && !random_below(3))
		at = stack(w, at, 5 + random_below(2), random_below(0x2000));
	if (!random_below(3))
		at = stack(w, stack(w, at, 0, random_below(0x1000000)), 1,
			   random_below(0x8000));
	return at;
}

/* Few pids, tids and names, so that all of them are reused all the time. */
static void test_random_sessions_survive_a_round_trip(void **unused)
{
	static const char *const comms[] = { "one", "two", ":6", "swapper" };
	struct world w;

	(void)unused;
	begin(&w);
	place_kernels(&w);
	for (uint64_t i = 1; i <= STEPS; i++) {
		int32_t pid = 5 + (int32_t)random_below(3);
		int32_t tid = 5 + (int32_t)random_below(5);
		uint64_t life = i / 40 * 100;
		uint32_t who = thread(&w, pid, tid, comms[random_below(4)],
				      2 + random_below(1 + (i % 40 > 20)), life);

		there_and_back(&w, i * 10, who, random_stack(&w, pid));
		w.band[0] = 0;
	}
	end(&w);
}

static void test_rejects_damaged_input(void **unused)
{
	struct world w;
	struct sample good = { .period = 1 };

	(void)unused;
	begin(&w);
	good.thread = thread(&w, 5, 5, "a", 2, 0);
	good.stack = stack(&w, STACK_ROOT, 2, 0x10);
	for (int i = 0; i < 4; i++) {
		struct sample s = good;
		uint32_t *const fields[] = { &s.event, &s.thread, &s.stack, &s.stack };

		*fields[i] = i == 3 ? STACK_TRUNCATED : DICT_NONE;
		assert_int_equal(unresolve_sample(w.unresolve, &s), -EINVAL);
	}
	assert_int_equal(w.nr_records, 0);
	w.refuse = true;
	assert_int_equal(unresolve_sample(w.unresolve, &good), -EIO);
	end(&w);
}

static int drop(void *ctx, const void *bytes, size_t len)
{
	(void)ctx;
	(void)bytes;
	(void)len;
	return 0;
}

static void test_handles_allocation_failure(void **unused)
{
	static const uint32_t machines[IMAGES];
	const struct unresolve_ops ops = { .write = drop };
	struct sample s = { .time_ns = 5 };
	struct world w;

	(void)unused;
	begin(&w);
	s.thread = thread(&w, 5, 5, "a", 2, 0);
	s.stack = stack(&w, stack(&w, STACK_ROOT, 2, 0x10), 7, 0x10);
	for (unsigned long n = 1;; n++) {
		struct unresolve *u = NULL;
		int r;

		alloc_fail_at(n);
		r = unresolve_new(&w.dict, &ops, true, &u);
		if (!r)
			r = unresolve_kernel(u, machines);
		if (!r)
			r = unresolve_sample(u, &s);
		if (!r)
			r = unresolve_lost(u, 0, 3, 5);
		unresolve_free(u);
		if (!alloc_fail_off())
			break;
		assert_int_equal(r, -ENOMEM);
	}
	end(&w);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(test_each_kind_of_mapping),
		cmocka_unit_test(test_reused_pid_and_tid),
		cmocka_unit_test(test_two_machines),
		cmocka_unit_test(test_a_build_id_of_only_some_mappings),
		cmocka_unit_test(test_a_tracepoint_is_not_a_dummy_event),
		cmocka_unit_test(test_random_sessions_survive_a_round_trip),
		cmocka_unit_test(test_rejects_damaged_input),
		cmocka_unit_test(test_handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}
