/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which thread ran which code over time: exec, fork, reuse of pids and addresses,
 * deferred and early records. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/array.h"
#include "resolve/replay/resolver.h"

struct world {
	struct dict dict;
	struct decoder decoder;
	struct resolver_ops ops;
	struct resolver *resolver;
	int asked;
	size_t maps_lost;   /* processes that lost their mappings */
	uint32_t rewritten; /* how often a file was seen so far */
};

static void ask(void *ctx, int32_t pid)
{
	struct world *w = ctx;

	(void)pid;
	w->asked++;
}

static void begin(struct world *w)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };

	memset(w, 0, sizeof(*w));
	w->ops = (struct resolver_ops){ .unknown_process = ask, .ctx = w };
	decoder_init(&w->decoder, false);
	assert_int_equal(decoder_add_attr(&w->decoder, &attr), 0);
	assert_int_equal(dict_init(&w->dict), 0);
	assert_int_equal(resolver_new(&w->dict, &w->ops, RESOLVE_CHAINS, &w->resolver),
			 0);
}

static void end(struct world *w)
{
	resolver_free(w->resolver);
	dict_done(&w->dict);
	decoder_done(&w->decoder);
}

static void apply(struct world *w, struct record *rec, uint64_t time)
{
	rec->id.time_ns = time;
	rec->id.has_time = true;
	assert_int_equal(resolver_side_band(w->resolver, rec), 0);
}

static void do_mmap(struct world *w, uint64_t time, int32_t pid, uint64_t start,
		    uint64_t len, uint64_t pgoff, const char *path)
{
	struct record rec = { .type = PERF_RECORD_MMAP2 };

	rec.mmap = (struct record_mmap){ .pid = pid,
					 .tid = pid,
					 .start = start,
					 .len = len,
					 .pgoff = pgoff,
					 .prot = PROT_READ | PROT_EXEC,
					 .path = path };
	apply(w, &rec, time);
}

static void do_comm(struct world *w, uint64_t time, int32_t pid, int32_t tid, bool exec,
		    const char *comm)
{
	struct record rec = { .type = PERF_RECORD_COMM };

	rec.comm = (struct record_comm){
		.pid = pid, .tid = tid, .exec = exec, .comm = comm
	};
	apply(w, &rec, time);
}

static void do_task(struct world *w, uint64_t time, uint32_t type, int32_t pid,
		    int32_t ppid, int32_t tid, int32_t ptid)
{
	struct record rec = { .type = type };

	rec.task = (struct record_task){ pid, ppid, tid, ptid, time };
	apply(w, &rec, time);
}

/* Returns "comm image+0xoffset app" of a user sample. */
static const char *at(struct world *w, uint64_t time, int32_t pid, int32_t tid,
		      uint64_t ip)
{
	static char text[256];
	struct record rec = { .type = PERF_RECORD_SAMPLE,
			      .misc = PERF_RECORD_MISC_USER };
	struct sample s;
	const struct thread *thread;
	const struct frame *frame;

	rec.id = (struct record_id){ .pid = pid, .tid = tid, .time_ns = time };
	rec.sample.ip.v = ip;
	assert_int_equal(resolver_sample(w->resolver, &w->decoder, &rec, &s), 0);
	thread = &w->dict.threads.at[s.thread];
	frame = &w->dict.frames.at[w->dict.stacks.at[s.stack].frame];
	snprintf(text, sizeof(text), "%s %s+0x%llx %s",
		 dict_str(&w->dict, thread->comm),
		 dict_str(&w->dict, w->dict.images.at[frame->image].name),
		 (unsigned long long)frame->offset,
		 thread->app == DICT_NONE
			 ? "-"
			 : dict_str(&w->dict, w->dict.images.at[thread->app].name));
	return text;
}

/* Returns "image+0xoffset" of a kernel address. */
static const char *at_kernel(struct world *w, uint64_t ip)
{
	static char text[256];
	struct record rec = { .type = PERF_RECORD_SAMPLE,
			      .misc = PERF_RECORD_MISC_KERNEL };
	const struct frame *frame;
	struct sample s;

	rec.id = (struct record_id){ .pid = 5, .tid = 5, .time_ns = 1000 };
	rec.sample.ip.v = ip;
	assert_int_equal(resolver_sample(w->resolver, &w->decoder, &rec, &s), 0);
	frame = &w->dict.frames.at[w->dict.stacks.at[s.stack].frame];
	snprintf(text, sizeof(text), "%s+0x%llx",
		 dict_str(&w->dict, w->dict.images.at[frame->image].name),
		 (unsigned long long)frame->offset);
	return text;
}

static void start_program(struct world *w, uint64_t time, int32_t pid, const char *comm,
			  const char *path)
{
	do_comm(w, time, pid, pid, true, comm);
	do_mmap(w, time + 1, pid, 0x1000, 0x1000, 0x1000, path);
	do_mmap(w, time + 2, pid, 0x7000, 0x1000, 0, "/lib/ld.so");
}

static void test_exec_chain(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	start_program(&w, 10, 5, "a", "/bin/a");
	start_program(&w, 100, 5, "b", "/bin/b");
	assert_string_equal(at(&w, 50, 5, 5, 0x1010), "a /bin/a+0x1010 /bin/a");
	assert_string_equal(at(&w, 99, 5, 5, 0x7004), "a /lib/ld.so+0x4 /bin/a");
	assert_string_equal(at(&w, 150, 5, 5, 0x1010), "b /bin/b+0x1010 /bin/b");
	/* Between the exec and the mapping of its binary, addresses belong to the new binary. */
	assert_string_equal(at(&w, 100, 5, 5, 0x1010), "b [unknown]+0x1010 /bin/b");
	end(&w);
}

/* The first thread ends, then the other one continues with its tid. */
static void test_exec_of_another_thread(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	start_program(&w, 10, 5, "a", "/bin/a");
	do_task(&w, 20, PERF_RECORD_FORK, 5, 5, 6, 5);
	do_task(&w, 100, PERF_RECORD_EXIT, 5, 5, 5, 5);
	start_program(&w, 101, 5, "b", "/bin/b");
	assert_string_equal(at(&w, 150, 5, 5, 0x1010), "b /bin/b+0x1010 /bin/b");
	resolver_frontier(w.resolver, 5000000000);
	assert_string_equal(at(&w, 5000000001, 5, 5, 0x1010), "b /bin/b+0x1010 /bin/b");
	end(&w);
}

static void test_fork_shares_mappings_until_they_change(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	start_program(&w, 10, 5, "a", "/bin/a");
	do_task(&w, 50, PERF_RECORD_FORK, 6, 5, 6, 5);
	do_mmap(&w, 60, 5, 0x9000, 0x1000, 0, "/lib/parent.so");
	do_mmap(&w, 60, 6, 0x9000, 0x1000, 0, "/lib/child.so");
	assert_string_equal(at(&w, 55, 6, 6, 0x1010), "a /bin/a+0x1010 /bin/a");
	assert_string_equal(at(&w, 55, 6, 6, 0x9000), "a [unknown]+0x9000 /bin/a");
	assert_string_equal(at(&w, 70, 5, 5, 0x9001), "a /lib/parent.so+0x1 /bin/a");
	assert_string_equal(at(&w, 70, 6, 6, 0x9001), "a /lib/child.so+0x1 /bin/a");
	end(&w);
}

/* A child has the name of its parent, if that has one; a placeholder with a tid is not
 * inherited. */
static void test_fork_of_an_unnamed_thread(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	do_task(&w, 10, PERF_RECORD_FORK, 6, 5, 6, 5);
	do_task(&w, 20, PERF_RECORD_FORK, 7, 6, 7, 6);
	assert_string_equal(at(&w, 35, 5, 5, 0x10), ":5 [unknown]+0x10 -");
	assert_string_equal(at(&w, 35, 6, 6, 0x10), ":6 [unknown]+0x10 -");
	assert_string_equal(at(&w, 35, 7, 7, 0x10), ":7 [unknown]+0x10 -");
	do_comm(&w, 40, 6, 6, false, "a");
	do_task(&w, 50, PERF_RECORD_FORK, 9, 6, 9, 6);
	assert_string_equal(at(&w, 55, 9, 9, 0x10), "a [unknown]+0x10 -");
	assert_string_equal(at(&w, 55, 7, 7, 0x10), ":7 [unknown]+0x10 -");
	end(&w);
}

