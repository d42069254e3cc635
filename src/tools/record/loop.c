/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loop.c - waits for rings, signals, processes and timers, and runs the recorder. */
#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "record/recorder.h"
#include "tools/record/plan.h"

struct loop {
	struct record_plan *p;
	uint64_t start_ns;
	uint64_t stop_ns; /* time at which --duration ends; UINT64_MAX: no limit */
	/* Time at which --delay ends; UINT64_MAX: sampling has started. */
	uint64_t begin_ns;
	bool stopped; /* sampling has ended, but the command may continue */
	bool done;
	int signal; /* the signal that ended the recording, or 0 */
	int failed; /* the recorder's error */
	int pid_fds[RECORD_PIDS_MAX];
};

/* Sends a signal that only this process received to the target also. Signals of a terminal were
 * sent to the whole foreground group, including the target. */
static void pass_on(const struct loop *l, const struct signalfd_siginfo *info)
{
	const struct target *t = &l->p->target;

	if (t->pid && !t->ended && info->ssi_code != SI_KERNEL)
		kill(t->pid, (int)info->ssi_signo);
}

static void record_loop_take_signals(struct loop *l)
{
	struct signalfd_siginfo info;

	while (read(l->p->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			target_poll(&l->p->target);
			continue;
		}
		pass_on(l, &info);
		l->signal = (int)info.ssi_signo;
		/* Ctrl-C is for the target, as in a shell. End the recording if there is no
		 * target, or if this is a request to terminate. */
		if (!l->p->target.pid || info.ssi_signo == SIGTERM ||
		    info.ssi_signo == SIGHUP || l->p->options.system_wide)
			l->done = true;
	}
	if (l->p->target.pid && l->p->target.ended)
		l->done = true;
}

/* Returns whether one of the processes of --pid still exists; when all have ended, the recording
 * ends. */
static bool pids_live(const struct loop *l)
{
	for (size_t i = 0; i < l->p->nr_pids; i++) {
		struct pollfd poll_fd = { .fd = l->pid_fds[i], .events = POLLIN };

		if (l->pid_fds[i] < 0 ? !kill(l->p->pids[i], 0) || errno == EPERM
				      : poll(&poll_fd, 1, 0) == 0)
			return true;
	}
	return false;
}

static int timeout_ms(const struct loop *l)
{
	uint64_t next = l->begin_ns < l->stop_ns ? l->begin_ns : l->stop_ns;
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	int ms = l->stopped ? 1000 : recorder_timeout_ms(l->p->recorder);
	int attend_ms = l->stopped ? -1 : recorder_attend_ms(l->p->recorder);

	if (attend_ms >= 0 && attend_ms < ms)
		ms = attend_ms;
	if (next == UINT64_MAX || l->stopped)
		return ms;
	if (next <= now)
		return 0;
	return (next - now) / 1000000 + 1 < (uint64_t)ms
		       ? (int)((next - now) / 1000000 + 1)
		       : ms;
}

/* Ends sampling. Writes all data now, because the command may continue for a long time. */
static void stop_sampling(struct loop *l, struct err *err)
{
	l->failed = recorder_stop(l->p->recorder, err);
	l->stopped = true;
	if (!l->p->target.pid)
		l->done = true;
}

/* Starts sampling after --delay, and ends it after --duration. */
static void keep_time(struct loop *l, struct err *err)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	if (now >= l->begin_ns) {
		l->begin_ns = UINT64_MAX;
		l->p->sampled = true;
		if (l->p->options.duration_ns)
			l->stop_ns = now + l->p->options.duration_ns;
		l->failed = recorder_enable(l->p->recorder, true, err);
	}
	if (now >= l->stop_ns && !l->stopped)
		stop_sampling(l, err);
}

/* Does the recorder's pending work.  `ring`: a ring may soon be full; `begun`: a process started.
 */
static void record_loop_record(struct loop *l, bool ring, bool begun, struct err *err)
{
	struct recorder *r = l->p->recorder;

	if (begun || recorder_attend_ms(r) == 0)
		l->failed = recorder_attend(r, err);
	if (!l->failed && recorder_is_due(r, ring))
		l->failed = recorder_round(r, err);
}

static void record_loop_iterate(struct loop *l, struct err *err)
{
	struct pollfd fds[3] = {
		{ .fd = l->stopped ? -1 : recorder_poll_fd(l->p->recorder),
		  .events = POLLIN },
		{ .fd = l->p->signal_fd, .events = POLLIN },
		{ .fd = l->stopped ? -1 : recorder_attend_fd(l->p->recorder),
		  .events = POLLIN },
	};

	if (poll(fds, 3, timeout_ms(l)) < 0 && errno != EINTR) {
		l->failed = err_sys(err, -errno, "cannot wait for samples");
		return;
	}
	record_loop_take_signals(l);
	keep_time(l, err);
	if (!l->failed && !l->stopped)
		record_loop_record(l, fds[0].revents, fds[2].revents, err);
	if (l->p->nr_pids && !pids_live(l))
		l->done = true;
}

int record_loop_run(struct record_plan *p, struct err *err, int *ret_signal)
{
	struct loop l = { .p = p,
			  .start_ns = clock_now_ns(CLOCK_MONOTONIC),
			  .stop_ns = UINT64_MAX,
			  .begin_ns = UINT64_MAX };

	p->sampled = !p->options.delay_ns;
	if (p->options.delay_ns)
		l.begin_ns = l.start_ns + p->options.delay_ns;
	else if (p->options.duration_ns)
		l.stop_ns = l.start_ns + p->options.duration_ns;
	for (size_t i = 0; i < p->nr_pids; i++)
		l.pid_fds[i] = (int)syscall(SYS_pidfd_open, p->pids[i], 0);
	target_poll(&p->target);
	l.done = p->target.ended;
	while (!l.done && !l.failed)
		record_loop_iterate(&l, err);
	for (size_t i = 0; i < p->nr_pids; i++)
		if (l.pid_fds[i] >= 0)
			close(l.pid_fds[i]);
	*ret_signal = l.signal;
	return l.failed;
}
