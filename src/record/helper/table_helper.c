/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/helper/table_helper.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "record/helper/table_answers.h"
#include "record/helper/table_packets.h"
#include "record/helper/table_worker.h"

enum {
	TRIES = 2,         /* the first worker may have died for another reason */
	REFUSED_MAX = 256, /* files remembered as refused */
	REAP_ROUNDS = 100,
	REAP_POLL_MS = 10
};

/* Identifies a file that crashed the helper. */
struct file_key {
	dev_t dev;
	ino_t ino;
	struct timespec changed;
};

struct table_helper {
	table_make make;
	pthread_mutex_t
		lock; /* protects the fields below; held while a table is built */
	pid_t supervisor;
	struct table_answers
		answers;    /* `cpu_ns` and `gives_up` are used without the lock */
	uint64_t reaped_ns; /* CPU time of processes that have been reaped */
	bool is_silent;     /* already logged that the helper gave no answer */
	size_t nr_refused;  /* number of files refused since the start */
	struct file_key refused[REFUSED_MAX];
};

static int table_helper_begin(struct table_helper *h, struct err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_sys(err, -errno, "cannot create a socket pair");
	h->supervisor = fork();
	if (!h->supervisor)
		table_worker_keep(h->make, pair[1]);
	close(pair[1]);
	if (h->supervisor < 0) {
		close(pair[0]);
		return err_sys(err, -errno, "cannot create a process");
	}
	h->answers.fd = pair[0];
	h->answers.worker_ns = 0;
	return 0;
}

/* Closes the connection; the supervisor notices and exits together with its worker. */
static void hang_up(struct table_helper *h)
{
	const struct timespec pause = { .tv_nsec = REAP_POLL_MS * 1000000 };
	struct rusage usage = { 0 };
	uint64_t counted;

	if (h->answers.fd < 0)
		return;
	close(h->answers.fd);
	h->answers.fd = -1;
	h->answers.worker_ns = 0;
	for (int i = 0;
	     i < REAP_ROUNDS && wait4(h->supervisor, NULL, WNOHANG, &usage) == 0; i++)
		(void)nanosleep(&pause, NULL);
	/* Both processes have been reaped, so their CPU time is now in the usage of this process's
	 * children. */
	counted = table_worker_usage_ns(&usage);
	h->answers.cpu_ns -= counted < h->answers.cpu_ns ? counted : h->answers.cpu_ns;
	h->reaped_ns += counted;
}

static bool table_helper_is_gone(const struct table_helper *h)
{
	struct pollfd fd = { .fd = h->answers.fd };

	return poll(&fd, 1, 0) > 0;
}

static bool table_helper_is_fault(enum table_outcome outcome)
{
	return outcome == TABLE_KILLED || outcome == TABLE_TOO_SLOW;
}

/* Returns whether the helper did not answer for a reason that need not be the binary: a busy
 * machine, or the effect of an earlier binary. */
static bool table_helper_is_silence(enum table_outcome outcome)
{
	return outcome == TABLE_ENDED || outcome == TABLE_HUNG_UP ||
	       outcome == TABLE_NO_ANSWER;
}

/* Sends a request to the helper and waits for the answer. After any outcome except TABLE_MADE and
 * TABLE_NONE, a new worker handles the next request. */
static enum table_outcome table_helper_ask(struct table_helper *h, int fd,
					   struct unwind_table **ret_table,
					   int *ret_error)
{
	struct table_question question = { .number = ++h->answers.number };
	uint64_t since = clock_now_ns(CLOCK_MONOTONIC);
	enum table_outcome outcome = TABLE_HUNG_UP;

	atomic_store(&h->answers.gives_up, false);
	if (h->answers.fd < 0 && table_helper_begin(h, NULL))
		return TABLE_HUNG_UP;
	table_answers_drain(&h->answers);
	/* The socket has room unless the previous worker never read its request. */
	if (!table_packet_send(h->answers.fd, MSG_DONTWAIT, &question, sizeof(question),
			       fd))
		outcome = table_answers_wait(&h->answers, since, ret_table, ret_error);
	if (outcome == TABLE_MADE || outcome == TABLE_NONE)
		return outcome;
	/* The supervisor kills a worker that does not exit. */
	if (outcome == TABLE_NO_ANSWER || outcome == TABLE_GIVEN_UP ||
	    outcome == TABLE_HUNG_UP || table_helper_is_gone(h))
		hang_up(h);
	return outcome;
}

