/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/upkeep/retention.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "daemon/upkeep/copies.h"
#include "daemon/upkeep/retention_times.h"
#include "daemon/upkeep/segment_merge.h"
#include "format/session/hold.h"
#include "format/session/session.h"

/* How far the clock may be set back before a copy in use looks too old: a machine that had local
 * time at boot is at most 14 hours ahead. */
static const uint64_t set_back_ns = 14 * 3600 * NS_PER_S;

enum {
	MERGED_MAX_BYTES = 8 << 20, /* larger ones are not merged */
	/* Limit on the memory for distinct data in a merge, of the merged file and one source: ten
	 * minutes of a compile job need 15 to 20 MB.  If the daemon lacks this memory, the
	 * governor aborts the merge. */
	MERGE_MEMORY = 32 << 20,
	SPARE_BYTES = 64 << 20 /* disk space in addition to the sealed file */
};

/* ---- the option ---- */

static uint64_t unit_of(char letter, bool *ret_is_time)
{
	static const struct {
		char letter;
		bool is_time;
		uint64_t factor;
	} units[] = {
		{ 'K', false, 1ULL << 10 }, { 'M', false, 1ULL << 20 },
		{ 'G', false, 1ULL << 30 }, { 'T', false, 1ULL << 40 },
		{ 'm', true, 60 },          { 'h', true, 3600 },
		{ 'd', true, 86400 },       { 'w', true, 604800 },
	};

	for (size_t i = 0; i < COUNT_OF(units); i++)
		if (units[i].letter == letter) {
			*ret_is_time = units[i].is_time;
			return units[i].factor;
		}
	return 0;
}

/* Parses one size or time into its bound. Returns false if the word is malformed, or the bound is
 * already set. */
static bool parse_word(char *word, struct retention *r)
{
	size_t len = strlen(word);
	uint64_t number, factor;
	uint64_t *bound;
	bool is_time;

	if (!len)
		return false;
	factor = unit_of(word[len - 1], &is_time);
	word[len - 1] = 0;
	if (!factor || !parse_u64(word, &number) || !number)
		return false;
	bound = is_time ? &r->max_age_ns : &r->max_bytes;
	if (is_time)
		factor *= NS_PER_S;
	return !*bound && !__builtin_mul_overflow(number, factor, bound);
}

int retention_parse(const char *text, struct retention *ret_retention, struct err *err)
{
	struct retention r = { 0 };

	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		char word[24];

		snprintf(word, sizeof(word), "%.*s", (int)(len < 23 ? len : 23), at);
		if (!parse_word(word, &r))
			return err_set(err, -EINVAL,
				       "\"%s\": give a size and an age, such as 2G,30d",
				       text);
		at += len;
		if (!*at)
			break;
	}
	*ret_retention = r;
	return 0;
}

/* ---- the existing files ---- */

struct retention_look {
	const char *dir;
	uint64_t now_ns;
	uint64_t live_from;
	struct session_file *files;
	size_t nr;
	struct retention_result result;
};

static int stat_file(const struct retention_look *l, size_t i, struct stat *ret_st)
{
	char *path = session_file_path(l->dir, &l->files[i]);
	int r = path && !stat(path, ret_st) ? 0 : -ENOENT;

	free(path);
	return r;
}

static bool is_live(const struct retention_look *l, size_t i)
{
	return l->files[i].last >= l->live_from;
}

/* A segment and its time; its strings are borrowed from the segment. */
struct retention_entry {
	struct segment *segment;
	uint64_t start_ns; /* since 1970 */
	uint64_t bytes;
};

static int open_entry(const struct retention_look *l, size_t i,
		      struct retention_entry *ret_entry)
{
	char *path = session_file_path(l->dir, &l->files[i]);
	struct stat st;
	int r = path ? segment_open(path, TRUST_OWN, &ret_entry->segment, NULL)
		     : -ENOMEM;

	if (!r && stat(path, &st)) {
		segment_close(ret_entry->segment);
		r = -errno;
	}
	free(path);
	if (r)
		return r;
	ret_entry->start_ns = segment_info(ret_entry->segment)->start_wall_ns;
	ret_entry->bytes = (uint64_t)st.st_size;
	return 0;
}