/* Returns the number of the sample's thread in the dict. */
static uint32_t thread_at(struct world *w, uint64_t time, int32_t pid)
{
	struct record rec = { .type = PERF_RECORD_SAMPLE };
	struct sample s;

	rec.id = (struct record_id){ .pid = pid, .tid = pid, .time_ns = time };
	assert_int_equal(resolver_sample(w->resolver, &w->decoder, &rec, &s), 0);
	return s.thread;
}

static const char *comm_of(const struct world *w, uint32_t thread)
{
	return dict_str(&w->dict, w->dict.threads.at[thread].comm);
}

static void test_first_name_applies_to_earlier_samples(void **unused)
{
	struct world w;
	uint32_t before, other, after, first;

	(void)unused;
	begin(&w);
	resolver_name_back(w.resolver);
	before = thread_at(&w, 10, 5);
	other = thread_at(&w, 11, 6);
	assert_string_equal(comm_of(&w, before), ":5");
	do_comm(&w, 20, 5, 5, true, "a");
	assert_string_equal(comm_of(&w, before), "a");
	assert_string_equal(comm_of(&w, thread_at(&w, 12, 5)), "a");
	assert_string_equal(comm_of(&w, other), ":6");
	/* The second name is for later samples, and the pid can be reused. */
	do_comm(&w, 30, 5, 5, false, "b");
	assert_string_equal(comm_of(&w, thread_at(&w, 25, 5)), "a");
	assert_string_equal(comm_of(&w, thread_at(&w, 35, 5)), "b");
	do_task(&w, 40, PERF_RECORD_FORK, 6, 1, 6, 1);
	after = thread_at(&w, 45, 6);
	do_comm(&w, 50, 6, 6, true, "c");
	assert_string_equal(comm_of(&w, other), ":6");
	assert_string_equal(comm_of(&w, after), "c");
	/* A thread other than the first one, which ended without a name, calls exec. */
	first = thread_at(&w, 55, 7);
	do_task(&w, 60, PERF_RECORD_EXIT, 7, 7, 7, 7);
	do_comm(&w, 65, 7, 7, true, "d");
	assert_string_equal(comm_of(&w, first), "d");
	assert_int_equal(resolver_changed(w.resolver), 3);
	end(&w);
}

static void test_library_at_the_same_address(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	start_program(&w, 10, 5, "a", "/bin/a");
	for (uint64_t t = 100; t < 1000; t += 100)
		do_mmap(&w, t, 5, 0x9000, 0x1000, 0,
			t % 200 ? "/lib/odd.so" : "/lib/even.so");
	for (uint64_t t = 100; t < 1000; t += 100)
		assert_string_equal(at(&w, t + 50, 5, 5, 0x9002),
				    t % 200 ? "a /lib/odd.so+0x2 /bin/a"
					    : "a /lib/even.so+0x2 /bin/a");
	/* The newest version remains when history is dropped. */
	resolver_frontier(w.resolver, 2000);
	assert_string_equal(at(&w, 2001, 5, 5, 0x9002), "a /lib/odd.so+0x2 /bin/a");
	end(&w);
}

static void test_pid_reuse(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	start_program(&w, 10, 1, "init", "/bin/init");
	do_task(&w, 20, PERF_RECORD_FORK, 5, 1, 5, 1);
	start_program(&w, 30, 5, "a", "/bin/a");
	do_task(&w, 100, PERF_RECORD_EXIT, 5, 5, 5, 5);
	do_task(&w, 200, PERF_RECORD_FORK, 5, 1, 5, 1);
	assert_string_equal(at(&w, 201, 5, 5, 0x1010),
			    "init /bin/init+0x1010 /bin/init");
	start_program(&w, 210, 5, "b", "/bin/b");
	assert_string_equal(at(&w, 50, 5, 5, 0x1010), "a /bin/a+0x1010 /bin/a");
	assert_string_equal(at(&w, 105, 5, 5, 0x1010), "a /bin/a+0x1010 /bin/a");
	assert_string_equal(at(&w, 250, 5, 5, 0x1010), "b /bin/b+0x1010 /bin/b");
	resolver_frontier(w.resolver, 5000000000);
	assert_string_equal(at(&w, 5000000001, 5, 5, 0x1010), "b /bin/b+0x1010 /bin/b");
	end(&w);
}

static void test_threads_and_names(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	start_program(&w, 10, 5, "main", "/bin/a");
	do_task(&w, 20, PERF_RECORD_FORK, 5, 5, 6, 5);
	do_comm(&w, 30, 5, 6, false, "worker");
	assert_string_equal(at(&w, 25, 5, 6, 0x1000), "main /bin/a+0x1000 /bin/a");
	assert_string_equal(at(&w, 35, 5, 6, 0x1000), "worker /bin/a+0x1000 /bin/a");
	assert_string_equal(at(&w, 35, 5, 5, 0x1000), "main /bin/a+0x1000 /bin/a");
	/* The leader can end first: the process lives as long as any thread. */
	do_task(&w, 40, PERF_RECORD_EXIT, 5, 5, 5, 5);
	resolver_frontier(w.resolver, 3000000000);
	assert_string_equal(at(&w, 3000000000, 5, 6, 0x1000),
			    "worker /bin/a+0x1000 /bin/a");
	end(&w);
}

/* Samples of one thread reuse the result of the last one until a record changes it; older
 * samples then get the older state. */
static void test_changes_between_samples(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	start_program(&w, 10, 5, "a", "/bin/a");
	for (uint64_t t = 20; t < 23; t++)
		assert_string_equal(at(&w, t, 5, 5, 0x1010), "a /bin/a+0x1010 /bin/a");
	do_comm(&w, 30, 5, 5, false, "renamed");
	assert_string_equal(at(&w, 29, 5, 5, 0x1010), "a /bin/a+0x1010 /bin/a");
	assert_string_equal(at(&w, 31, 5, 5, 0x1010), "renamed /bin/a+0x1010 /bin/a");
	assert_string_equal(at(&w, 32, 5, 5, 0x9002),
			    "renamed [unknown]+0x9002 /bin/a");
	do_mmap(&w, 40, 5, 0x9000, 0x1000, 0, "/lib/late.so");
	assert_string_equal(at(&w, 39, 5, 5, 0x9002),
			    "renamed [unknown]+0x9002 /bin/a");
	assert_string_equal(at(&w, 28, 5, 5, 0x1010), "a /bin/a+0x1010 /bin/a");
	for (uint64_t t = 41; t < 44; t++)
		assert_string_equal(at(&w, t, 5, 5, 0x9002),
				    "renamed /lib/late.so+0x2 /bin/a");
	start_program(&w, 50, 5, "b", "/bin/b");
	assert_string_equal(at(&w, 60, 5, 5, 0x1010), "b /bin/b+0x1010 /bin/b");
	assert_string_equal(at(&w, 45, 5, 5, 0x9002),
			    "renamed /lib/late.so+0x2 /bin/a");
	resolver_frontier(w.resolver, 5000000000);
	assert_string_equal(at(&w, 5000000001, 5, 5, 0x1010), "b /bin/b+0x1010 /bin/b");
	end(&w);
}

/* After a thread has ended, the kernel reports -1 in its samples: the unknown fields must not
 * come from other threads. */
static void test_samples_of_an_ended_process(void **unused)
{
	struct world w;
	const int32_t pids[] = { 0, 0, -1, 0, 0 };

	(void)unused;
	begin(&w);
	for (size_t i = 0; i < COUNT_OF(pids); i++) {
		struct record rec = { .type = PERF_RECORD_SAMPLE,
				      .misc = PERF_RECORD_MISC_KERNEL };
		struct sample s;
		const struct thread *thread;

		rec.id = (struct record_id){ .pid = pids[i], .time_ns = 10 + i };
		rec.sample.ip.v = 0xffffffff81000000;
		assert_int_equal(resolver_sample(w.resolver, &w.decoder, &rec, &s), 0);
		thread = &w.dict.threads.at[s.thread];
		assert_int_equal(thread->app == DICT_NONE, pids[i] < 0);
		assert_int_equal(thread->flags & THREAD_EXITING,
				 pids[i] < 0 ? THREAD_EXITING : 0);
	}
	end(&w);
}

