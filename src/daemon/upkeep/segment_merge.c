/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/upkeep/segment_merge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files/io.h"
#include "format/session/dict_merge.h"
#include "format/session/session.h"

enum {
	FLUSH_SAMPLES = 128 * 1024 /* about ten minutes of samples */
};

static const int64_t clock_slack_ns = NS_PER_S;
/* Unit of the times in merged files: a thousandth of the sampling interval and a tenth of the time
 * that one sample costs. Smaller differences are timer noise. */
static const uint64_t time_unit_ns = 10000;

struct merge {
	const struct segment_merge_bounds *bounds;
	struct dict dict;
	struct segment_writer *writer;
	struct session_totals totals;
	struct segment_merge_result *result;
	bool has_some;
	bool is_one; /* there is only one file */
};

bool segment_merge_fits(const struct session_info *a, const struct session_info *b)
{
	int64_t wall_a = (int64_t)(a->start_wall_ns - a->start_ns);
	int64_t wall_b = (int64_t)(b->start_wall_ns - b->start_ns);
	int64_t step = wall_b - wall_a;

	return !strcmp(a->boot_id, b->boot_id) && !strcmp(a->hostname, b->hostname) &&
	       !strcmp(a->os_release, b->os_release) &&
	       !strcmp(a->vmlinux, b->vmlinux) &&
	       !((a->flags ^ b->flags) & ~(uint32_t)SESSION_SEALED) &&
	       a->clock_id == b->clock_id && step < clock_slack_ns &&
	       step > -clock_slack_ns;
}

static void add_totals(struct merge *m, const struct session_totals *t)
{
	struct session_totals *sum = &m->totals;
	uint64_t written = sum->samples;

	if (!m->has_some) {
		*sum = *t;
		memset(sum->event_shares, 0, sizeof(sum->event_shares));
		sum->samples = written;
		m->has_some = true;
		return;
	}
	session_totals_add(sum, t);
	sum->samples = written;
}

/* Keeps the smallest share that an event had in any of the files. */
static void segment_merge_add_shares(struct merge *m, struct dict_merge *dict,
				     const struct session_totals *t)
{
	for (uint32_t i = 0; i < dict->from->events.nr && i < SESSION_EVENT_SHARES;
	     i++) {
		uint32_t to =
			t->event_shares[i] ? dict_merge_event(dict, i) : DICT_NONE;
		uint16_t *share;

		if (to >= SESSION_EVENT_SHARES)
			continue;
		share = &m->totals.event_shares[to];
		if (!*share || t->event_shares[i] < *share)
			*share = t->event_shares[i];
	}
}

static int segment_merge_take_batch(struct merge *m, struct dict_merge *dict,
				    const struct sample_batch *batch, struct err *err)
{
	int r;

	for (size_t i = 0; i < batch->nr; i++) {
		struct sample sample = sample_batch_at(batch, i);

		r = dict_merge_sample(dict, &sample);
		if (r == -EINVAL) {
			m->result->bad_samples++;
			continue;
		}
		if (!r)
			r = segment_writer_add(m->writer, &sample);
		if (r)
			return err_set(err, r, "out of memory");
		m->totals.samples++;
	}
	if (segment_writer_pending(m->writer) < FLUSH_SAMPLES)
		return 0;
	return segment_writer_flush(m->writer, &m->totals, err);
}

static int look_at_stop(const struct merge *m, struct err *err)
{
	const atomic_bool *stop = m->bounds->stop;

	return stop && atomic_load(stop)
		       ? err_set(err, -ECANCELED, "the merge was interrupted")
		       : 0;
}

/* Checks the limits between two batches of `s`. */
static int look_at_bounds(const struct merge *m, const struct segment *s,
			  struct err *err)
{
	size_t max_bytes = m->bounds->max_bytes;

	if (max_bytes && dict_bytes(&m->dict) + dict_bytes(segment_dict(s)) > max_bytes)
		return err_set(err, -E2BIG,
			       "the merged data would exceed the size of a segment");
	return look_at_stop(m, err);
}

static int take_segment(struct merge *m, struct segment *s, struct err *err)
{
	struct dict_merge dict;
	struct sample_batch batch;
	int r;

	dict_merge_init(&dict, segment_dict(s), &m->dict);
	dict.time_unit_ns = time_unit_ns;
	while (!(r = segment_next(s, COLUMN_ALL, &batch, err))) {
		r = look_at_bounds(m, s, err);
		if (!r)
			r = segment_merge_take_batch(m, &dict, &batch, err);
		if (r)
			break;
	}
	if (r == 1) {
		r = 0;
		add_totals(m, segment_totals(s));
		segment_merge_add_shares(m, &dict, segment_totals(s));
	}
	dict_merge_done(&dict);
	return r;
}

