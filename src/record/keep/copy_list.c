/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/keep/copy_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files/charge.h"
#include "base/files/io.h"
#include "base/log.h"
#include "format/session/checksums.h"
#include "record/keep/private_copy.h"

enum {
	JOBS_MAX = 4096
};

static const uint64_t copy_max = 1 << 30; /* larger files are not copied */

static void copy_list_end_job(struct copy_job *job)
{
	close(job->fd);
	free(job->path);
	free(job->what);
}

static void copy_list_report(const char *what, int failure)
{
	log_say(LOG_WARNING, "%s could not be saved: %s", what, strerror(-failure));
}

static uint64_t copy_list_mtime_ns(const struct stat *st)
{
	return clock_ns(st->st_mtim);
}

static int make_folder_of(const char *path)
{
	char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;
	int r = folder ? 0 : -ENOMEM;

	if (slash && slash != folder) {
		*slash = 0;
		r = io_make_dirs(folder, 0755);
	}
	free(folder);
	return r;
}

/* Sets the copy's time to now, which marks it as still in use (daemon/upkeep/copies.h). */
static void is_of_use(const char *path)
{
	(void)io_set_times(path, NULL);
}

/* Returns whether the copy is up to date: false if the file has grown or was rewritten since. */
static bool is_copied(const char *path, const struct stat *st)
{
	struct stat copy;

	return !stat(path, &copy) && copy.st_size >= st->st_size &&
	       copy_list_mtime_ns(&copy) >= copy_list_mtime_ns(st);
}

/* Returns whether the file has changed since its first sample: cp and some linkers overwrite a
 * file in place, and the sampled code then no longer exists. */
static bool is_overwritten(const struct copy_job *job, const struct stat *st)
{
	return (uint64_t)st->st_size != job->bytes ||
	       copy_list_mtime_ns(st) != job->mtime_ns;
}

/* Returns 1 if the file must be copied and stores its state in *ret_st; 0 if it need not or must
 * not be copied; or a negative errno. */
static int copy_list_look(const struct copy_job *job, struct stat *ret_st)
{
	struct stat st, copy;
	bool is_there;

	if (fstat(job->fd, &st))
		return -errno;
	if (job->is_binary && is_overwritten(job, &st))
		return 0;
	if ((uint64_t)st.st_size > copy_max || io_is_hollow(job->fd))
		return job->is_binary ? 0 : -EFBIG;
	/* Any copy of a binary will do, even one of an earlier recording. */
	is_there =
		job->is_binary ? !lstat(job->path, &copy) : is_copied(job->path, &st);
	if (is_there)
		is_of_use(job->path);
	*ret_st = st;
	return !is_there;
}

static int copy_list_make_one(const struct copy_job *job, const atomic_bool *stop)
{
	struct stat st = { 0 };
	int r = copy_list_look(job, &st);

	if (r <= 0)
		return r;
	r = make_folder_of(job->path);
	if (!r)
		r = checksums_copy(job->fd, job->path, (uint64_t)st.st_size, stop);
	/* Store in the copy which user is charged for it. On a file system without extended
	 * attributes this fails, and all copies count as those of one unknown user. */
	if (!r)
		(void)charge_set(job->path, job->user);
	/* Remove the copy if another process wrote to the binary while it was copied. */
	if (!r && job->is_binary && (fstat(job->fd, &st) || is_overwritten(job, &st)))
		(void)checksums_remove(job->path);
	return r;
}

/* ---- the list ---- */

static bool copy_list_is_in(const struct copy_list *l, const char *path)
{
	for (size_t i = 0; i < l->jobs.nr; i++)
		if (!strcmp(l->jobs.at[i].path, path))
			return true;
	return false;
}

/* Adds a file to the list. Returns 0 or -ENOMEM. */
static int copy_list_add(struct copy_list *l, const struct copy_job *job)
{
	if (!vec_grow(&l->jobs) || shares_add(&l->files, job->user, 1))
		return -ENOMEM;
	if (shares_add(&l->bytes, job->user, job->waiting)) {
		shares_remove(&l->files, job->user, 1);
		return -ENOMEM;
	}
	l->jobs.at[l->jobs.nr++] = *job;
	return 0;
}

/* Removes the job from the totals. */
static void copy_list_uncount(struct copy_list *l, const struct copy_job *job)
{
	shares_remove(&l->files, job->user, 1);
	shares_remove(&l->bytes, job->user, job->waiting);
}

static void copy_list_drop_last_of(struct copy_list *l, uint32_t user)
{
	size_t i = l->jobs.nr - 1;

	while (l->jobs.at[i].user != user)
		i--;
	copy_list_report(l->jobs.at[i].what, -EFBIG);
	copy_list_uncount(l, &l->jobs.at[i]);
	copy_list_end_job(&l->jobs.at[i]);
	l->jobs.nr--;
	memmove(l->jobs.at + i, l->jobs.at + i + 1,
		(l->jobs.nr - i) * sizeof(*l->jobs.at));
}