static void test_snapshot_then_live_records(void **unused)
{
	struct world w;
	struct record fork = { .type = PERF_RECORD_FORK,
			       .misc = PERF_RECORD_MISC_FORK_EXEC };

	(void)unused;
	begin(&w);
	/* The parent's mappings of the snapshot are not given to the child: the snapshot
	 * contains the child's. */
	do_mmap(&w, 0, 5, 0x1000, 0x1000, 0, "/bin/parent");
	fork.task = (struct record_task){ 7, 5, 7, 5, 0 };
	apply(&w, &fork, 0);
	do_comm(&w, 0, 7, 7, false, "child");
	do_mmap(&w, 0, 7, 0x4000, 0x1000, 0, "/bin/child");
	assert_string_equal(at(&w, 1, 7, 7, 0x4000), "child /bin/child+0x0 /bin/child");
	assert_string_equal(at(&w, 1, 7, 7, 0x1000),
			    "child [unknown]+0x1000 /bin/child");
	end(&w);
}

static void test_unknown_process_is_requested_once(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	assert_string_equal(at(&w, 5, 77, 77, 0x1000), ":77 [unknown]+0x1000 -");
	assert_string_equal(at(&w, 6, 77, 78, 0x1000), ":78 [unknown]+0x1000 -");
	assert_int_equal(w.asked, 1);
	/* An exiting task has no pid any more. */
	assert_string_equal(at(&w, 7, -1, -1, 0x1000), ":-1 [unknown]+0x1000 -");
	assert_int_equal(w.asked, 1);
	end(&w);
}

static void test_anonymous_regions_do_not_mix(void **unused)
{
	struct world w;
	struct record rec = { .type = PERF_RECORD_SAMPLE,
			      .misc = PERF_RECORD_MISC_USER };
	struct sample a, b;

	(void)unused;
	begin(&w);
	start_program(&w, 10, 5, "jit", "/bin/jit");
	do_mmap(&w, 20, 5, 0x9000, 0x1000, 0x9, "//anon");
	do_mmap(&w, 30, 5, 0x9000, 0x1000, 0x9, "//anon");
	assert_string_equal(at(&w, 25, 5, 5, 0x9010), "jit //anon+0x10 /bin/jit");
	rec.id = (struct record_id){ .pid = 5, .tid = 5, .time_ns = 25 };
	rec.sample.ip.v = 0x9010;
	assert_int_equal(resolver_sample(w.resolver, &w.decoder, &rec, &a), 0);
	rec.id.time_ns = 35;
	assert_int_equal(resolver_sample(w.resolver, &w.decoder, &rec, &b), 0);
	assert_int_not_equal(a.stack, b.stack);
	end(&w);
}

static const char *chain_text(struct world *w, uint32_t stack)
{
	static char text[512];
	size_t len = 0;

	for (; stack >= STACK_FIRST; stack = w->dict.stacks.at[stack].parent) {
		const struct frame *f =
			&w->dict.frames.at[w->dict.stacks.at[stack].frame];

		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "%s+%llx;",
			dict_str(&w->dict, w->dict.images.at[f->image].name),
			(unsigned long long)f->offset);
	}
	snprintf(text + len, sizeof(text) - len, "%s",
		 stack == STACK_TRUNCATED ? "cut" : "root");
	return text;
}

/* perf synthesizes the kernel's mapping without permissions if mappings contain build-ids. */
/* Programs copy their code to anonymous memory to get huge pages; JIT compilers get memory where
 * a library was unmapped, which is not reported. */
static void test_memory_mapped_over_code(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	do_comm(&w, 100, 7, 7, true, "p");
	do_mmap(&w, 200, 7, 0x400000, 0x9000, 0x1000, "/p");
	do_mmap(&w, 201, 7, 0x7f0000000000, 0x9000, 0x1000, "/lib");
	do_mmap(&w, 202, 7, 0x7f0000200000, 0x600000, 0, "/huge");
	do_mmap(&w, 300, 7, 0x402000, 0x3000, 0x402000, "//anon");
	assert_string_equal(at(&w, 250, 7, 7, 0x402010), "p /p+0x3010 /p");
	assert_string_equal(at(&w, 350, 7, 7, 0x402010), "p /p+0x3010 /p");
	assert_string_equal(at(&w, 350, 7, 7, 0x406000), "p /p+0x7000 /p");
	assert_int_equal(w.dict.images.nr, 2);
	/* The protection of the memory changes. */
	do_mmap(&w, 360, 7, 0x402000, 0x3000, 0x402000, "//anon");
	assert_string_equal(at(&w, 370, 7, 7, 0x402010), "p /p+0x3010 /p");
	assert_int_equal(w.dict.images.nr, 2);
	/* Anonymous memory begins before the code. */
	do_mmap(&w, 380, 7, 0x3f0000, 0x20000, 0x3f0000, "//anon");
	assert_string_equal(at(&w, 390, 7, 7, 0x407000), "p /p+0x8000 /p");
	assert_string_equal(at(&w, 390, 7, 7, 0x3f1000), "p //anon+0x1000 /p");
	/* Memory replaces a part of a library: small pages, or whole huge pages. */
	do_mmap(&w, 400, 7, 0x7f0000001000, 0x2000, 0x7f0000001000, "//anon");
	assert_string_equal(at(&w, 450, 7, 7, 0x7f0000001010), "p //anon+0x10 /p");
	do_mmap(&w, 500, 7, 0x7f0000400000, 0x200000, 0x7f0000400000, "//anon");
	assert_string_equal(at(&w, 550, 7, 7, 0x7f0000400010), "p /huge+0x200010 /p");
	do_mmap(&w, 600, 7, 0x7f0000000000, 0x9000, 0x1000, "/lib");
	do_mmap(&w, 601, 7, 0x7f0000000000, 0x9000, 0x7f0000000000, "//anon");
	assert_string_equal(at(&w, 650, 7, 7, 0x7f0000000010), "p /lib+0x1010 /p");
	end(&w);
}

static void test_mappings_without_code(void **unused)
{
	struct world w;
	struct record kernel = { .type = PERF_RECORD_MMAP2 };
	struct record data = { .type = PERF_RECORD_MMAP2 };

	(void)unused;
	begin(&w);
	kernel.mmap = (struct record_mmap){ .pid = -1,
					    .start = 0xffffffff81000000,
					    .len = 0x100000,
					    .pgoff = 0xffffffff81000000,
					    .path = "[kernel.kallsyms]_text" };
	apply(&w, &kernel, 0);
	do_comm(&w, 10, 5, 5, true, "a");
	data.mmap = (struct record_mmap){ .pid = 5,
					  .tid = 5,
					  .start = 0x20000,
					  .len = 0x1000,
					  .pgoff = 0x3000,
					  .prot = PROT_READ,
					  .path = "/bin/data" };
	apply(&w, &data, 11);
	start_program(&w, 12, 5, "a", "/bin/a");
	data.mmap.start = 0x30000;
	data.mmap.path = "[heap]";
	apply(&w, &data, 20);
	assert_string_equal(at(&w, 30, 5, 5, 0x30010), "a [heap]+0x10 /bin/a");
	assert_int_equal(w.dict.images.at[w.dict.images.nr - 1].pid, 0);
	/* The earlier mapping has been replaced. */
	data.mmap.start = 0x7000;
	data.mmap.path = "/bin/data";
	apply(&w, &data, 40);
	assert_string_equal(at(&w, 50, 5, 5, 0x7010), "a /bin/data+0x3010 /bin/a");
	assert_string_equal(at(&w, 30, 5, 5, 0x7010), "a /lib/ld.so+0x10 /bin/a");
	assert_string_equal(at_kernel(&w, 0xffffffff81000010),
			    "[kernel.kallsyms]+0x10");
	end(&w);
}