static int segment_merge_open_writer(struct merge *m, const struct session_info *first,
				     const char *out, struct err *err)
{
	struct session_info info = *first;
	int r;

	info.flags |= SESSION_SEALED;
	r = segment_writer_open(out, &info, &m->dict, &m->writer, err);
	if (!r)
		segment_writer_coarsen(m->writer, time_unit_ns);
	return r;
}

static bool is_damaged(const struct merge *m, const struct segment *s)
{
	const struct segment_damage *d = segment_damage(s);

	return segment_damage_any(d) || m->result->bad_samples;
}

static int segment_merge_take_file(struct merge *m, const char *dir,
				   const struct session_file *file, const char *out,
				   struct err *err)
{
	char *path = session_file_path(dir, file);
	struct segment *s;
	int r;

	if (!path)
		return err_set(err, -ENOMEM, "out of memory");
	r = segment_open(path, TRUST_OWN, &s, err);
	free(path);
	if (r)
		return r;
	if (!m->writer)
		r = segment_merge_open_writer(m, segment_info(s), out, err);
	if (!r)
		r = take_segment(m, s, err);
	/* A rewritten file would hide the damage. */
	if (!r && m->is_one && is_damaged(m, s))
		r = err_set(err, -EUCLEAN, "%s is damaged and is left unchanged", dir);
	segment_close(s);
	return r;
}

/* Gives the file the modification time of the last source, which determines its age, and syncs
 * it. */
static int settle(const char *path, const char *last, struct err *err)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	struct stat st;
	int fd = io_open(path, O_RDONLY, 0);
	int r = 0;

	if (fd < 0)
		return err_sys(err, fd, "cannot open '%s'", path);
	if (!stat(last, &st)) {
		times[1] = st.st_mtim;
		(void)futimens(fd, times);
	}
	if (fsync(fd))
		r = err_sys(err, -errno, "cannot sync '%s'", path);
	close(fd);
	return r;
}

static int merge_into(const char *dir, const struct session_file *files, size_t nr,
		      const char *path, struct merge *m, struct err *err)
{
	int r = 0;
	int closed;

	for (size_t i = 0; i < nr && !r; i++)
		r = segment_merge_take_file(m, dir, &files[i], path, err);
	if (!m->writer)
		return r ? r
			 : err_set(err, -EINVAL, "'%s' contains no segments to merge",
				   dir);
	m->result->samples = m->totals.samples;
	if (!r)
		r = segment_writer_flush(m->writer, &m->totals, err);
	m->result->bytes = segment_writer_bytes(m->writer);
	closed = segment_writer_close(m->writer, &m->totals, r ? NULL : err);
	return r ? r : closed;
}

int segment_merge(const char *dir, const struct session_file *files, size_t nr,
		  const struct segment_merge_bounds *bounds,
		  struct segment_merge_result *ret_result, struct err *err)
{
	struct session_file made = { .first = files[0].first,
				     .last = files[nr - 1].last };
	struct segment_merge_result result = { 0 };
	struct merge m = { .bounds = bounds, .result = &result, .is_one = nr == 1 };
	char *path = session_file_path(dir, &made);
	char *last = session_file_path(dir, &files[nr - 1]);
	char *temporary = NULL;
	int r = dict_init(&m.dict);

	if (r || !path || !last || asprintf(&temporary, "%s/.merging", dir) < 0) {
		r = err_set(err, -ENOMEM, "out of memory");
		temporary = NULL;
		goto out;
	}
	/* A process that was killed may have left this file. */
	(void)io_unlink(temporary);
	r = merge_into(dir, files, nr, temporary, &m, err);
	/* Check for a stop request before the sync, which may be slow. */
	dict_done(&m.dict);
	if (!r)
		r = look_at_stop(&m, err);
	if (!r)
		r = settle(temporary, last, err);
	if (!r && (r = io_rename(temporary, path)))
		err_sys(err, r, "cannot rename to '%s'", path);
	if (r)
		(void)io_unlink(temporary);
	else
		*ret_result = result;
out:
	dict_done(&m.dict);
	free(temporary);
	free(last);
	free(path);
	return r;
}
