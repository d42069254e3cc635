/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/table_maker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/helper/table_account.h"
#include "record/helper/table_budget.h"
#include "record/helper/table_helper.h"
#include "resolve/unwind/cache.h"
#include "resolve/unwind/table.h"

static const uint64_t patience_ns = 500000000;

struct table_job {
	struct table_job *next;
	struct table_made made;
	int fd;
	bool cached;
	char *path;
};

struct table_work {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	char *cache_dir; /* NULL: no cache */
	struct table_helper *helper;
	struct table_budget *budget;
	struct table_job *asked; /* requests, oldest first; `made` are the results */
	struct table_job *made;
	bool end;
	bool has_ended;
	bool is_left; /* the owner no longer waits: the thread frees this struct when it ends */
};

struct table_maker_making {
	struct table_helper *helper;
	const char *path;
	uint64_t helper_ns; /* CPU time of the helper's processes */
};

static int table_maker_make_table(void *ctx, int fd, struct unwind_table **ret_table)
{
	struct table_maker_making *m = ctx;

	return m->helper ? table_helper_make(m->helper, fd, m->path, &m->helper_ns,
					     ret_table)
			 : unwind_table_load_fd(fd, ret_table);
}

static struct unwind_table *table_maker_load(struct table_maker_making *making,
					     const char *cache_dir, int fd)
{
	const struct unwind_maker how = {
		.fd = fd, .of_file = true, .make = table_maker_make_table, .ctx = making
	};
	struct unwind_table *table = NULL;

	/* Ignore errors: without a table, stacks are unwound by frame pointers. */
	return unwind_cache_load_by(cache_dir, making->path, &how, &table) ? NULL
									   : table;
}

/* Loads a table if the budget of the file's owner allows it, and charges the owner. The charge
 * includes this process's work (reading, checking, storing), which grows with the table. */
static struct unwind_table *load_within(struct table_budget *budget,
					struct table_maker_making *making,
					const char *cache_dir, int fd,
					struct table_made *made)
{
	uint64_t begin_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	struct unwind_table *table;

	made->account = table_account_of_file(fd);
	made->is_refused = !table_budget_allows(budget, made->account,
						clock_now_ns(CLOCK_MONOTONIC));
	if (made->is_refused)
		return NULL;
	table = table_maker_load(making, cache_dir, fd);
	table_budget_spend(budget, made->account, clock_now_ns(CLOCK_MONOTONIC),
			   clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns +
				   making->helper_ns);
	return table;
}

static void table_maker_make_one(struct table_made *made, struct table_helper *helper,
				 struct table_budget *budget, const char *cache_dir,
				 int fd, const char *path)
{
	struct table_maker_making making = { .helper = helper, .path = path };

	made->is_refused = false;
	made->account = TABLE_ACCOUNT_SYSTEM;
	made->table = budget ? load_within(budget, &making, cache_dir, fd, made)
			     : table_maker_load(&making, cache_dir, fd);
}

void table_maker_make(const struct table_maker *m, int fd, const char *path,
		      struct table_made *ret_made)
{
	table_maker_make_one(ret_made, m->helper, m->budget, NULL, fd, path);
}

static void table_maker_append(struct table_job **list, struct table_job *job)
{
	while (*list)
		list = &(*list)->next;
	*list = job;
	job->next = NULL;
}

static struct table_job *take_first(struct table_job **list)
{
	struct table_job *job = *list;

	if (job)
		*list = job->next;
	return job;
}

static void table_maker_free_job(struct table_job *job)
{
	if (!job)
		return;
	if (job->fd >= 0)
		close(job->fd);
	unwind_table_free(job->made.table);
	free(job->path);
	free(job);
}

static void free_work(struct table_work *w)
{
	struct table_job *job;

	while ((job = take_first(&w->asked)) != NULL)
		table_maker_free_job(job);
	while ((job = take_first(&w->made)) != NULL)
		table_maker_free_job(job);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w->cache_dir);
	free(w);
}