static void test_chains(void **unused)
{
	struct world w;
	struct record rec = { .type = PERF_RECORD_SAMPLE,
			      .misc = PERF_RECORD_MISC_KERNEL };
	uint64_t whole[] = { PERF_CONTEXT_KERNEL,
			     0xffffffff81000010,
			     0xffffffff81000020,
			     PERF_CONTEXT_USER,
			     0x1010,
			     0x7020 };
	uint64_t cut[] = { PERF_CONTEXT_USER, 0x1010, 0x5555, 0x7020 };
	/* -1 from a frame pointer is not a context marker. */
	uint64_t garbage[] = { PERF_CONTEXT_USER, 0x1010, UINT64_MAX, 0x7020 };
	struct record kernel = { .type = PERF_RECORD_MMAP };
	struct sample s, again;

	(void)unused;
	begin(&w);
	kernel.mmap = (struct record_mmap){ .pid = -1,
					    .start = 0xffffffff81000000,
					    .len = 0x100000,
					    .pgoff = 0xffffffff81000000,
					    .prot = PROT_EXEC,
					    .path = "[kernel.kallsyms]_text" };
	apply(&w, &kernel, 0);
	start_program(&w, 10, 5, "a", "/bin/a");
	rec.id = (struct record_id){ .pid = 5, .tid = 5, .time_ns = 50 };
	rec.sample.chain = (const uint8_t *)whole;
	rec.sample.nr_chain = 6;
	assert_int_equal(resolver_sample(w.resolver, &w.decoder, &rec, &s), 0);
	assert_string_equal(chain_text(&w, s.stack),
			    "[kernel.kallsyms]+10;[kernel.kallsyms]+20;/bin/a+1010;"
			    "/lib/ld.so+20;root");
	assert_int_equal(resolver_sample(w.resolver, &w.decoder, &rec, &again), 0);
	assert_int_equal(s.stack, again.stack);
	rec.misc = PERF_RECORD_MISC_USER;
	rec.sample.chain = (const uint8_t *)cut;
	rec.sample.nr_chain = 4;
	assert_int_equal(resolver_sample(w.resolver, &w.decoder, &rec, &s), 0);
	assert_string_equal(chain_text(&w, s.stack), "/bin/a+1010;cut");
	rec.sample.chain = (const uint8_t *)garbage;
	assert_int_equal(resolver_sample(w.resolver, &w.decoder, &rec, &s), 0);
	assert_string_equal(chain_text(&w, s.stack), "/bin/a+1010;cut");
	end(&w);
}

/* Cuts after that many frames, whether the callers were met before or not. */
static void test_chains_of_limited_depth(void **unused)
{
	struct world w;
	struct record rec = { .type = PERF_RECORD_SAMPLE,
			      .misc = PERF_RECORD_MISC_USER };
	uint64_t deep[] = { PERF_CONTEXT_USER, 0x1010, 0x1020, 0x1030, 0x7020 };
	uint64_t same_callers[] = { PERF_CONTEXT_USER, 0x1018, 0x1020, 0x1030, 0x7020 };
	uint64_t fits[] = { PERF_CONTEXT_USER, 0x1020, 0x1030, 0x7020 };
	struct sample s;

	(void)unused;
	begin(&w);
	resolver_set_max_frames(w.resolver, 3);
	start_program(&w, 10, 5, "a", "/bin/a");
	rec.id = (struct record_id){ .pid = 5, .tid = 5, .time_ns = 50 };
	rec.sample.chain = (const uint8_t *)deep;
	rec.sample.nr_chain = 5;
	assert_int_equal(resolver_sample(w.resolver, &w.decoder, &rec, &s), 0);
	assert_string_equal(chain_text(&w, s.stack),
			    "/bin/a+1010;/bin/a+1020;/bin/a+1030;cut");
	rec.sample.chain = (const uint8_t *)same_callers;
	assert_int_equal(resolver_sample(w.resolver, &w.decoder, &rec, &s), 0);
	assert_string_equal(chain_text(&w, s.stack),
			    "/bin/a+1018;/bin/a+1020;/bin/a+1030;cut");
	rec.sample.chain = (const uint8_t *)fits;
	rec.sample.nr_chain = 4;
	assert_int_equal(resolver_sample(w.resolver, &w.decoder, &rec, &s), 0);
	assert_string_equal(chain_text(&w, s.stack),
			    "/bin/a+1020;/bin/a+1030;/lib/ld.so+20;root");
	end(&w);
}

/* ---- chains that were met before ---- */

enum {
	CHAIN_WORDS = 7,
	MOVED = 0x100000, /* address of the second process's mappings */
	MOVED_PID = 6,
};

#define KERNEL_TEXT 0xffffffff81000000

struct known_chain {
	uint16_t misc;
	uint64_t words[CHAIN_WORDS]; /* 0: no more */
};

static void start_processes(struct world *w)
{
	struct record kernel = { .type = PERF_RECORD_MMAP };

	kernel.mmap = (struct record_mmap){ .pid = -1,
					    .start = KERNEL_TEXT,
					    .len = 0x100000,
					    .pgoff = KERNEL_TEXT,
					    .prot = PROT_EXEC,
					    .path = "[kernel.kallsyms]_text" };
	apply(w, &kernel, 0);
	start_program(w, 10, 5, "a", "/bin/a");
	do_comm(w, 20, MOVED_PID, MOVED_PID, true, "a");
	do_mmap(w, 21, MOVED_PID, 0x1000 + MOVED, 0x1000, 0x1000, "/bin/a");
	do_mmap(w, 22, MOVED_PID, 0x7000 + MOVED, 0x1000, 0, "/lib/ld.so");
}

/* Returns the stack of a sample with that chain. */
static const char *text_in(struct world *w, struct record_id id, uint16_t misc,
			   const uint64_t *words, size_t nr)
{
	struct record rec = { .type = PERF_RECORD_SAMPLE, .misc = misc, .id = id };
	struct sample s;

	rec.id.tid = rec.id.pid;
	rec.sample.chain = (const uint8_t *)words;
	rec.sample.nr_chain = nr;
	assert_int_equal(resolver_sample(w->resolver, &w->decoder, &rec, &s), 0);
	return chain_text(w, s.stack);
}

/* Makes a sample of the chain in one of the two processes. */
static const char *text_of(struct world *w, const struct known_chain *chain, bool moved)
{
	struct record_id id = { .pid = moved ? MOVED_PID : 5, .time_ns = 50 };
	uint64_t words[CHAIN_WORDS];
	size_t nr = 0;

	for (; nr < CHAIN_WORDS && chain->words[nr]; nr++)
		words[nr] = chain->words[nr] +
			    (moved && chain->words[nr] < MOVED ? MOVED : 0);
	return text_in(w, id, chain->misc, words, nr);
}

