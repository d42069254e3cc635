/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.c - opens counters, starts the command, and waits for the end. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/files/process_facts.h"
#include "base/log.h"
#include "capture/events/perf_attr.h"
#include "capture/source/perf_source.h"
#include "counting/count.h"

enum {
	/* Interval for checking whether the given tasks are alive. */
	LOOK_NS = 50000000,
};

struct count_run_waiting {
	struct count_run *run;
	struct count_values before; /* at the end of the last interval */
	count_fn interval;
	void *ctx;
	sigset_t mask;
	uint64_t start_ns;
	uint64_t next_ns; /* end of this interval; 0: no intervals */
	uint64_t nr_done;
	unsigned int nr_signals;
	bool write_failed; /* `interval` failed; otherwise, reading the counters failed */
};

size_t count_nr_values(const struct count_run *run)
{
	return run->nr_scopes * run->events.list.nr;
}

struct counter_value count_total(const struct count_run *run,
				 const struct count_values *values, size_t event)
{
	struct counter_value total = { 0 };

	for (size_t p = 0; p < run->nr_scopes; p++)
		counter_add(&total, &values->at[p * run->events.list.nr + event]);
	return total;
}

static int count_run_read_all(struct count_run *run, struct count_values *v)
{
	size_t nr = run->events.list.nr;

	for (size_t i = 0; i < count_nr_values(run); i++) {
		int r = counters_read(run->counters, i % nr, i / nr, &v->at[i]);

		if (r)
			return r;
	}
	return 0;
}

/* Replaces `now` by the counts since `before`, and sets `before` to the old `now`. */
static void take_difference(const struct count_run *run, struct count_values *now,
			    struct count_values *before)
{
	for (size_t i = 0; i < count_nr_values(run); i++) {
		struct counter_value old = before->at[i];

		before->at[i] = now->at[i];
		now->at[i].count -= old.count;
		now->at[i].enabled_ns -= old.enabled_ns;
		now->at[i].running_ns -= old.running_ns;
	}
}

/* ---- opening ---- */

static int open_counters(struct count_run *run, struct err *err)
{
	struct counters_config config = {
		.events = run->events.list.at,
		.nr_events = run->events.list.nr,
		.tids = run->tids.at,
		.cpus = run->cpus.at,
		.nr_scopes = run->nr_scopes,
		.inherit = run->mode == COUNT_COMMAND || run->mode == COUNT_PROCESSES,
		.on_exec = run->mode == COUNT_COMMAND,
	};

	if (run->mode == COUNT_COMMAND)
		config.tids = &run->target.pid;
	else if (run->mode == COUNT_SYSTEM || run->mode == COUNT_CPUS)
		config.tids = NULL;
	return counters_open(&config, &run->counters, err);
}

/* Opens the counters. If that is not permitted, tries again for user space only: with
 * perf_event_paranoid 2, users can count only user space of their processes. */
static int count_run_open_with_rights(struct count_run *run, struct err *err)
{
	int r = open_counters(run, err);
	bool may_retry = (r == -EACCES || r == -EPERM) && run->mode != COUNT_SYSTEM &&
			 run->mode != COUNT_CPUS && perf_attr_paranoid() <= 2;

	for (size_t i = 0; i < run->events.list.nr && may_retry; i++) {
		struct event_request *e = &run->events.list.at[i];

		may_retry = e->user && !(e->scope_given && e->kernel);
		event_request_user_only(e);
	}
	if (!may_retry)
		return r;
	r = open_counters(run, err);
	if (!r)
		log_say(LOG_NOTE,
			"user space only: /proc/sys/kernel/perf_event_paranoid does not let you count the kernel (1 or less does)");
	return r;
}

/* ---- waiting ---- */

/* Returns whether the task still runs. A zombie has ended, even if its parent has not yet waited
 * for it. */
static bool task_lives(pid_t task)
{
	struct process_stat stat;
	struct buf text = { 0 };
	bool lives;

	if (kill(task, 0))
		return errno == EPERM;
	lives = process_stat_read((int32_t)task, &text, &stat) ||
		!strchr("ZX", stat.state);
	buf_done(&text);
	return lives;
}

static bool tasks_live(const struct count_run *run)
{
	if (run->mode != COUNT_PROCESSES && run->mode != COUNT_THREADS)
		return true;
	for (size_t i = 0; i < run->tasks.nr; i++)
		if (task_lives(run->tasks.at[i]))
			return true;
	return false;
}

static int end_interval(struct count_run_waiting *w, uint64_t duration_ns)
{
	struct count_values now = { .duration_ns = duration_ns };
	int r;

	now.at = calloc(count_nr_values(w->run) + 1, sizeof(*now.at));
	if (!now.at)
		return -ENOMEM;
	r = count_run_read_all(w->run, &now);
	if (!r) {
		take_difference(w->run, &now, &w->before);
		r = w->interval(w->ctx, &now);
		w->write_failed = r != 0;
	}
	free(now.at);
	w->nr_done++;
	w->next_ns += w->run->interval_ns;
	return r;
}