/* Returns whether a recording writes the segment, perhaps one that started before this daemon: the
 * writer holds a lock on the segment.  An unreadable file has no writer. */
static bool is_written(const struct retention_look *l, size_t i)
{
	struct retention_entry entry;
	bool written;

	if (open_entry(l, i, &entry))
		return false;
	written = segment_is_written(entry.segment);
	segment_close(entry.segment);
	return written;
}

static void retention_remove_file(const struct retention_look *l, size_t i)
{
	char *path = session_file_path(l->dir, &l->files[i]);

	if (path)
		(void)io_unlink(path);
	free(path);
}

/* Removes an expired segment. If it is a merged one whose source segments still exist, removes
 * these first, because readers would otherwise count them again. */
static void expire(struct retention_look *l, size_t i)
{
	for (size_t k = i + 1;
	     k < l->nr && l->files[k].covered && l->files[k].last <= l->files[i].last;
	     k++)
		retention_remove_file(l, k);
	retention_remove_file(l, i);
	l->result.nr_expired++;
}

/* ---- limits ---- */

static bool retention_is_empty(const struct retention_look *l, size_t i)
{
	const struct session_file *file = &l->files[i];
	struct stat st;
	uint64_t changed_ns;

	if (is_live(l, i) || file->first != file->last || file->covered ||
	    stat_file(l, i, &st) || st.st_size)
		return false;
	/* A recent file can belong to a writer that has not written its header yet. */
	changed_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_S;
	return changed_ns < l->now_ns &&
	       l->now_ns - changed_ns > retention_times.grace_ns;
}

/* Removes empty segments, left when the machine crashed just after a segment was started.
 * Otherwise each report would warn that they cannot be read. */
static void retention_remove_empty(struct retention_look *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->nr; i++) {
		if (retention_is_empty(l, i))
			retention_remove_file(l, i);
		else
			l->files[kept++] = l->files[i];
	}
	l->nr = kept;
}

/* Removes segments beyond the limits.  The parts of a merge are removed separately and soon, so
 * their temporary size does not count. */
static void keep_bounds(const struct retention *r, struct retention_look *l,
			uint64_t copies)
{
	struct stat st;
	uint64_t bytes = copies, parts = 0;

	for (size_t i = 0; i < l->nr; i++)
		if (!stat_file(l, i, &st))
			*(l->files[i].covered ? &parts : &bytes) +=
				(uint64_t)st.st_size;
	for (size_t i = 0; i < l->nr && !is_live(l, i); i++) {
		uint64_t changed_ns, size;

		if (l->files[i].covered || stat_file(l, i, &st))
			continue;
		size = (uint64_t)st.st_size;
		changed_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_S;
		if (((r->max_bytes && bytes > r->max_bytes) ||
		     (r->max_age_ns && changed_ns < l->now_ns &&
		      l->now_ns - changed_ns > r->max_age_ns)) &&
		    !is_written(l, i)) {
			bytes -= size < bytes ? size : bytes; /* it may have grown */
			expire(l, i);
		}
	}
	l->result.bytes = bytes + parts;
}

/* ---- failed attempts, and disk space ---- */