/* A chain has the same stack, whatever was met before it. */
static void test_equal_chains_have_equal_stacks(void **unused)
{
	const uint16_t user = PERF_RECORD_MISC_USER, kernel = PERF_RECORD_MISC_KERNEL;
	static const uint64_t in_user = PERF_CONTEXT_USER,
			      in_kernel = PERF_CONTEXT_KERNEL;
	const struct known_chain chains[] = {
		{ user, { in_user, 0x1010 } },
		{ user, { in_user, 0x1010, 0x7020 } },
		{ user, { in_user, 0x1010, 0x7020, 0x1080 } },
		{ user, { in_user, 0x1010, 0x5555 } },
		{ user, { in_user, 0x1010, 0x5556, 0x7020 } },
		{ user, { in_user, 0x1010, 0x1080, 0x5555 } },
		{ user, { in_user, 0x1020, 0x1080 } },
		{ user, { in_user, 0x1020, 0x1080, PERF_CONTEXT_GUEST, 0x7020 } },
		{ user, { in_user, 0x1020, 0x1080, 0x7020 } },
		{ user, { in_user, 0x7010, 0x7020 } },
		{ user, { in_user, 0x5555 } },
		{ user, { in_user, 0x5555, 0x7020 } },
		{ user, { 0x1010, 0x7020 } },
		{ kernel, { in_kernel, KERNEL_TEXT + 16, in_user, 0x1010 } },
		{ kernel, { in_kernel, KERNEL_TEXT + 16, in_user, 0x1010, 0x7020 } },
		{ kernel, { in_kernel, KERNEL_TEXT + 16, in_user, 0x1010, 0x5555 } },
		{ kernel,
		  { in_kernel, KERNEL_TEXT + 32, in_user, PERF_CONTEXT_GUEST,
		    0x7020 } },
		{ kernel, { in_kernel, KERNEL_TEXT + 48, in_user, 0x1010, 0x7020 } },
		{ kernel, { in_kernel, KERNEL_TEXT + 32, in_user, 0x1010 } },
		{ kernel, { in_kernel, KERNEL_TEXT + 16 } },
		{ kernel, { in_kernel, KERNEL_TEXT + 16, KERNEL_TEXT + 32 } },
		{ kernel, { KERNEL_TEXT + 16, in_user, 0x1010 } },
	};
	enum {
		NR = COUNT_OF(chains)
	};

	(void)unused;
	for (size_t first = 0; first < NR; first++) {
		struct world together;

		begin(&together);
		start_processes(&together);
		for (size_t i = 0; i < 4 * NR; i++) {
			const struct known_chain *chain = &chains[(first + i) % NR];
			bool moved = i / NR % 2;
			struct world alone;
			char want[512];

			begin(&alone);
			start_processes(&alone);
			snprintf(want, sizeof(want), "%s",
				 text_of(&alone, chain, moved));
			assert_string_equal(text_of(&together, chain, moved), want);
			end(&alone);
		}
		end(&together);
	}
}

/* ---- callers of a new process, by image and offset ---- */

enum {
	FAR = 0x400000, /* another slot caches what is mapped there */
};

/* Makes a sample of the innermost frame and its callers, all in user space (0: end). */
static void expect_user(struct world *w, uint64_t time, int32_t pid,
			const uint64_t calls[4], const char *want)
{
	struct record_id id = { .pid = pid, .time_ns = time };
	uint64_t words[5] = { PERF_CONTEXT_USER };
	size_t nr = 1;

	for (size_t i = 0; i < 4 && calls[i]; i++)
		words[nr++] = calls[i];
	assert_string_equal(text_in(w, id, PERF_RECORD_MISC_USER, words, nr), want);
}

/* The callers are at other addresses of the same process, and at the same address of another
 * process. */
static void test_callers_at_the_same_offset_of_other_images(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	start_program(&w, 10, 5, "a", "/bin/a");
	do_mmap(&w, 13, 5, 0x3000, 0x1000, 0, "/lib/one.so");
	do_mmap(&w, 14, 5, 0x5000, 0x1000, 0, "/lib/two.so");
	start_program(&w, 20, 6, "a", "/bin/a");
	do_mmap(&w, 23, 6, 0x3000, 0x1000, 0, "/lib/three.so");
	/* An image without samples has no number in the dict. */
	expect_user(&w, 50, 5, (uint64_t[4]){ 0x3010 }, "/lib/one.so+10;root");
	expect_user(&w, 50, 5, (uint64_t[4]){ 0x5010 }, "/lib/two.so+10;root");
	expect_user(&w, 50, 6, (uint64_t[4]){ 0x3010 }, "/lib/three.so+10;root");
	expect_user(&w, 50, 5, (uint64_t[4]){ 0x1010, 0x3020 },
		    "/bin/a+1010;/lib/one.so+20;root");
	expect_user(&w, 50, 5, (uint64_t[4]){ 0x1010, 0x5020 },
		    "/bin/a+1010;/lib/two.so+20;root");
	expect_user(&w, 50, 6, (uint64_t[4]){ 0x1010, 0x3020 },
		    "/bin/a+1010;/lib/three.so+20;root");
	end(&w);
}

static void test_callers_in_another_mapping_of_an_image(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	start_program(&w, 10, 5, "a", "/bin/a");
	do_mmap(&w, 13, 5, 0x3000, 0x1000, 0x5000, "/bin/a");
	start_program(&w, 20, 6, "a", "/bin/a");
	do_mmap(&w, 23, 6, 0x3000, 0x1000, 0x8000, "/bin/a");
	expect_user(&w, 50, 5, (uint64_t[4]){ 0x7010, 0x1020 },
		    "/lib/ld.so+10;/bin/a+1020;root");
	expect_user(&w, 50, 5, (uint64_t[4]){ 0x7010, 0x3020 },
		    "/lib/ld.so+10;/bin/a+5020;root");
	expect_user(&w, 50, 6, (uint64_t[4]){ 0x7010, 0x3020 },
		    "/lib/ld.so+10;/bin/a+8020;root");
	expect_user(&w, 50, 5, (uint64_t[4]){ 0x1020, 0x7010 },
		    "/bin/a+1020;/lib/ld.so+10;root");
	expect_user(&w, 50, 5, (uint64_t[4]){ 0x3020, 0x7010 },
		    "/bin/a+5020;/lib/ld.so+10;root");
	expect_user(&w, 50, 6, (uint64_t[4]){ 0x3020, 0x7010 },
		    "/bin/a+8020;/lib/ld.so+10;root");
	end(&w);
}

/* The meaning of an address in one process does not apply to another one. */
static void test_callers_that_differ_between_processes(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	start_program(&w, 10, 5, "a", "/bin/a");
	do_mmap(&w, 13, 5, FAR, 0x1000, 0, "/lib/one.so");
	start_program(&w, 20, 6, "a", "/bin/a");
	do_mmap(&w, 23, 6, FAR, 0x1000, 0, "/lib/two.so");
	expect_user(&w, 50, 5, (uint64_t[4]){ 0x1010, FAR + 0x20 },
		    "/bin/a+1010;/lib/one.so+20;root");
	expect_user(&w, 50, 6, (uint64_t[4]){ 0x1010, FAR + 0x20 },
		    "/bin/a+1010;/lib/two.so+20;root");
	expect_user(&w, 50, 5, (uint64_t[4]){ FAR + 0x10, 0x1020 },
		    "/lib/one.so+10;/bin/a+1020;root");
	expect_user(&w, 50, 6, (uint64_t[4]){ FAR + 0x10, 0x1020 },
		    "/lib/two.so+10;/bin/a+1020;root");
	end(&w);
}

/* A gap between mappings gets code later, in the same process; in another process it has code from
 * the start. */
static void test_callers_in_unmapped_memory(void **unused)
{
	static const uint64_t calls[4] = { 0x1010, 0x1080, 0x5555 };
	struct world w;

	(void)unused;
	begin(&w);
	start_program(&w, 10, 5, "a", "/bin/a");
	start_program(&w, 20, 6, "a", "/bin/a");
	do_mmap(&w, 23, 6, 0x5000, 0x1000, 0, "/lib/six.so");
	expect_user(&w, 30, 5, calls, "/bin/a+1010;/bin/a+1080;cut");
	do_mmap(&w, 40, 5, 0x5000, 0x1000, 0, "/lib/five.so");
	expect_user(&w, 50, 5, calls, "/bin/a+1010;/bin/a+1080;/lib/five.so+555;root");
	expect_user(&w, 39, 5, calls, "/bin/a+1010;/bin/a+1080;cut");
	expect_user(&w, 50, 6, calls, "/bin/a+1010;/bin/a+1080;/lib/six.so+555;root");
	end(&w);
}

/* Callers that fit after one frame can be too many after more frames, also in another process. */
static void test_repeated_callers_of_limited_depth(void **unused)
{
	static const uint64_t kernel[] = { PERF_CONTEXT_KERNEL, KERNEL_TEXT + 16,
					   KERNEL_TEXT + 32,    PERF_CONTEXT_USER,
					   0x1010 + MOVED,      0x1020 + MOVED,
					   0x1030 + MOVED };
	const struct record_id id = { .pid = MOVED_PID, .time_ns = 50 };
	struct world w;

	(void)unused;
	begin(&w);
	resolver_set_max_frames(w.resolver, 4);
	start_processes(&w);
	expect_user(&w, 50, 5, (uint64_t[4]){ 0x1010, 0x1020, 0x1030 },
		    "/bin/a+1010;/bin/a+1020;/bin/a+1030;root");
	assert_string_equal(text_in(&w, id, PERF_RECORD_MISC_KERNEL, kernel, 7),
			    "[kernel.kallsyms]+10;[kernel.kallsyms]+20;/bin/a+1010;"
			    "/bin/a+1020;cut");
	end(&w);
}

