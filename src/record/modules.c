/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules.c - handles kernel modules that are loaded during a recording. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "capture/source/snapshot.h"
#include "capture/system/kernel_files.h"
#include "record/keep/session_dir.h"
#include "record/priv.h"

enum {
	SYMBOLS_DELAY_NS = 20 * NS_PER_MS
};

struct recorder_modules_look {
	struct recorder *r;
	VEC(struct proc_module) live;
};

/* Records a new module as mapped since it was loaded or, if that time is unknown, since the last
 * check, because its code can have run since then. */
static int recorder_modules_take_module(struct recorder_modules_look *l,
					const struct proc_module *m)
{
	struct recorder *r = l->r;
	uint64_t time_ns = module_watch_time(&r->modules, m->name);
	int result;

	log_say(LOG_DEBUG, "module %s was loaded", m->name);
	r->snapshot_is_new = true;
	result = snapshot_module(r->snapshot, m, time_ns ? time_ns : r->modules_ns + 1);
	r->snapshot_is_new = false;
	return result;
}

static int recorder_modules_report(void *ctx, enum module_event event,
				   const struct proc_module *m)
{
	struct recorder_modules_look *l = ctx;

	if (event == MODULE_LOADED)
		return recorder_modules_take_module(l, m);
	return vec_push(&l->live, *m) ? 0 : -ENOMEM;
}

int recorder_look_at_modules(struct recorder *r)
{
	struct recorder_modules_look l = { .r = r };
	struct err err = { 0 };
	int result;

	if (r->config.session_flags & SESSION_USER_ONLY)
		return 0;
	result = module_watch_look(&r->modules, recorder_modules_report, &l);
	r->modules_ns = r->frontier_ns;
	/* If this fails, reports will list the modules as missing. */
	if (l.live.nr && kernel_files_add_modules(r->config.dir->writing, l.live.at,
						  l.live.nr, &err))
		log_say(LOG_WARNING, "cannot save newly loaded modules: %s", err.text);
	for (size_t i = 0; i < l.live.nr; i++)
		(void)vec_push(&r->symbols_due, l.live.at[i]);
	if (l.live.nr)
		r->symbols_due_ns = clock_now_ns(CLOCK_MONOTONIC) + SYMBOLS_DELAY_NS;
	vec_done(&l.live);
	return result == -ENOMEM ? err_set(r->err, result, "out of memory") : 0;
}

/* ---- symbols ---- */

/* A thread that reads the symbols of new modules. Until it is joined, only the thread uses the
 * fields other than `done`. */
struct symbols_job {
	pthread_t thread;
	atomic_bool done;
	const char *dir;
	VEC(struct proc_module) modules;
	struct err err;
	int result;
};

static void *recorder_modules_read_symbols(void *arg)
{
	struct symbols_job *job = arg;

	job->result = kernel_files_add_symbols(job->dir, job->modules.at,
					       job->modules.nr, &job->err);
	atomic_store(&job->done, true);
	return NULL;
}

static void recorder_modules_free_job(struct symbols_job *job)
{
	if (job->result)
		log_say(LOG_WARNING, "cannot save symbols of newly loaded modules: %s",
			job->err.text);
	vec_done(&job->modules);
	free(job);
}

static void recorder_modules_start_job(struct recorder *r)
{
	struct symbols_job *job = calloc(1, sizeof(*job));

	if (!job)
		return;
	job->dir = r->config.dir->writing;
	for (size_t i = 0; i < r->symbols_due.nr; i++)
		(void)vec_push(&job->modules, r->symbols_due.at[i]);
	r->symbols_due.nr = 0;
	if (!pthread_create(&job->thread, NULL, recorder_modules_read_symbols, job)) {
		r->symbols_job = job;
		return;
	}
	(void)recorder_modules_read_symbols(job);
	recorder_modules_free_job(job);
}

static void join_job(struct recorder *r)
{
	pthread_join(r->symbols_job->thread, NULL);
	recorder_modules_free_job(r->symbols_job);
	r->symbols_job = NULL;
}

void recorder_read_symbols(struct recorder *r)
{
	if (r->symbols_job && atomic_load(&r->symbols_job->done))
		join_job(r);
	if (!r->symbols_job && r->symbols_due.nr &&
	    clock_now_ns(CLOCK_MONOTONIC) >= r->symbols_due_ns)
		recorder_modules_start_job(r);
}

void recorder_end_symbols(struct recorder *r)
{
	if (r->symbols_job)
		join_job(r);
	if (r->symbols_due.nr)
		recorder_modules_start_job(r);
	if (r->symbols_job)
		join_job(r);
}
