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
	PATIENCE_MS = 10000, /* of time, in which a machine may do other things */
	TURN_MS = 100,       /* then it looks whether it is to give up */
	STRAY_MAX = 64,      /* packets that nobody asked for */
	ERRNO_MAX = 4095
};

bool table_answers_is_fault(int r)
{
	return r == -EPIPE || r == -ETIME;
}

bool table_answers_is_silence(int r)
{
	return r == -ECHILD || r == -ECONNRESET || r == -ETIMEDOUT;
}

/* It cannot have taken more than there was. */
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
	if (a->told)
		return;
	a->told = true;
	if (!answer->is_confined)
		log_say(LOG_WARNING,
			"there is no seccomp here: "
			"the helper that reads binaries is not confined by it");
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

static int take_death(struct table_answers *a, const struct table_answer *answer,
		      uint64_t since_ns)
{
	take_cost(a, answer, since_ns);
	a->worker_ns = 0;
	if (answer->result == SIGPROF || answer->result == SIGXCPU)
		return -ETIME;
	return answer->result ? -EPIPE : -ECHILD;
}

/* 0 and the answer to the last question, with *ret_file, or -1. */
static int table_answers_wait_for(struct table_answers *a, uint64_t since_ns,
				  struct table_answer *answer, int *ret_file)
{
	uint64_t end = since_ns + (uint64_t)PATIENCE_MS * 1000000;
	int r = -EAGAIN;

	for (int strays = 0; r == -EAGAIN && strays < STRAY_MAX;) {
		struct pollfd fd = { .fd = a->fd, .events = POLLIN };
		uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

		if (now >= end)
			return -ETIMEDOUT;
		if (atomic_load(&a->gives_up))
			return -ECANCELED;
		if (poll(&fd, 1, TURN_MS) <= 0)
			continue;
		r = table_packet_receive(a->fd, MSG_DONTWAIT, answer, sizeof(*answer),
					 ret_file);
		if (r || answer->number == a->number)
			continue;
		if (*ret_file >= 0)
			close(*ret_file);
		strays++;
		r = answer->number ? -EAGAIN : take_death(a, answer, since_ns);
	}
	return r == -EAGAIN ? -ETIMEDOUT : r;
}

/* Only a file in memory is read: no other can make its reader wait. */
static int table_answers_take_file(int file, struct unwind_table **ret_table)
{
	if (file < 0 || fcntl(file, F_GET_SEALS) < 0)
		return -EBADMSG;
	return unwind_cache_take(file, TABLE_MAX_BYTES, ret_table);
}

/* That it died, or does not answer, is not the worker's to say, and neither is what is no errno. */
static int table_answers_take_result(int32_t result)
{
	bool is_own = !table_answers_is_fault(result) &&
		      !table_answers_is_silence(result) && result != -EAGAIN &&
		      result != -ECANCELED;

	return is_own && result >= -ERRNO_MAX ? result : -EBADMSG;
}

int table_answers_wait(struct table_answers *a, uint64_t since_ns,
		       struct unwind_table **ret_table)
{
	struct table_answer answer;
	int file = -1;
	int r = table_answers_wait_for(a, since_ns, &answer, &file);

	if (r)
		return r;
	take_confinement(a, &answer);
	take_cost(a, &answer, since_ns);
	r = answer.result < 0 ? answer.result
			      : table_answers_take_file(file, ret_table);
	if (file >= 0)
		close(file);
	return r ? table_answers_take_result(r) : 0;
}
