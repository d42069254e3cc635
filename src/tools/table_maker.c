#include "tools/table_maker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolve/elf_file.h"
#include "resolve/unwind_cache.h"

struct unwind_table *table_maker_load(const char *cache_dir, int fd, const char *path)
{
	struct unwind_table *table = NULL;
	struct elf_file f;

	if (elf_file_init_fd(&f, fd, NULL))
		return NULL;
	/* Without a table the frame pointer is tried. */
	if (elf_file_sections(&f, NULL) ||
	    unwind_cache_load(cache_dir, path, &f, NULL, &table))
		table = NULL;
	elf_file_done(&f);
	return table;
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
		job->table = table_maker_load(m->cache_dir, job->fd, job->path);
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
	if (m->runs)
		return 0;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->changed, NULL);
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

bool table_maker_take(struct table_maker *m, bool wait, uint32_t *ret_image,
		      struct unwind_table **ret_table)
{
	struct table_job *job;

	if (!m->nr)
		return false;
	pthread_mutex_lock(&m->lock);
	while (wait && !m->made)
		pthread_cond_wait(&m->changed, &m->lock);
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