static bool is_among(const uint64_t *numbers, size_t nr, uint64_t number)
{
	for (size_t i = 0; i < nr && i < RETENTION_UNSEALED; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* Adds a number to a list of failures; if the list is full, drops the oldest one. */
static void retention_give_up(uint64_t *numbers, size_t *nr, uint64_t number)
{
	numbers[(*nr)++ % RETENTION_UNSEALED] = number;
}

/* Returns whether the disk has room for `bytes` and for the data recorded meanwhile. */
static bool retention_has_room(const struct retention_look *l, uint64_t bytes)
{
	struct statvfs fs;

	return !statvfs(l->dir, &fs) &&
	       (uint64_t)fs.f_bavail * fs.f_frsize > bytes + SPARE_BYTES;
}

/* ---- merging ---- */

/* Returns how many segments, from the one with index `begin` on, can be merged: they lie in the
 * same completed period of `tier_ns`, have the same machine and clocks, and are together not
 * larger than `max_bytes`. Stores their size in *ret_bytes. */
static size_t run_of(const struct retention_look *l, size_t begin, uint64_t tier_ns,
		     uint64_t max_bytes, uint64_t *ret_bytes)
{
	struct retention_entry first, next;
	uint64_t bytes, slot;
	size_t nr = 1;

	if (is_live(l, begin) || open_entry(l, begin, &first))
		return 1;
	slot = first.start_ns / tier_ns;
	bytes = first.bytes;
	while (!segment_is_written(first.segment) &&
	       (slot + 1) * tier_ns <= l->now_ns && begin + nr < l->nr &&
	       !is_live(l, begin + nr) && !open_entry(l, begin + nr, &next)) {
		bool joins = next.start_ns / tier_ns == slot &&
			     !segment_is_written(next.segment) &&
			     next.bytes + bytes <= max_bytes &&
			     segment_merge_fits(segment_info(first.segment),
						segment_info(next.segment));

		segment_close(next.segment);
		if (!joins)
			break;
		bytes += next.bytes;
		nr++;
	}
	segment_close(first.segment);
	*ret_bytes = bytes;
	return nr;
}

/* Returns the earliest time at which a recording can have used a copy that an existing segment
 * refers to: shortly before the start of the oldest segment. */
static uint64_t used_since(const struct retention_look *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		struct retention_entry first;

		if (open_entry(l, i, &first))
			continue;
		segment_close(first.segment);
		return first.start_ns > set_back_ns ? first.start_ns - set_back_ns : 0;
	}
	return 0;
}

static struct segment_merge_bounds bounds_of(const struct retention *r)
{
	return (struct segment_merge_bounds){ .stop = r->stop,
					      .max_bytes = MERGE_MEMORY };
}

void retention_begin(struct retention *r)
{
	r->nr_unsealed = r->nr_unmerged = 0;
	r->covered_since_ns = 0;
}

void retention_merge_less(struct retention *r, uint64_t bytes)
{
	r->merged_max_bytes = bytes / 2;
}

/* Merges a run of segments. Returns 0, also if the merge was stopped for its memory use or time,
 * or a negative errno. */
static int merge_run(struct retention *r, struct retention_look *l, size_t begin,
		     size_t nr, uint64_t bytes, struct err *err)
{
	const struct segment_merge_bounds bounds = bounds_of(r);
	struct segment_merge_result merged;
	int result = segment_merge(l->dir, l->files + begin, nr, &bounds, &merged, err);

	if (!result) {
		l->result.nr_merged = nr;
		l->result.nr_samples = merged.samples;
		r->covered_since_ns = r->boottime_ns;
	} else if (result == -E2BIG) {
		retention_merge_less(r, bytes);
		result = 0;
	} else if (result == -ECANCELED) {
		l->result.stopped_bytes = bytes;
		result = 0;
	} else {
		retention_give_up(r->unmerged, &r->nr_unmerged,
				  l->files[begin + nr - 1].last);
	}
	return result;
}

static int merge_one_run(struct retention *r, struct retention_look *l, struct err *err)
{
	uint64_t max_bytes =
		r->merged_max_bytes ? r->merged_max_bytes : MERGED_MAX_BYTES;

	for (size_t t = 0; t < RETENTION_TIERS; t++) {
		uint64_t bytes;
		size_t nr;

		for (size_t i = 0; i < l->nr; i += nr) {
			nr = run_of(l, i, retention_times.tiers_ns[t], max_bytes,
				    &bytes);
			if (nr > 1 && retention_has_room(l, bytes) &&
			    !is_among(r->unmerged, r->nr_unmerged,
				      l->files[i + nr - 1].last))
				return merge_run(r, l, i, nr, bytes, err);
		}
	}
	return 0;
}

/* Returns whether the segment is complete, not sealed, and there is disk space to rewrite it.
 * Skips an unreadable file for now. */
static bool is_to_seal(const struct retention_look *l, size_t i)
{
	struct retention_entry entry;
	bool wanted;

	if (open_entry(l, i, &entry))
		return false;
	wanted = !(segment_info(entry.segment)->flags & SESSION_SEALED) &&
		 !segment_is_written(entry.segment) &&
		 retention_has_room(l, entry.bytes);
	segment_close(entry.segment);
	return wanted;
}

/* Rewrites a segment, because one written second by second is twice as large as one written at
 * once. Leaves it unchanged if there is not enough room or if it is damaged. */
static int seal_one(struct retention *r, struct retention_look *l, struct err *err)
{
	const struct segment_merge_bounds bounds = bounds_of(r);
	struct segment_merge_result sealed;

	for (size_t i = 0; i < l->nr; i++) {
		uint64_t number = l->files[i].first;
		int result;

		if (is_live(l, i) || l->files[i].covered ||
		    is_among(r->unsealed, r->nr_unsealed, number) || !is_to_seal(l, i))
			continue;
		result = segment_merge(l->dir, l->files + i, 1, &bounds, &sealed, err);
		l->result.nr_sealed = !result;
		if (result == -ECANCELED)
			return 0;
		if (result)
			retention_give_up(r->unsealed, &r->nr_unsealed, number);
		return result == -ENOSPC || result == -EDQUOT || result == -EUCLEAN ||
				       result == -E2BIG
			       ? 0
			       : result;
	}
	return 0;
}

/* Returns whether a reader may still need the parts of finished merges: it may have listed them
 * and not opened them yet. Parts are not kept longer than an hour, even if a reader holds the
 * session longer. */
static bool are_read(const struct retention *r, const struct retention_look *l)
{
	uint64_t since_ns = r->boottime_ns - r->covered_since_ns;

	return since_ns < retention_times.grace_ns ||
	       (since_ns < retention_times.reading_ns && session_is_held(l->dir));
}

/* Removes parts of finished merges unless readers may need them. Returns whether there were any
 * parts. */
static bool remove_covered(struct retention *r, struct retention_look *l)
{
	bool any = false;

	for (size_t i = 0; i < l->nr; i++)
		any |= l->files[i].covered;
	if (!any) {
		r->covered_since_ns = 0;
		return false;
	}
	if (!r->covered_since_ns)
		r->covered_since_ns = r->boottime_ns;
	if (are_read(r, l))
		return true;
	for (size_t i = 0; i < l->nr; i++)
		if (l->files[i].covered)
			retention_remove_file(l, i);
	r->covered_since_ns = 0;
	return true;
}

static bool is_stopped(const struct retention *r)
{
	return r->stop && atomic_load(r->stop);
}

int retention_look(struct retention *r, const char *dir, uint64_t now_ns,
		   uint64_t live_from, struct retention_result *ret_result,
		   struct err *err)
{
	struct retention_look l = { .dir = dir,
				    .now_ns = now_ns,
				    .live_from = live_from };
	int result = session_files(dir, &l.files, &l.nr);

	if (result)
		return err_sys(err, result, "cannot read '%s'", dir);
	retention_remove_empty(&l);
	if (l.nr) {
		struct copies copies = { 0 };
		bool parts_left = remove_covered(r, &l);

		/* If memory is short, keep the copies, and do not remove segments because of
		 * them. */
		if (copies_bound(dir, r->max_bytes / 2, used_since(&l), &copies))
			copies.bytes = 0;
		l.result.nr_copies = copies.nr_removed;
		l.result.copy_bytes = copies.bytes;
		keep_bounds(r, &l, copies.bytes);
		if (!l.result.nr_expired && !parts_left && !is_stopped(r))
			result = merge_one_run(r, &l, err);
		/* Also seal after a failed merge, because merges can keep failing. */
		if (!l.result.nr_expired && !l.result.nr_merged && !is_stopped(r)) {
			int sealed = seal_one(r, &l, result ? NULL : err);

			result = result ? result : sealed;
		}
	}
	free(l.files);
	*ret_result = l.result;
	return result;
}
