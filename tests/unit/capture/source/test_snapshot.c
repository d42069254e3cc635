/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/source/snapshot.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "unit.h"

enum {
	SAMPLE_TYPE = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
		      PERF_SAMPLE_IDENTIFIER,
	TRAILER = 4 * 8, /* of SAMPLE_TYPE: tid, time, cpu, identifier */
	PATH_BYTES = 512
};

/* The records of one process that the sink received. */
struct seen {
	pid_t pid;
	int forks, comms, mmaps, kernel_mmaps, other;
	char first_path[PATH_BYTES];
	char comm[2][32]; /* names of the leader, and of the last other thread */
	uint64_t last_ns;
	bool backwards, malformed;
	bool anonymous;
	int stop_after; /* records until the sink fails; 0: never */
	int records;
};

static uint32_t u32_at(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static uint64_t u64_at(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static void see_record(struct seen *s, uint32_t type, const uint8_t *body)
{
	switch (type) {
	case PERF_RECORD_FORK:
		s->forks++;
		assert_int_equal(u32_at(body + 4), getppid());
		break;
	case PERF_RECORD_COMM:
		s->comms++;
		(void)snprintf(s->comm[u32_at(body + 4) != (uint32_t)s->pid], 32, "%s",
			       (const char *)body + 8);
		break;
	case PERF_RECORD_MMAP2:
		if (!s->mmaps++)
			(void)snprintf(s->first_path, PATH_BYTES, "%s",
				       (const char *)body + 64);
		assert_true(u32_at(body + 56) & PROT_EXEC);
		s->anonymous |= !strcmp((const char *)body + 64, "//anon");
		break;
	default:
		s->other++;
	}
}

static int sink(void *ctx, const void *record, size_t len)
{
	const uint8_t *bytes = record;
	struct seen *s = ctx;
	struct perf_event_header h;
	uint64_t time_ns;

	memcpy(&h, record, sizeof(h));
	s->malformed |= h.size != len || len % 8 != 0 || len < sizeof(h) + TRAILER ||
			u64_at(bytes + len - 8) != 42;
	time_ns = u64_at(bytes + len - 24);
	s->backwards |= time_ns < s->last_ns;
	s->last_ns = time_ns;
	s->kernel_mmaps += h.type == PERF_RECORD_MMAP;
	if (u32_at(bytes + sizeof(h)) == (uint32_t)s->pid)
		see_record(s, h.type, bytes + sizeof(h));
	return s->stop_after && ++s->records >= s->stop_after ? -ENOSPC : 0;
}

static struct snapshot *open_snapshot(struct seen *s, uint64_t deadline_ns)
{
	struct snapshot_config config = {
		.sample_type = SAMPLE_TYPE,
		.id = 42,
		.clock = CLOCK_MONOTONIC,
		.deadline_ns = deadline_ns,
		.sink = sink,
		.ctx = s,
	};
	struct snapshot *snapshot = NULL;

	memset(s, 0, sizeof(*s));
	s->pid = getpid();
	assert_int_equal(snapshot_new(&config, &snapshot), 0);
	return snapshot;
}

static void *wait_for_end(void *pipe_fd)
{
	char c;

	(void)prctl(PR_SET_NAME, "a thread");
	while (read(*(int *)pipe_fd, &c, 1) > 0)
		continue;
	return NULL;
}

static void describes_this_process(void **state)
{
	char exe[PATH_BYTES] = "";
	struct snapshot_stats stats = { 0 };
	struct err err = { 0 };
	struct snapshot *s;
	struct seen seen;
	pthread_t thread;
	int fds[2];
	void *code;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &fds[0]), 0);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	assert_true(code != MAP_FAILED);
	/* The new thread sets its name; until then it has the leader's name. */
	for (int i = 0; i < 1000; i++) {
		s = open_snapshot(&seen, 0);
		assert_int_equal(snapshot_all(s, &stats, &err), 0);
		snapshot_free(s);
		if (!strcmp(seen.comm[1], "a thread"))
			break;
		(void)usleep(1000);
	}
	assert_false(seen.malformed);
	assert_false(seen.backwards);
	assert_int_equal(seen.forks, 1);
	assert_int_equal(seen.comms, 2);
	assert_string_equal(seen.comm[1], "a thread");
	assert_true(seen.mmaps >= 3);
	assert_true(seen.anonymous);
	assert_int_equal(seen.other, 0);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_string_equal(seen.first_path, exe);
	assert_int_equal(stats.bad_lines, 0);
	assert_int_equal(stats.skipped, 0);

	/* A process is found by the id of any of its threads. */
	s = open_snapshot(&seen, 0);
	assert_int_equal(snapshot_process(s, getpid(), &stats, &err), 0);
	assert_int_equal(seen.comms, 2);
	assert_string_equal(seen.first_path, exe);
	snapshot_free(s);

	(void)munmap(code, 4096);
	(void)close(fds[1]);
	(void)pthread_join(thread, NULL);
	(void)close(fds[0]);
}

static void skips_a_process_that_has_ended(void **state)
{
	struct snapshot_stats stats = { 0 };
	struct err err = { 0 };
	struct seen seen;
	struct snapshot *s = open_snapshot(&seen, 0);
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(snapshot_process(s, child, &stats, &err), -ESRCH);
	assert_int_equal(stats.processes, 0);
	snapshot_free(s);
}

static void counts_processes_after_the_deadline(void **state)
{
	struct snapshot_stats stats = { 0 };
	struct err err = { 0 };
	struct seen seen;
	struct snapshot *s = open_snapshot(&seen, 1);

	(void)state;
	assert_int_equal(snapshot_all(s, &stats, &err), 0);
	assert_int_equal(stats.processes, 0);
	assert_true(stats.skipped >= 1);
	snapshot_free(s);
}

static void an_error_of_the_sink_ends_the_snapshot(void **state)
{
	struct snapshot_stats stats = { 0 };
	struct err err = { 0 };
	struct seen seen;
	struct snapshot *s = open_snapshot(&seen, 0);

	(void)state;
	seen.stop_after = 2;
	assert_int_equal(snapshot_all(s, &stats, &err), -ENOSPC);
	assert_int_equal(seen.records, 2);
	snapshot_free(s);
}

static void the_kernel_is_described_or_hidden(void **state)
{
	struct err err = { 0 };
	struct seen seen;
	struct snapshot *s = open_snapshot(&seen, 0);
	uint64_t start = 0;
	uint64_t end = 0;
	int r = snapshot_kernel(s, &err);

	(void)state;
	assert_true(r == 0 || r == -EACCES || r == -EPERM);
	assert_false(seen.malformed);
	assert_int_equal(seen.kernel_mmaps > 0, r == 0);
	assert_int_equal(snapshot_kernel_text(&start, &end), r);
	if (r == 0)
		assert_true(end > start && start >> 63);
	snapshot_free(s);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(describes_this_process),
		cmocka_unit_test(skips_a_process_that_has_ended),
		cmocka_unit_test(counts_processes_after_the_deadline),
		cmocka_unit_test(an_error_of_the_sink_ends_the_snapshot),
		cmocka_unit_test(the_kernel_is_described_or_hidden),
	};

	return UNIT_RUN(cases);
}
