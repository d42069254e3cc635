/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session.c - the session that the daemon writes: saving it, resetting it, and detecting its
 * removal. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "base/files/path.h"
#include "base/log.h"
#include "daemon/engine/engine.h"
#include "format/session/session.h"
#include "record/keep/session_dir.h"
#include "record/priv.h"
#include "record/recorder.h"

/* ---- removal by another process ---- */

bool oprofiled_is_removed(const struct oprofiled *d)
{
	return d->recorder && segment_writer_is_removed(d->recorder->writer);
}

int oprofiled_report_removed(const struct oprofiled *d, struct err *err)
{
	return err_set(
		err, -ENOENT,
		"'%s' was removed while the daemon wrote to it: its samples are lost",
		d->recorder->segment_path);
}

/* Ends the recording whose segment was removed, and begins another. Reopens the session
 * directory, because it and its lock might have been removed together with the segment. */
static int begin_elsewhere(struct oprofiled *d, struct err *err)
{
	struct err late = { 0 };

	oprofiled_upkeep_pause(d);
	(void)oprofiled_end_recording(d, &late);
	if (d->dir_is_open)
		session_dir_close(&d->dir);
	d->dir_is_open = false;
	retention_begin(&d->upkeep.retention);
	return oprofiled_begin(d, err);
}

int oprofiled_check_removed(struct oprofiled *d, struct err *err)
{
	struct err late = { 0 };
	int r;

	if (!oprofiled_is_removed(d))
		return 0;
	r = oprofiled_report_removed(d, err);
	/* The log may have been removed also.  Open it again before logging, because nothing
	 * would read a message in the removed file. */
	if (oprofiled_open_log(d, &late))
		log_say(LOG_WARNING, "%s", late.text);
	log_say(LOG_WARNING, "%s; recording restarts", err->text);
	if (begin_elsewhere(d, &late)) {
		log_say(LOG_WARNING, "%s", late.text);
		oprofiled_retry_later(d);
	}
	return r;
}

/* ---- saving and restarting ---- */

/* Opens the session directory of the setup unless it is open. While a recording runs, a changed
 * SESSION_DIR only applies to the next one. */
static int session_of(struct oprofiled *d, struct err *err)
{
	return d->recorder ? 0 : oprofiled_open_dir(d, err);
}

static int move_session(struct oprofiled *d, const char *rename_to, struct err *err)
{
	int r;

	if (rename_to)
		r = io_rename_new(d->dir.current, rename_to);
	else
		r = io_remove_tree_at(d->dir.samples_fd, "current");
	if (r)
		return err_sys(err, r,
			       rename_to ? "cannot create '%s'" : "cannot remove '%s'",
			       rename_to ? rename_to : d->dir.current);
	/* If this fails, the start of the next recording tries it again, and reports the reason. */
	(void)io_make_dirs(d->dir.current, RECORDING_DIR_MODE);
	return 0;
}

static void put_session_to_disk(struct oprofiled *d, const char *folder)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/.", folder) < (int)sizeof(path))
		disk_sync_add(&d->upkeep.sync, path, true);
}

/* Starts another session after the last one was renamed (`rename_to`) or removed. Returns 0 or a
 * negative errno with a message. */
static int begin_next_session(struct oprofiled *d, const char *rename_to,
			      struct err *err)
{
	int r = oprofiled_begin(d, err);

	if (!r)
		return 0;
	log_say(LOG_WARNING, "%s", err->text);
	oprofiled_retry_later(d);
	err_prefix(err, "the session was %s%s, but the next one cannot start",
		   rename_to ? "saved as " : "removed",
		   rename_to ? path_base(rename_to) : "");
	return r;
}

/* Closes the session, renames its directory (`rename_to` NULL: removes it), and starts another
 * session. */
static int with_closed_session(struct oprofiled *d, const char *rename_to,
			       struct err *err)
{
	bool was_running = d->recorder != NULL;
	uint64_t dropped = d->sums.dropped;
	struct err late = { 0 };
	int lost, r;

	/* A merge or a slow disk can take long, so wait for it while still sampling. */
	oprofiled_upkeep_pause(d);
	lost = oprofiled_close_recorder(d, d->recorder, &late);
	d->recorder = NULL;
	dropped = d->sums.dropped - dropped;
	if (rename_to)
		oprofiled_upkeep_end(d);
	else
		oprofiled_upkeep_drop(d);
	r = move_session(d, rename_to, err);
	if (!r)
		retention_begin(&d->upkeep.retention);
	if (!r && rename_to)
		put_session_to_disk(d, rename_to);
	if (!r && lost && rename_to) {
		r = lost;
		*err = late;
		err_prefix(
			err,
			"the session was saved as %s, but not completely: %llu samples were lost",
			path_base(rename_to), (unsigned long long)dropped);
	}
	if (was_running) {
		int begun = begin_next_session(d, rename_to, r ? &late : err);

		r = r ? r : begun;
	}
	return r;
}

int oprofiled_reset(struct oprofiled *d, struct err *err)
{
	int r = session_of(d, err);

	if (!r)
		r = with_closed_session(d, NULL, err);
	if (!r)
		log_say(LOG_NOTE, "the current session was reset");
	return r;
}

int oprofiled_save(struct oprofiled *d, const char *name, struct err *err)
{
	char path[4096];
	int r;

	if (!session_dir_is_name(name))
		return err_set(err, -EINVAL, "\"%s\" is not a valid session name",
			       name);
	r = oprofiled_check_removed(d, err);
	if (!r)
		r = session_of(d, err);
	if (r)
		return r;
	if (snprintf(path, sizeof(path), "%s/%s", d->dir.samples, name) >=
	    (int)sizeof(path))
		return err_set(err, -ENAMETOOLONG, "the name is too long");
	if (!access(path, F_OK))
		return err_set(err, -EEXIST, "session %s already exists", name);
	r = with_closed_session(d, path, err);
	if (!r)
		log_say(LOG_NOTE, "the session was saved as %s", name);
	return r;
}