static bool table_helper_same(const struct file_key *a, const struct file_key *b)
{
	return a->dev == b->dev && a->ino == b->ino &&
	       a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool table_helper_is_refused(const struct table_helper *h,
				    const struct file_key *key)
{
	for (size_t i = 0; i < h->nr_refused && i < REFUSED_MAX; i++)
		if (table_helper_same(&h->refused[i], key))
			return true;
	return false;
}

/* Logs that the helper failed for the binary. File names are untrusted, so their control
 * characters are replaced. */
static void table_helper_report(const char *path, const char *what)
{
	char name[512];
	size_t len = 0;

	for (; path[len] && len + 1 < sizeof(name); len++) {
		bool is_control = (unsigned char)path[len] < ' ' || path[len] == 0x7f;

		name[len] = path[len];
		if (is_control)
			name[len] = '?';
	}
	name[len] = 0;
	log_say(LOG_WARNING,
		"'%s': the helper that reads binaries %s: falling back to frame pointers for this binary",
		name, what);
}

static void table_helper_refuse(struct table_helper *h, const struct file_key *key,
				const char *path, enum table_outcome why)
{
	h->refused[h->nr_refused++ % REFUSED_MAX] = *key;
	table_helper_report(path, why == TABLE_KILLED ? "crashed" : "took too long");
}

static enum table_outcome table_helper_ask_again(struct table_helper *h, int fd,
						 struct unwind_table **ret_table,
						 int *ret_error)
{
	enum table_outcome outcome = TABLE_HUNG_UP;

	for (int i = 0; i < TRIES; i++) {
		outcome = table_helper_ask(h, fd, ret_table, ret_error);
		if (outcome != TABLE_KILLED && outcome != TABLE_ENDED &&
		    outcome != TABLE_HUNG_UP)
			break;
	}
	return outcome;
}

/* Converts an outcome to the errno of table_helper_make(). */
static int table_helper_errno(enum table_outcome outcome, int error)
{
	if (table_helper_is_fault(outcome))
		return -EPIPE;
	if (table_helper_is_silence(outcome) || outcome == TABLE_GIVEN_UP)
		return -EAGAIN;
	if (outcome == TABLE_MADE)
		return 0;
	/* A worker must not return these two codes. */
	return error == -EPIPE || error == -EAGAIN ? -EBADMSG : error;
}

/* Returns the CPU time of the helper since `before`. For a worker that was killed before its
 * answer, it is known only after its supervisor has exited. */
static uint64_t used_ns(const struct table_helper *h)
{
	return h->answers.cpu_ns + h->reaped_ns;
}

int table_helper_make(struct table_helper *h, int fd, const char *path,
		      uint64_t *cost_ns, struct unwind_table **ret_table)
{
	struct file_key key = { 0 };
	enum table_outcome outcome = TABLE_KILLED;
	uint64_t before_ns;
	struct stat st;
	int error = 0;

	if (fstat(fd, &st))
		return -errno;
	key.dev = st.st_dev;
	key.ino = st.st_ino;
	key.changed = st.st_mtim;
	pthread_mutex_lock(&h->lock);
	before_ns = used_ns(h);
	if (!table_helper_is_refused(h, &key))
		outcome = table_helper_ask_again(h, fd, ret_table, &error);
	*cost_ns += used_ns(h) - before_ns;
	if (table_helper_is_fault(outcome) && !table_helper_is_refused(h, &key))
		table_helper_refuse(h, &key, path, outcome);
	if (table_helper_is_silence(outcome) && !h->is_silent)
		table_helper_report(path, "did not answer");
	h->is_silent = table_helper_is_silence(outcome);
	pthread_mutex_unlock(&h->lock);
	return table_helper_errno(outcome, error);
}

void table_helper_give_up(struct table_helper *h)
{
	if (h)
		atomic_store(&h->answers.gives_up, true);
}

uint64_t table_helper_cpu_ns(struct table_helper *h)
{
	return h ? h->answers.cpu_ns : 0;
}

int table_helper_start(table_make make, struct table_helper **ret_helper,
		       struct err *err)
{
	struct table_helper *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return err_set(err, -ENOMEM, "out of memory");
	h->answers.fd = -1;
	h->make = make;
	pthread_mutex_init(&h->lock, NULL);
	r = table_helper_begin(h, err);
	if (r) {
		table_helper_stop(h);
		return r;
	}
	*ret_helper = h;
	return 0;
}

void table_helper_stop(struct table_helper *h)
{
	if (!h)
		return;
	hang_up(h);
	pthread_mutex_destroy(&h->lock);
	free(h);
}