/* Returns how long to sleep: until the end of the interval, or the next check of the tasks. */
static uint64_t wake_ns(const struct count_run_waiting *w, uint64_t now)
{
	uint64_t wake = w->next_ns ? w->next_ns : now + 3600ULL * NS_PER_S;
	bool looks = w->run->mode == COUNT_PROCESSES || w->run->mode == COUNT_THREADS;

	if (looks && wake > now + LOOK_NS)
		wake = now + LOOK_NS;
	return wake > now ? wake - now : 0;
}

/* Handles a signal, and returns whether the wait ends. The first signal is forwarded to the
 * command, which decides how to react. The second signal, or the first if there is no command, ends
 * the wait. SIGCHLD ends it if the command has ended. */
static bool count_run_take_signal(struct count_run_waiting *w, int signal)
{
	struct target *t = &w->run->target;

	if (signal == SIGCHLD) {
		target_poll(t);
		return t->ended;
	}
	if (!t->pid || w->nr_signals++)
		return true;
	kill(t->pid, signal);
	return false;
}

static int count_run_wait_for_end(struct count_run_waiting *w)
{
	int r = 0;

	while (!r) {
		uint64_t sleep_ns = wake_ns(w, clock_now_ns(CLOCK_MONOTONIC));
		struct timespec timeout = clock_timespec(sleep_ns);
		int signal = sigtimedwait(&w->mask, NULL, &timeout);

		if (signal > 0 && count_run_take_signal(w, signal))
			break;
		if (w->next_ns && clock_now_ns(CLOCK_MONOTONIC) >= w->next_ns)
			r = end_interval(w, w->run->interval_ns);
		if (w->run->nr_intervals && w->nr_done >= w->run->nr_intervals)
			break;
		if (!tasks_live(w->run))
			break;
	}
	return r;
}

/* Ends the last, incomplete interval, with its actual duration. */
static int end_last_interval(struct count_run_waiting *w, uint64_t now)
{
	uint64_t begin_ns = w->next_ns - w->run->interval_ns;

	if (!w->next_ns || (w->run->nr_intervals && w->nr_done >= w->run->nr_intervals))
		return 0;
	return end_interval(w, now > begin_ns ? now - begin_ns : 0);
}

static void fill_mask(sigset_t *mask)
{
	sigemptyset(mask);
	sigaddset(mask, SIGINT);
	sigaddset(mask, SIGTERM);
	sigaddset(mask, SIGHUP);
	sigaddset(mask, SIGCHLD);
}

static int count_run_begin(struct count_run *run, struct err *err)
{
	int r;

	if (run->mode == COUNT_COMMAND) {
		r = target_go(&run->target, run->command[0], err);
		run->not_run = r != 0;
		return r;
	}
	return counters_enable(run->counters, true);
}

static int count_run_count(struct count_run *run, struct count_run_waiting *w,
			   struct count_values *ret_values, struct err *err)
{
	int r = count_run_open_with_rights(run, err);
	uint64_t end_ns;

	if (r)
		return r;
	w->start_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (run->interval_ns)
		w->next_ns = w->start_ns + run->interval_ns;
	r = count_run_begin(run, err);
	if (r)
		return r;
	r = count_run_wait_for_end(w);
	end_ns = clock_now_ns(CLOCK_MONOTONIC);
	ret_values->duration_ns = end_ns - w->start_ns;
	if (!r)
		r = end_last_interval(w, end_ns);
	/* If the command continues to run, report the counts so far. */
	if (!r)
		r = count_run_read_all(run, ret_values);
	if (r && w->write_failed)
		return err_sys(err, r, "cannot write the counts");
	return r ? err_sys(err, r, "cannot read the counters") : 0;
}

/* Restores the signal mask, which the next run's command inherits. */
static void count_run_give_back(const struct target_signals *old)
{
	sigprocmask(SIG_SETMASK, &old->mask, NULL);
}

int count_run_once(struct count_run *run, count_fn interval, void *ctx,
		   struct count_values *ret_values, struct err *err)
{
	struct count_run_waiting w = { .run = run, .interval = interval, .ctx = ctx };
	struct target_signals old;
	bool taken = false;
	int r;

	run->target = (struct target){ .go_fd = -1, .fail_fd = -1 };
	fill_mask(&w.mask);
	ret_values->at = calloc(count_nr_values(run) + 1, sizeof(*ret_values->at));
	w.before.at = calloc(count_nr_values(run) + 1, sizeof(*w.before.at));
	r = ret_values->at && w.before.at ? target_signals_take(&w.mask, &old, err)
					  : err_set(err, -ENOMEM, "out of memory");
	taken = !r;
	if (!r && run->command)
		r = target_hold(run->command, &old, &run->target, err);
	if (!r)
		r = count_run_count(run, &w, ret_values, err);
	counters_close(run->counters);
	run->counters = NULL;
	target_drop(&run->target);
	if (!r && run->target.pid && run->target.ended)
		run->target_status = target_exit_status(run->target.status);
	free(w.before.at);
	if (taken)
		count_run_give_back(&old);
	if (r) {
		free(ret_values->at);
		ret_values->at = NULL;
	}
	return r;
}