/* An event with a lower limit of frames per chain, and another event without it. */
static void test_repeated_callers_of_an_event_without_chain(void **unused)
{
	static const uint64_t kernel[] = { PERF_CONTEXT_KERNEL, KERNEL_TEXT + 16,
					   PERF_CONTEXT_USER,   0x1010 + MOVED,
					   0x1020 + MOVED,      0x1030 + MOVED };
	struct perf_event_attr shallow = { .size = sizeof(shallow),
					   .sample_max_stack = 4 };
	struct record_id id = { .pid = MOVED_PID, .time_ns = 50, .event = 1 };
	struct world w;

	(void)unused;
	begin(&w);
	assert_int_equal(decoder_add_attr(&w.decoder, &shallow), 0);
	start_processes(&w);
	expect_user(&w, 50, 5, (uint64_t[4]){ 0x1010, 0x1020, 0x1030 },
		    "/bin/a+1010;/bin/a+1020;/bin/a+1030;root");
	assert_string_equal(text_in(&w, id, PERF_RECORD_MISC_KERNEL, kernel, 6),
			    "[kernel.kallsyms]+10;/bin/a+1010;/bin/a+1020;/bin/a+1030;"
			    "cut");
	id.event = 0;
	assert_string_equal(text_in(&w, id, PERF_RECORD_MISC_KERNEL, kernel, 6),
			    "[kernel.kallsyms]+10;/bin/a+1010;/bin/a+1020;/bin/a+1030;"
			    "root");
	end(&w);
}

static void test_bpf_program_is_loaded_and_unloaded(void **unused)
{
	struct world w;
	struct record rec = { .type = PERF_RECORD_KSYMBOL };
	struct record sample = { .type = PERF_RECORD_SAMPLE,
				 .misc = PERF_RECORD_MISC_KERNEL };
	struct sample s;

	(void)unused;
	begin(&w);
	rec.ksymbol = (struct record_ksymbol){ .addr = 0xffffffffc0001000,
					       .len = 0x100,
					       .name = "bpf_prog_1" };
	apply(&w, &rec, 10);
	rec.ksymbol.unregister = true;
	apply(&w, &rec, 20);
	sample.sample.ip.v = 0xffffffffc0001008;
	for (uint64_t t = 5; t < 30; t += 10) {
		sample.id = (struct record_id){ .pid = 0, .tid = 0, .time_ns = t };
		assert_int_equal(resolver_sample(w.resolver, &w.decoder, &sample, &s),
				 0);
		assert_string_equal(
			chain_text(&w, s.stack),
			t == 15 ? "bpf_prog_1+8;root"
				: "[kernel.kallsyms]+ffffffffc0001008;root");
	}
	end(&w);
}

/* ---- cgroups ---- */

struct cgroup_world {
	struct world w;
	int asked;    /* number of ids */
	int asked_of; /* processes */
};

static void tell_cgroup(struct world *w, uint64_t time, uint64_t id, const char *path)
{
	struct record rec = { .type = PERF_RECORD_CGROUP };

	rec.cgroup = (struct record_cgroup){ .id = id, .path = path };
	apply(w, &rec, time);
}

static void ask_cgroup(void *ctx, uint64_t id, int32_t pid)
{
	struct cgroup_world *c = ctx;

	(void)pid;
	c->asked++;
	if (id == 7)
		tell_cgroup(&c->w, 0, 7, "/seven");
}

static uint64_t cgroup_of_process(void *ctx, int32_t pid)
{
	struct cgroup_world *c = ctx;

	c->asked_of++;
	return pid == 20 ? 7 : 0;
}

static const char *cgroup_at(struct world *w, uint64_t time, int32_t pid, uint64_t id)
{
	struct record rec = { .type = PERF_RECORD_SAMPLE,
			      .misc = PERF_RECORD_MISC_USER };
	struct sample s;

	rec.id = (struct record_id){ .pid = pid, .tid = pid, .time_ns = time };
	rec.sample.cgroup = id;
	assert_int_equal(resolver_sample(w->resolver, &w->decoder, &rec, &s), 0);
	return dict_str(&w->dict, w->dict.threads.at[s.thread].cgroup);
}

static void find_build_id(void *ctx, const char *path, int32_t pid, uint64_t map_start,
			  uint64_t map_end, struct image *image)
{
	struct world *w = ctx;

	(void)path;
	(void)pid;
	(void)map_start;
	(void)map_end;
	w->asked++;
	image->build_id = (struct build_id){ .len = 20, .bytes = { 1, 2, 3 } };
	image->dev++; /* layered file systems report another device than the mapping */
}

/* The build-id of an image is read from the file, and is also used for the next process that maps
 * the image. */
static void test_image_is_completed_once(void **unused)
{
	struct world w;

	(void)unused;
	begin(&w);
	w.ops.first_hit = find_build_id;
	for (int32_t pid = 10; pid < 20; pid++) {
		uint64_t time = 100 * (uint64_t)pid;

		start_program(&w, time, pid, "a", "/bin/a");
		assert_string_equal(at(&w, time + 50, pid, pid, 0x1010),
				    "a /bin/a+0x1010 /bin/a");
	}
	assert_int_equal(w.asked, 1);
	assert_int_equal(w.dict.images.nr, 1);
	assert_int_equal(w.dict.images.at[0].build_id.len, 20);
	end(&w);
}

static void find_version(void *ctx, const char *path, int32_t pid, uint64_t map_start,
			 uint64_t map_end, struct image *image)
{
	struct world *w = ctx;

	find_build_id(ctx, path, pid, map_start, map_end, image);
	image->build_id.bytes[3] = (uint8_t)w->rewritten;
}

static bool is_rewritten(void *ctx, const char *path, const struct image *image)
{
	const struct world *w = ctx;

	assert_string_equal(path, "/bin/a");
	return image->build_id.bytes[3] != w->rewritten;
}

/* A linker rewrites a file with the same inode: new mappings contain a different binary. */
static void test_image_that_was_rewritten(void **unused)
{
	const struct timespec wait = { .tv_nsec = 200000000 };
	struct world w;

	(void)unused;
	begin(&w);
	w.ops.first_hit = find_version;
	w.ops.is_rewritten = is_rewritten;
	for (int32_t pid = 10; pid < 16; pid++) {
		uint64_t time = 100 * (uint64_t)pid;

		if (pid == 13) {
			w.rewritten = 1;
			nanosleep(&wait, NULL);
		}
		start_program(&w, time, pid, "a", "/bin/a");
		assert_string_equal(at(&w, time + 50, pid, pid, 0x1010),
				    "a /bin/a+0x1010 /bin/a");
	}
	assert_int_equal(w.asked, 2);
	assert_int_equal(w.dict.images.nr, 2);
	assert_int_equal(w.dict.images.at[1].build_id.bytes[3], 1);
	end(&w);
}

static void test_cgroups(void **state)
{
	struct cgroup_world c = { 0 };

	(void)state;
	begin(&c.w);
	c.w.ops = (struct resolver_ops){ .unknown_cgroup = ask_cgroup,
					 .process_cgroup = cgroup_of_process,
					 .ctx = &c };
	tell_cgroup(&c.w, 1, 5, "/five");
	assert_string_equal(cgroup_at(&c.w, 2, 10, 5), "/five");
	assert_int_equal(c.asked, 0);
	/* cgroups that existed before the recording are queried once, whatever the result. */
	assert_string_equal(cgroup_at(&c.w, 3, 10, 7), "/seven");
	assert_string_equal(cgroup_at(&c.w, 4, 10, 7), "/seven");
	assert_string_equal(cgroup_at(&c.w, 5, 10, 9), "");
	assert_string_equal(cgroup_at(&c.w, 6, 10, 9), "");
	assert_int_equal(c.asked, 2);
	tell_cgroup(&c.w, 7, 9, "/nine");
	assert_string_equal(cgroup_at(&c.w, 8, 10, 9), "/nine");
	assert_int_equal(c.asked_of, 0);
	/* If samples have no cgroup, the cgroup of the process is queried once. */
	assert_string_equal(cgroup_at(&c.w, 9, 20, 0), "/seven");
	assert_string_equal(cgroup_at(&c.w, 10, 20, 0), "/seven");
	assert_string_equal(cgroup_at(&c.w, 11, 21, 0), "");
	assert_string_equal(cgroup_at(&c.w, 12, 21, 0), "");
	assert_int_equal(c.asked_of, 2);
	end(&c.w);
}