static void *table_maker_make_tables(void *arg)
{
	struct table_work *w = arg;
	struct table_job *job;
	bool is_left;

	pthread_mutex_lock(&w->lock);
	while (!w->end) {
		job = take_first(&w->asked);
		if (!job) {
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		pthread_mutex_unlock(&w->lock);
		table_maker_make_one(&job->made, w->helper, w->budget,
				     job->cached ? w->cache_dir : NULL, job->fd,
				     job->path);
		close(job->fd);
		job->fd = -1;
		pthread_mutex_lock(&w->lock);
		table_maker_append(&w->made, job);
		pthread_cond_broadcast(&w->changed);
	}
	w->has_ended = true;
	is_left = w->is_left;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (is_left)
		free_work(w);
	return NULL;
}

static int table_maker_start_thread(struct table_work *w)
{
	pthread_attr_t detached;
	pthread_t thread;
	int r;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &detached, table_maker_make_tables, w);
	pthread_attr_destroy(&detached);
	return r ? -EAGAIN : 0;
}

static int table_maker_start(struct table_maker *m)
{
	pthread_condattr_t monotonic;
	struct table_work *w;

	if (m->work)
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	w->helper = m->helper;
	w->budget = m->budget;
	w->cache_dir = m->cache_dir ? strdup(m->cache_dir) : NULL;
	if ((m->cache_dir && !w->cache_dir) || table_maker_start_thread(w)) {
		free_work(w);
		return -EAGAIN;
	}
	m->work = w;
	return 0;
}

int table_maker_ask(struct table_maker *m, uint32_t image, int fd, const char *path,
		    bool cached)
{
	struct table_job *job = calloc(1, sizeof(*job));
	int r = -ENOMEM;

	if (job) {
		job->fd = -1;
		job->path = strdup(path);
		r = job->path ? table_maker_start(m) : -ENOMEM;
	}
	if (r) {
		table_maker_free_job(job);
		return r;
	}
	job->made.image = image;
	job->fd = fd;
	job->cached = cached;
	pthread_mutex_lock(&m->work->lock);
	table_maker_append(&m->work->asked, job);
	m->nr++;
	pthread_cond_broadcast(&m->work->changed);
	pthread_mutex_unlock(&m->work->lock);
	return 0;
}

/* Waits for a change of `w` until `until_ns` (UINT64_MAX: no limit). Call with the lock held.
 * Returns 0 or ETIMEDOUT. */
static int wait_until(struct table_work *w, uint64_t until_ns)
{
	struct timespec until = clock_timespec(until_ns);

	if (until_ns == UINT64_MAX)
		return pthread_cond_wait(&w->changed, &w->lock);
	return pthread_cond_timedwait(&w->changed, &w->lock, &until);
}

bool table_maker_take(struct table_maker *m, uint64_t until_ns,
		      struct table_made *ret_made)
{
	struct table_work *w = m->work;
	struct table_job *job;
	int r = until_ns ? 0 : ETIMEDOUT;

	if (!m->nr)
		return false;
	pthread_mutex_lock(&w->lock);
	while (!w->made && !r)
		r = wait_until(w, until_ns);
	job = take_first(&w->made);
	pthread_mutex_unlock(&w->lock);
	if (!job)
		return false;
	m->nr--;
	*ret_made = job->made;
	job->made.table = NULL;
	table_maker_free_job(job);
	return true;
}

/* Waits for the thread to end; returns whether it has. Call with the lock held. */
static bool table_maker_wait_for_end(struct table_work *w)
{
	uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + patience_ns;
	int r = 0;

	while (!w->has_ended && !r)
		r = wait_until(w, until_ns);
	return w->has_ended;
}

void table_maker_done(struct table_maker *m)
{
	struct table_work *w = m->work;
	bool ended;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->end = true;
	pthread_cond_broadcast(&w->changed);
	ended = table_maker_wait_for_end(w);
	if (!ended) {
		/* The thread may be waiting in the helper, with the helper's lock held. This call
		 * needs no lock: it only sets a flag that ends the wait. */
		table_helper_give_up(w->helper);
		ended = table_maker_wait_for_end(w);
	}
	w->is_left = !ended;
	pthread_mutex_unlock(&w->lock);
	if (ended)
		free_work(w);
	*m = (struct table_maker){ 0 };
}
