#include "tools/table_maker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/table_helper.h"
#include "resolve/unwind_cache.h"
#include "resolve/unwind_table.h"

struct making {
	const struct table_maker *maker;
	const char *path;
};

static int make(void *ctx, int fd, struct unwind_table **ret_table)
{
	const struct making *m = ctx;

	return m->maker->helper
		       ? table_helper_make(m->maker->helper, fd, m->path, ret_table)
		       : unwind_table_load_fd(fd, ret_table);
}

static struct unwind_table *load(const struct table_maker *m, const char *cache_dir,
				 int fd, const char *path)
{
	struct making making = { .maker = m, .path = path };
	const struct unwind_maker how = {
		.fd = fd, .of_file = true, .make = make, .ctx = &making
	};
	struct unwind_table *table = NULL;

	/* Without a table the frame pointer is tried. */
	return unwind_cache_load_by(cache_dir, path, &how, &table) ? NULL : table;
}

struct unwind_table *table_maker_load(const struct table_maker *m, int fd,
				      const char *path)
{
	return load(m, m->cache_dir, fd, path);
}

struct unwind_table *table_maker_make(const struct table_maker *m, int fd,
				      const char *path)
{
	return load(m, NULL, fd, path);
}

static void append(struct table_job **list, struct table_job *job)
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

static void *make_tables(void *arg)
{
	struct table_maker *m = arg;
	struct table_job *job;

	pthread_mutex_lock(&m->lock);
	while (!m->end) {
		job = take_first(&m->asked);
		if (!job) {
			pthread_cond_wait(&m->changed, &m->lock);
			continue;
		}
		pthread_mutex_unlock(&m->lock);
		job->table = table_maker_load(m, job->fd, job->path);
		close(job->fd);
		job->fd = -1;
		pthread_mutex_lock(&m->lock);
		append(&m->made, job);
		pthread_cond_broadcast(&m->changed);
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

static int start(struct table_maker *m)
{
	pthread_condattr_t monotonic;

	if (m->runs)
		return 0;
	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&m->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (pthread_create(&m->thread, NULL, make_tables, m))
		return -EAGAIN;
	m->runs = true;
	return 0;
}

static void free_job(struct table_job *job)
{
	if (!job)
		return;
	if (job->fd >= 0)
		close(job->fd);
	free(job->path);
	free(job);
}

int table_maker_ask(struct table_maker *m, uint32_t image, int fd, const char *path)
{
	struct table_job *job = calloc(1, sizeof(*job));
	int r = -ENOMEM;

	if (job) {
		job->fd = -1;
		job->path = strdup(path);
		r = job->path ? start(m) : -ENOMEM;
	}
	if (r) {
		free_job(job);
		return r;
	}
	job->image = image;
	job->fd = fd;
	pthread_mutex_lock(&m->lock);
	append(&m->asked, job);
	m->nr++;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
	return 0;
}

/* With the lock held.  False: there will be none by then. */
static bool wait_for_one(struct table_maker *m, uint64_t until_ns)
{
	struct timespec until = { .tv_sec = (time_t)(until_ns / 1000000000),
				  .tv_nsec = (long)(until_ns % 1000000000) };
	int r = until_ns ? 0 : ETIMEDOUT;

	while (!m->made && !r)
		r = until_ns == UINT64_MAX
			    ? pthread_cond_wait(&m->changed, &m->lock)
			    : pthread_cond_timedwait(&m->changed, &m->lock, &until);
	return m->made;
}

bool table_maker_take(struct table_maker *m, uint64_t until_ns, uint32_t *ret_image,
		      struct unwind_table **ret_table)
{
	struct table_job *job = NULL;

	if (!m->nr)
		return false;
	pthread_mutex_lock(&m->lock);
	if (wait_for_one(m, until_ns))
		job = take_first(&m->made);
	pthread_mutex_unlock(&m->lock);
	if (!job)
		return false;
	m->nr--;
	*ret_image = job->image;
	*ret_table = job->table;
	free_job(job);
	return true;
}

void table_maker_done(struct table_maker *m)
{
	struct table_job *job;

	if (!m->runs)
		return;
	pthread_mutex_lock(&m->lock);
	m->end = true;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	while ((job = take_first(&m->asked)) != NULL)
		free_job(job);
	while ((job = take_first(&m->made)) != NULL) {
		unwind_table_free(job->table);
		free_job(job);
	}
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->lock);
	*m = (struct table_maker){ 0 };
}
