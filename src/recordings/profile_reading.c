/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/profile_reading.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregate/profile/profile.h"
#include "aggregate/read/read.h"
#include "aggregate/selection/session_span.h"
#include "base/err.h"
#include "format/session/session.h"
#include "recordings/sources.h"

enum {
	RESTARTS_MAX = 5,
	LOOK_US = 100000,
	NR_LOOKS = 30 /* how often to check for the first segment of a new session */
};

/* An attempt to read everything. */
struct reading_attempt {
	struct profile_reading *r;
	struct profile *p;
	bool last; /* the last attempt: report missing files instead of trying again */
};

/* Returns whether a segment was merged or removed since it was listed. `status` is the result of
 * reading the segment. */
static bool reading_lost_segment(const struct reading_attempt *a, int status,
				 const char *path)
{
	return status == -ENOENT && !a->last && access(path, F_OK) != 0;
}

/* Returns whether the session was saved or removed while it was read. In that case, its path now
 * refers to another directory or to none, so files next to the segments may have been read from
 * the wrong session. */
static bool reading_lost_session(const struct reading_attempt *a, const char *dir,
				 const struct stat *before)
{
	struct stat now;

	return !a->last && (stat(dir, &now) || now.st_dev != before->st_dev ||
			    now.st_ino != before->st_ino);
}

static void reading_file_done(const struct reading_attempt *a, const char *path)
{
	if (a->r->file_done)
		a->r->file_done(a->r->ctx, path);
}

/* Decides how to proceed after reading a segment with the result `status`. Returns 0 to go on,
 * after a warning if the segment is unreadable but the session has others (`nr` segments in
 * all). Otherwise returns `status`. */
static int reading_skip_segment(struct reading_attempt *a, int status, size_t nr,
				const struct err *err)
{
	if (!status || status == -ENOMEM || status == -ERANGE || status == -EPERM ||
	    nr < 2)
		return status;
	if (a->r->warn)
		a->r->warn(a->r->ctx, err->text);
	a->r->nr_unreadable++;
	return 0;
}

/* Reads the segments of a session. Returns 0, -ESTALE without a message if a listed file no longer
 * exists, so that everything must be read again, or another negative errno with a message. */
static int reading_add_segments(struct reading_attempt *a,
				const struct report_session *session, struct err *err)
{
	const struct spec *spec = a->r->options->spec;
	struct session_span span = { 0 };
	char **paths;
	size_t nr;
	int status = session_list(session->dir, &paths, &nr, err);

	/* The session existed when the sources were found, so it was removed since and a new one
	 * can follow: read everything again. */
	if (status == -ENOENT && !a->last)
		return -ESTALE;
	if (status)
		return status;
	if (spec && spec_has_shares(spec) &&
	    session_span_read(paths, nr, session->trust, &span))
		status = err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !status && i < nr; i++) {
		status = profile_read_segment(a->p, paths[i], session->dir,
					      session->name, &span, err);
		if (reading_lost_segment(a, status, paths[i])) {
			status = -ESTALE;
			break;
		}
		status = reading_skip_segment(a, status, nr, err);
		reading_file_done(a, paths[i]);
	}
	session_list_free(paths, nr);
	return status;
}

static int reading_add_session(struct reading_attempt *a,
			       const struct report_session *session, struct err *err)
{
	struct stat before = { 0 };
	int status;

	if (session->perf_data) {
		status = profile_read_perf_data(a->p, session->dir, session->name, err);
		if (!status)
			reading_file_done(a, session->dir);
		return status;
	}
	(void)stat(session->dir, &before);
	status = reading_add_segments(a, session, err);
	return !status && reading_lost_session(a, session->dir, &before) ? -ESTALE
									 : status;
}

static int reading_try(struct reading_attempt *a, struct err *err)
{
	const struct report_sources *sources = a->r->sources;
	int status = 0;

	a->r->nr_unreadable = 0;
	if (profile_init(a->p, a->r->options))
		return err_set(err, -ENOMEM, "out of memory");
	if (a->r->begin)
		a->r->begin(a->r->ctx);
	for (size_t i = 0; !status && i < sources->sessions.nr; i++)
		status = reading_add_session(a, &sources->sessions.at[i], err);
	return status;
}

/* Waits for a segment in a session that was just created: after `save` and `reset`, the daemon
 * creates the directory first and the segment a moment later. Returns false if none appears,
 * perhaps because the daemon is not sampling. */
static bool reading_await_session(const char *dir)
{
	char **paths;
	size_t nr;

	for (int i = 0; i < NR_LOOKS; i++) {
		if (!session_list(dir, &paths, &nr, NULL)) {
			session_list_free(paths, nr);
			return true;
		}
		(void)usleep(LOOK_US);
	}
	return false;
}

static bool reading_await_all(const struct report_sources *sources)
{
	bool found = true;

	for (size_t i = 0; i < sources->sessions.nr; i++)
		found &= sources->sessions.at[i].perf_data ||
			 reading_await_session(sources->sessions.at[i].dir);
	return found;
}

int profile_reading_run(struct profile_reading *r, struct profile *p, struct err *err)
{
	struct reading_attempt a = { .r = r, .p = p };
	int status;

	for (int i = 1; (status = reading_try(&a, err)) == -ESTALE; i++) {
		profile_done(p);
		a.last = !reading_await_all(r->sources) || i == RESTARTS_MAX;
	}
	return status;
}