/* ---- names without samples ---- */

enum {
	FLOOD = 200000,
	ROUND = 1000 /* records between two frontiers */
};

static void test_unsampled_names_are_dropped(void **state)
{
	struct world w;
	uint64_t time = 100;
	size_t nr_strings;

	(void)state;
	begin(&w);
	start_program(&w, 10, 5, "flood", "/bin/flood");
	assert_string_equal(at(&w, 20, 5, 5, 0x1010),
			    "flood /bin/flood+0x1010 /bin/flood");
	nr_strings = w.dict.strings.strings.nr;
	for (int i = 0; i < FLOOD; i++) {
		char text[32];

		snprintf(text, sizeof(text), "n%d", i);
		do_comm(&w, time++, 5, 5, false, text);
		snprintf(text, sizeof(text), "/tmp/file%d", i);
		do_mmap(&w, time++, 5, 0x9000, 0x1000, 0, text);
		snprintf(text, sizeof(text), "/memfd:%d (deleted)", i);
		do_mmap(&w, time++, 5, 0xa000, 0x1000, 0, text);
		if (i % ROUND == 0)
			resolver_frontier(w.resolver, time);
		assert_true(resolver_kept(w.resolver).names < 4 * ROUND + 10);
		assert_true(resolver_kept(w.resolver).images < 2 * ROUND + 10);
	}
	assert_int_equal(w.dict.strings.strings.nr, nr_strings);
	assert_int_equal(w.dict.images.nr, 1);
	resolver_frontier(w.resolver, time);
	assert_true(resolver_kept(w.resolver).names < 10);
	assert_int_equal(resolver_kept(w.resolver).old, 0);
	/* The current mappings still have their names. */
	assert_string_equal(at(&w, time, 5, 5, 0x9010),
			    "n199999 /tmp/file199999+0x10 /bin/flood");
	assert_string_equal(at(&w, time, 5, 5, 0xa010),
			    "n199999 /memfd:199999 (deleted)+0x10 /bin/flood");
	end(&w);
}

static void test_names_follow_time(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	start_program(&w, 10, 5, "a", "/bin/a");
	do_comm(&w, 20, 5, 5, false, "b");
	do_mmap(&w, 20, 5, 0x9000, 0x1000, 0, "/lib/b");
	do_comm(&w, 30, 5, 5, false, "a");
	do_mmap(&w, 30, 5, 0x9000, 0x1000, 0, "/lib/a");
	do_comm(&w, 40, 5, 5, false, "b");
	do_mmap(&w, 40, 5, 0x9000, 0x1000, 0, "/lib/b");
	assert_string_equal(at(&w, 45, 5, 5, 0x9010), "b /lib/b+0x10 /bin/a");
	assert_string_equal(at(&w, 35, 5, 5, 0x9010), "a /lib/a+0x10 /bin/a");
	resolver_frontier(w.resolver, 35);
	assert_string_equal(at(&w, 36, 5, 5, 0x9010), "a /lib/a+0x10 /bin/a");
	resolver_frontier(w.resolver, 50);
	do_comm(&w, 60, 5, 5, false, "a");
	do_mmap(&w, 60, 5, 0x9000, 0x1000, 0, "/lib/a");
	assert_string_equal(at(&w, 65, 5, 5, 0x9010), "a /lib/a+0x10 /bin/a");
	assert_int_equal(w.dict.images.nr, 3);
	end(&w);
}

/* While samples wait for a table, nothing newer can be dropped. */
static void test_history_of_one_process_is_bounded(void **state)
{
	struct world w;
	uint64_t time = 100;

	(void)state;
	begin(&w);
	resolver_bound(w.resolver, 0);
	start_program(&w, 10, 7, "other", "/bin/other");
	do_mmap(&w, 20, 7, 0x9000, 0x1000, 0, "/lib/old");
	do_mmap(&w, 90, 7, 0x9000, 0x1000, 0, "/lib/new");
	for (int i = 0; i < FLOOD; i++) {
		char text[32];

		snprintf(text, sizeof(text), "n%d", i);
		do_comm(&w, time++, 5, 5, false, text);
		snprintf(text, sizeof(text), "/tmp/file%d", i);
		do_mmap(&w, time++, 5, 0x9000, 0x1000, 0, text);
		assert_true(resolver_kept(w.resolver).names < 5000);
		assert_true(resolver_kept(w.resolver).old < 5000);
	}
	resolver_frontier(w.resolver, 30);
	assert_string_equal(at(&w, 50, 7, 7, 0x9010), "other /lib/old+0x10 /bin/other");
	/* The sample is resolved with the oldest version that is left. */
	assert_int_not_equal(strncmp(at(&w, 100, 5, 5, 0x9010), "n0 ", 3), 0);
	assert_string_equal(at(&w, time, 5, 5, 0x9010),
			    "n199999 /tmp/file199999+0x10 /tmp/file0");
	end(&w);
}

/* With many processes, those with the most versions lose them first. */
static void test_history_of_many_processes_is_bounded(void **state)
{
	struct world w;
	uint64_t time = 100;

	(void)state;
	begin(&w);
	resolver_bound(w.resolver, 0);
	do_mmap(&w, 20, 7, 0x9000, 0x1000, 0, "/lib/old");
	do_mmap(&w, 90, 7, 0x9000, 0x1000, 0, "/lib/new");
	for (int i = 0; i < FLOOD; i++) {
		char text[32];

		snprintf(text, sizeof(text), "/tmp/file%d", i);
		do_mmap(&w, time++, 1000 + i % 300, 0x9000, 0x1000, 0, text);
	}
	assert_true(resolver_kept(w.resolver).old > 65536);
	resolver_frontier(w.resolver, 30);
	assert_true(resolver_kept(w.resolver).old <= 65536);
	assert_string_equal(at(&w, 50, 7, 7, 0x9010), ":7 /lib/old+0x10 /lib/old");
	end(&w);
}

enum {
	FLOOD_PIDS = 100, /* 100 to 199 are processes of user 1000 */
	FLOOD_MAPS = 500  /* mappings of each */
};

static int64_t user_of(void *ctx, int32_t pid)
{
	struct world *w = ctx;

	w->asked++;
	return pid >= 100 && pid < 100 + FLOOD_PIDS ? 1000 : 0;
}

static void add_lost(void *ctx, uint32_t user, size_t nr)
{
	struct world *w = ctx;

	assert_int_equal(user, 1000);
	w->maps_lost += nr;
}

/* The mappings exist, so none of them can be freed for another reason. */
static void test_mappings_of_the_largest_user_are_lost(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	w.ops.process_user = user_of;
	w.ops.maps_lost = add_lost;
	resolver_bound(w.resolver, 2 << 20);
	start_program(&w, 10, 7, "other", "/bin/other");
	do_mmap(&w, 20, 7, 0x9000, 0x1000, 0, "/lib/other");
	for (int pid = 100; pid < 100 + FLOOD_PIDS; pid++) {
		start_program(&w, 30, pid, "flood", "/bin/flood");
		for (uint64_t i = 0; i < FLOOD_MAPS; i++) {
			char text[32];

			snprintf(text, sizeof(text), "/tmp/file%d.%u", pid,
				 (unsigned int)i);
			do_mmap(&w, 40, pid, 0x100000 + i * 0x1000, 0x1000, 0, text);
		}
		resolver_frontier(w.resolver, 50);
		/* 2 MB are about 10000 mappings of different files. */
		assert_true(resolver_kept(w.resolver).images < 20000);
	}
	assert_true(w.maps_lost > FLOOD_PIDS / 2);
	assert_string_equal(at(&w, 60, 7, 7, 0x9010),
			    "other /lib/other+0x10 /bin/other");
	assert_string_equal(at(&w, 60, 100, 100, 0x100010),
			    "flood [unknown]+0x100010 /bin/flood");
	/* The process gets no new mappings before an exec, and neither do its children. */
	do_mmap(&w, 70, 100, 0x100000, 0x1000, 0, "/tmp/again");
	do_task(&w, 70, PERF_RECORD_FORK, 300, 100, 300, 100);
	assert_string_equal(at(&w, 80, 100, 100, 0x100010),
			    "flood [unknown]+0x100010 /bin/flood");
	assert_string_equal(at(&w, 80, 300, 300, 0x100010),
			    "flood [unknown]+0x100010 /bin/flood");
	start_program(&w, 90, 100, "next", "/bin/next");
	do_mmap(&w, 90, 100, 0x9000, 0x1000, 0, "/lib/next");
	assert_string_equal(at(&w, 95, 100, 100, 0x9010),
			    "next /lib/next+0x10 /bin/next");
	end(&w);
}