/* Makes room for `job`: while the list is full, drops the last file of the user who has the most.
 * Returns 0, or -EFBIG if that is the user of `job`. */
static int copy_list_make_room(struct copy_list *l, const struct copy_job *job)
{
	for (;;) {
		bool is_long = l->jobs.nr >= JOBS_MAX;
		uint32_t giver;

		if (!is_long &&
		    (!l->max_bytes || l->bytes.total + job->waiting <= l->max_bytes))
			return 0;
		giver = is_long ? shares_giver(&l->files, job->user, 1)
				: shares_giver(&l->bytes, job->user, job->waiting);
		if (giver == job->user)
			return -EFBIG;
		copy_list_drop_last_of(l, giver);
	}
}

/* Adds the size of the file to the bytes of its user, and returns whether they are within the limit
 * of a user. Logs only the first file of each user that exceeds it. The user of this process has no
 * limit. */
static bool copy_list_charge(struct copy_list *l, const struct copy_job *job)
{
	uint64_t before = shares_of(&l->taken, job->user);

	if (!l->max_of_user || job->user == geteuid())
		return true;
	/* Counts also the files above the limit, so that it stays exceeded. */
	if (shares_add(&l->taken, job->user, job->waiting))
		return false;
	if (before + job->waiting <= l->max_of_user)
		return true;
	if (before <= l->max_of_user)
		log_say(LOG_WARNING,
			"%s could not be saved: the copied files of user %lld are limited to %llu MB per recording",
			job->what,
			job->user == CHARGE_UNKNOWN ? -1LL : (long long)job->user,
			(unsigned long long)(l->max_of_user >> 20));
	return false;
}

static int copy_list_take_job(struct copy_list *l, struct copy_job *job)
{
	struct stat st = { 0 };
	int r = copy_list_look(job, &st);

	if (r <= 0)
		return r;
	if (job->is_binary && copy_list_is_in(l, job->path))
		return 0;
	job->waiting = (uint64_t)st.st_size;
	if (!copy_list_charge(l, job))
		return 0;
	r = copy_list_make_room(l, job);
	if (!r)
		r = copy_list_add(l, job);
	return r ? r : 1;
}

void copy_list_take(struct copy_list *l, const struct copy_job *job)
{
	struct copy_job taken = *job;
	int r;

	taken.path = strdup(job->path);
	taken.what = strdup(job->what);
	r = taken.path && taken.what ? copy_list_take_job(l, &taken) : -ENOMEM;
	if (r < 0)
		copy_list_report(job->what, r);
	if (r <= 0)
		copy_list_end_job(&taken);
}

/* Empties the list without freeing its jobs, which have ended or were moved to another list. */
static void copy_list_clear(struct copy_list *l)
{
	vec_done(&l->jobs);
	shares_done(&l->bytes);
	shares_done(&l->files);
}

void copy_list_append(struct copy_list *l, struct copy_list *later)
{
	for (size_t i = 0; i < later->jobs.nr; i++) {
		struct copy_job *job = &later->jobs.at[i];

		if (!copy_list_add(l, job))
			continue;
		copy_list_report(job->what, -ENOMEM);
		copy_list_end_job(job);
	}
	copy_list_clear(later);
}

bool copy_list_make(struct copy_list *l, const atomic_bool *stop)
{
	size_t nr = 0;
	int r = 0;

	for (; nr < l->jobs.nr; nr++) {
		struct copy_job *job = &l->jobs.at[nr];

		r = stop && atomic_load(stop) ? -ECANCELED
					      : copy_list_make_one(job, stop);
		if (r == -ECANCELED)
			break;
		if (r)
			copy_list_report(job->what, r);
		copy_list_uncount(l, job);
		copy_list_end_job(job);
	}
	if (r != -ECANCELED) {
		copy_list_clear(l);
		return true;
	}
	l->jobs.nr -= nr;
	memmove(l->jobs.at, l->jobs.at + nr, l->jobs.nr * sizeof(*l->jobs.at));
	return false;
}

void copy_list_done(struct copy_list *l)
{
	for (size_t i = 0; i < l->jobs.nr; i++)
		copy_list_end_job(&l->jobs.at[i]);
	copy_list_clear(l);
	shares_done(&l->taken);
}

int copy_list_grown(int fd, const char *path)
{
	const struct copy_job job = { .fd = fd,
				      .path = strdup(path),
				      .user = CHARGE_UNKNOWN };
	int r = job.path ? copy_list_make_one(&job, NULL) : -ENOMEM;

	free(job.path);
	return r;
}
