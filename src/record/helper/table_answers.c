/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/helper/table_answers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "record/helper/table_packets.h"
#include "resolve/unwind/cache.h"

enum {
	/* wall-clock time to wait for an answer; generous, because the machine may be busy with
	 * other work. */
	PATIENCE_MS = 10000,
	POLL_MS = 100,  /* how often to check `gives_up` */
	STRAY_MAX = 64, /* unexpected packets to skip before giving up */
	ERRNO_MAX = 4095
};

/* Adds the CPU time that an answer reports to the total, but not more than the time that has
 * passed. */
static void take_cost(struct table_answers *a, const struct table_answer *answer,
		      uint64_t since_ns)
{
	uint64_t most = clock_now_ns(CLOCK_MONOTONIC) - since_ns;
	uint64_t cost =
		answer->cpu_ns > a->worker_ns ? answer->cpu_ns - a->worker_ns : 0;

	a->worker_ns = answer->cpu_ns;
	a->cpu_ns += cost < most ? cost : most;
}

static void take_confinement(struct table_answers *a, const struct table_answer *answer)
{
	if (a->is_reported)
		return;
	a->is_reported = true;
	if (!answer->is_confined)
		log_say(LOG_WARNING,
			"seccomp is not available: the process that reads binaries runs without a seccomp filter");
}

void table_answers_drain(struct table_answers *a)
{
	struct table_answer answer;
	int file;

	for (int i = 0; i < STRAY_MAX; i++) {
		if (table_packet_receive(a->fd, MSG_DONTWAIT, &answer, sizeof(answer),
					 &file))
			break;
		if (!answer.number)
			a->worker_ns = 0;
		if (file >= 0)
			close(file);
	}
}

static enum table_outcome take_death(struct table_answers *a,
				     const struct table_answer *answer,
				     uint64_t since_ns)
{
	take_cost(a, answer, since_ns);
	a->worker_ns = 0;
	if (answer->result == SIGPROF || answer->result == SIGXCPU)
		return TABLE_TOO_SLOW;
	return answer->result ? TABLE_KILLED : TABLE_ENDED;
}

/* Waits for the answer to the last request. On TABLE_MADE, stores it in *ret_answer, and its
 * descriptor in *ret_file (-1: none). */
static enum table_outcome table_answers_wait_for(struct table_answers *a,
						 uint64_t since_ns,
						 struct table_answer *answer,
						 int *ret_file)
{
	uint64_t end = since_ns + PATIENCE_MS * NS_PER_MS;

	for (int strays = 0; strays < STRAY_MAX;) {
		struct pollfd fd = { .fd = a->fd, .events = POLLIN };
		int r;

		if (clock_now_ns(CLOCK_MONOTONIC) >= end)
			return TABLE_NO_ANSWER;
		if (atomic_load(&a->gives_up))
			return TABLE_GIVEN_UP;
		if (poll(&fd, 1, POLL_MS) <= 0)
			continue;
		r = table_packet_receive(a->fd, MSG_DONTWAIT, answer, sizeof(*answer),
					 ret_file);
		if (r == -EAGAIN)
			continue;
		if (r)
			return TABLE_HUNG_UP;
		if (answer->number == a->number)
			return TABLE_MADE;
		if (*ret_file >= 0)
			close(*ret_file);
		strays++;
		if (!answer->number)
			return take_death(a, answer, since_ns);
	}
	return TABLE_NO_ANSWER;
}

/* Reads the table from the file of an answer. Accepts only a file in memory, because reading any
 * other file could block. */
static int table_answers_take_file(int file, struct unwind_table **ret_table)
{
	if (file < 0 || fcntl(file, F_GET_SEALS) < 0)
		return -EBADMSG;
	return unwind_cache_take(file, TABLE_MAX_BYTES, ret_table);
}

enum table_outcome table_answers_wait(struct table_answers *a, uint64_t since_ns,
				      struct unwind_table **ret_table, int *ret_error)
{
	struct table_answer answer;
	int file = -1;
	enum table_outcome outcome =
		table_answers_wait_for(a, since_ns, &answer, &file);
	int r;

	if (outcome != TABLE_MADE)
		return outcome;
	take_confinement(a, &answer);
	take_cost(a, &answer, since_ns);
	r = answer.result < 0 ? answer.result
			      : table_answers_take_file(file, ret_table);
	if (file >= 0)
		close(file);
	*ret_error = r < -ERRNO_MAX ? -EBADMSG : r;
	return r ? TABLE_NONE : TABLE_MADE;
}