/* A server that forks many workers has their mappings in memory once. */
static void test_forked_processes_share_their_mappings(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	w.ops.process_user = user_of;
	w.ops.maps_lost = add_lost;
	resolver_bound(w.resolver, 1 << 20);
	start_program(&w, 10, 7, "server", "/bin/server");
	for (uint64_t i = 0; i < FLOOD_MAPS; i++)
		do_mmap(&w, 20, 7, 0x100000 + i * 0x1000, 0x1000, 0, "/lib/module");
	for (int pid = 1000; pid < 3000; pid++)
		do_task(&w, 30, PERF_RECORD_FORK, pid, 7, pid, 7);
	resolver_frontier(w.resolver, 40);
	assert_int_equal(w.maps_lost, 0);
	assert_string_equal(at(&w, 50, 2000, 2000, 0x100010),
			    "server /lib/module+0x10 /bin/server");
	end(&w);
}

static void tell_mapped(void *ctx, int32_t pid)
{
	struct world *w = ctx;

	w->asked++;
	if (pid == 5)
		do_mmap(w, 0, pid, 0x9000, 0x1000, 0, "/lib/mapped");
}

/* Unmapping is not recorded. */
static void test_unmapped_memory_is_forgotten(void **state)
{
	struct world w;
	uint64_t time = 100;

	(void)state;
	begin(&w);
	w.ops.unknown_process = tell_mapped;
	resolver_bound(w.resolver, 0);
	start_program(&w, 10, 5, "flood", "/bin/flood");
	for (uint64_t i = 0; i < FLOOD; i++) {
		char text[32];

		snprintf(text, sizeof(text), "/tmp/file%u", (unsigned int)i);
		do_mmap(&w, time++, 5, 0x10000 + i * 0x1000, 0x1000, 0, text);
		resolver_frontier(w.resolver, time);
		assert_true(resolver_kept(w.resolver).images < 2 * 16384 + 10);
	}
	assert_in_range(w.asked, 6, FLOOD / 16384);
	assert_string_equal(at(&w, time, 5, 5, 0x9010),
			    "flood /lib/mapped+0x10 /bin/flood");
	assert_string_equal(at(&w, time, 5, 5, 0x10000 + (FLOOD - 1) * 0x1000),
			    "flood /tmp/file199999+0x0 /bin/flood");
	end(&w);
}

static void test_ended_processes_are_forgotten(void **state)
{
	const uint64_t second_ns = 1000000000;
	struct world w;

	(void)state;
	begin(&w);
	start_program(&w, 10, 5, "shell", "/bin/sh");
	for (int i = 0; i < FLOOD / 10; i++) {
		uint64_t time = 100 + (uint64_t)i * second_ns;
		int32_t pid = 10 + i;

		do_task(&w, time, PERF_RECORD_FORK, pid, 5, pid, 5);
		start_program(&w, time + 1, pid, "child", "/bin/child");
		assert_string_equal(at(&w, time + 10, pid, pid, 0x1010),
				    "child /bin/child+0x1010 /bin/child");
		do_task(&w, time + 20, PERF_RECORD_EXIT, pid, 5, pid, 5);
		resolver_frontier(w.resolver, time + 30);
		assert_true(resolver_kept(w.resolver).processes < 20);
	}
	assert_string_equal(at(&w, UINT64_MAX - 1, 5, 5, 0x1010),
			    "shell /bin/sh+0x1010 /bin/sh");
	end(&w);
}

static void test_unsampled_cgroups_are_dropped(void **state)
{
	struct cgroup_world c = { 0 };

	(void)state;
	begin(&c.w);
	resolver_free(c.w.resolver);
	c.w.ops = (struct resolver_ops){ .unknown_cgroup = ask_cgroup, .ctx = &c };
	assert_int_equal(
		resolver_new(&c.w.dict, &c.w.ops, RESOLVE_CHAINS, &c.w.resolver), 0);
	tell_cgroup(&c.w, 1, 5, "/five");
	assert_string_equal(cgroup_at(&c.w, 2, 10, 5), "/five");
	tell_cgroup(&c.w, 3, 7, "/seven");
	for (uint64_t i = 0; i < FLOOD; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/user/%u", (unsigned int)i);
		tell_cgroup(&c.w, 4, 1000 + i, path);
		assert_true(resolver_kept(c.w.resolver).names < 4200);
	}
	/* The newest name and one that has samples are kept; a name that was dropped is queried
	 * again. */
	assert_string_equal(cgroup_at(&c.w, 5, 10, 1000 + FLOOD - 1), "/user/199999");
	assert_string_equal(cgroup_at(&c.w, 6, 10, 5), "/five");
	assert_int_equal(c.asked, 0);
	assert_string_equal(cgroup_at(&c.w, 7, 10, 7), "/seven");
	assert_int_equal(c.asked, 1);
	end(&c.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec_chain),
		cmocka_unit_test(test_exec_of_another_thread),
		cmocka_unit_test(test_fork_shares_mappings_until_they_change),
		cmocka_unit_test(test_fork_of_an_unnamed_thread),
		cmocka_unit_test(test_first_name_applies_to_earlier_samples),
		cmocka_unit_test(test_library_at_the_same_address),
		cmocka_unit_test(test_pid_reuse),
		cmocka_unit_test(test_threads_and_names),
		cmocka_unit_test(test_changes_between_samples),
		cmocka_unit_test(test_samples_of_an_ended_process),
		cmocka_unit_test(test_snapshot_then_live_records),
		cmocka_unit_test(test_unknown_process_is_requested_once),
		cmocka_unit_test(test_anonymous_regions_do_not_mix),
		cmocka_unit_test(test_memory_mapped_over_code),
		cmocka_unit_test(test_mappings_without_code),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_chains_of_limited_depth),
		cmocka_unit_test(test_equal_chains_have_equal_stacks),
		cmocka_unit_test(test_callers_at_the_same_offset_of_other_images),
		cmocka_unit_test(test_callers_in_another_mapping_of_an_image),
		cmocka_unit_test(test_callers_that_differ_between_processes),
		cmocka_unit_test(test_callers_in_unmapped_memory),
		cmocka_unit_test(test_repeated_callers_of_limited_depth),
		cmocka_unit_test(test_repeated_callers_of_an_event_without_chain),
		cmocka_unit_test(test_bpf_program_is_loaded_and_unloaded),
		cmocka_unit_test(test_image_is_completed_once),
		cmocka_unit_test(test_image_that_was_rewritten),
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_unsampled_names_are_dropped),
		cmocka_unit_test(test_names_follow_time),
		cmocka_unit_test(test_history_of_one_process_is_bounded),
		cmocka_unit_test(test_history_of_many_processes_is_bounded),
		cmocka_unit_test(test_unmapped_memory_is_forgotten),
		cmocka_unit_test(test_mappings_of_the_largest_user_are_lost),
		cmocka_unit_test(test_forked_processes_share_their_mappings),
		cmocka_unit_test(test_ended_processes_are_forgotten),
		cmocka_unit_test(test_unsampled_cgroups_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
