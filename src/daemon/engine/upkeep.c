/* SPDX-License-Identifier: GPL-2.0-or-later */
/* upkeep.c - one thread of the lowest priority copies files and merges or removes old segments;
 * another one syncs written data to disk.  Reading the rings waits for neither. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/parse.h"
#include "daemon/engine/engine.h"
#include "format/session/session.h"
#include "record/priv.h"

enum {
	LOWEST_PRIORITY = 19,
	WAIT_MS = 20
};

static const uint64_t upkeep_ns = 60 * NS_PER_S;
static const uint64_t sync_ns = 10 * NS_PER_S;
static const uint64_t folder_sync_ns = 60 * NS_PER_S;

static void *oprofiled_upkeep_look(void *arg)
{
	struct oprofiled_upkeep *u = arg;

	/* On Linux, this applies to the calling thread only. */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), LOWEST_PRIORITY);
	/* Copy first, because the check of old segments counts the copies. */
	(void)copy_list_make(&u->copies_under_way, &u->stops);
	u->retention.boottime_ns = clock_now_ns(CLOCK_BOOTTIME);
	u->failed = retention_look(&u->retention, u->dir, clock_now_ns(CLOCK_REALTIME),
				   u->live_from, &u->result, &u->err);
	atomic_store(&u->is_done, true);
	return NULL;
}

static void oprofiled_upkeep_report(const struct oprofiled_upkeep *u)
{
	if (u->failed)
		log_say(LOG_WARNING, "cannot merge or remove old segments: %s",
			u->err.text);
	if (u->result.nr_merged)
		log_say(LOG_NOTE,
			"%llu segments were merged into one with %llu samples",
			(unsigned long long)u->result.nr_merged,
			(unsigned long long)u->result.nr_samples);
	if (u->result.nr_sealed)
		log_say(LOG_DEBUG, "a segment was sealed");
	if (u->result.nr_copies)
		log_say(LOG_NOTE,
			"%llu old copies of binaries and JIT files were removed",
			(unsigned long long)u->result.nr_copies);
	if (u->result.nr_expired)
		log_say(LOG_NOTE, "%llu old segments were removed",
			(unsigned long long)u->result.nr_expired);
}

/* Joins the thread, which has ended or is about to. */
static void oprofiled_upkeep_finish(struct oprofiled_upkeep *u)
{
	pthread_join(u->thread, NULL);
	u->runs = false;
	oprofiled_upkeep_report(u);
	u->copy_bytes = u->result.copy_bytes;
	if (u->is_too_large && u->result.stopped_bytes)
		retention_merge_less(&u->retention, u->result.stopped_bytes);
	malloc_trim(0);
	free(u->dir);
	u->dir = NULL;
	/* Unfinished copies are older than those listed since, so they come first. */
	copy_list_append(&u->copies_under_way, &u->copies);
	u->copies = u->copies_under_way;
	u->copies_under_way = (struct copy_list){ 0 };
}

/* Stops the thread and waits for its end. A merge ends soon after a stop request, unless the disk
 * is slow; rings are read meanwhile. */
void oprofiled_upkeep_pause(struct oprofiled *d)
{
	struct oprofiled_upkeep *u = &d->upkeep;

	if (!u->runs)
		return;
	atomic_store(&u->stops, true);
	while (!atomic_load(&u->is_done))
		oprofiled_wait(d, WAIT_MS);
	oprofiled_upkeep_finish(u);
}

bool oprofiled_upkeep_shrink(struct oprofiled *d)
{
	struct oprofiled_upkeep *u = &d->upkeep;

	if (!u->runs || atomic_load(&u->stops))
		return false;
	u->is_too_large = true;
	atomic_store(&u->stops, true);
	return true;
}

void oprofiled_upkeep_end(struct oprofiled *d)
{
	struct oprofiled_upkeep *u = &d->upkeep;

	/* Make the remaining copies in the main thread: the caller waits, and the upkeep thread
	 * has the lowest priority. */
	oprofiled_upkeep_pause(d);
	(void)copy_list_make(&u->copies, NULL);
}

void oprofiled_upkeep_drop(struct oprofiled *d)
{
	copy_list_done(&d->upkeep.copies);
}

/* Returns the number of the first segment that may still be written. It need not be the last one
 * in the directory, because a rotation opens the next segment before it closes the previous one.
 * While nothing is sampled, returns the number of the next segment, because a recording may start
 * before the thread checks. */
static uint64_t live_from(const struct oprofiled *d)
{
	char *next = NULL;
	const char *path, *number;
	uint64_t first = 0; /* all segments */

	if (!d->recorder && session_next_path(d->dir.current, &next, NULL))
		next = NULL;
	path = d->recorder ? d->recorder->segment_path : next;
	number = path ? strrchr(path, '-') : NULL;

	if (number)
		(void)parse_u64(number + 1, &first);
	free(next);
	return first;
}

static void oprofiled_upkeep_begin(struct oprofiled *d)
{
	struct oprofiled_upkeep *u = &d->upkeep;

	u->dir = strdup(d->dir.current);
	if (!u->dir)
		return;
	u->live_from = live_from(d);
	u->failed = 0;
	u->result = (struct retention_result){ 0 };
	atomic_store(&u->is_done, false);
	atomic_store(&u->stops, false);
	u->is_too_large = false;
	u->retention.stop = &u->stops;
	u->copies_under_way = u->copies;
	u->copies = (struct copy_list){ 0 };
	u->runs = !pthread_create(&u->thread, NULL, oprofiled_upkeep_look, u);
	if (u->runs)
		return;
	u->copies = u->copies_under_way;
	u->copies_under_way = (struct copy_list){ 0 };
	free(u->dir);
	u->dir = NULL;
}

/* Requests a periodic sync of the recorded data, so that a machine crash loses only data since the
 * last sync. Otherwise the kernel delays writing for half a minute or more. */
static void put_to_disk(struct oprofiled *d, uint64_t now)
{
	struct oprofiled_upkeep *u = &d->upkeep;

	if (now >= u->next_sync_ns) {
		u->next_sync_ns = now + sync_ns;
		if (d->recorder &&
		    (u->is_new || u->nr_writes != d->recorder->nr_writes)) {
			bool with_folder = u->is_new || now >= u->next_folder_ns;

			disk_sync_add(&u->sync, d->recorder->segment_path, with_folder);
			if (with_folder)
				u->next_folder_ns = now + folder_sync_ns;
			u->is_new = false;
			u->nr_writes = d->recorder->nr_writes;
		}
	}
	disk_sync_poll(&u->sync);
}

void oprofiled_upkeep(struct oprofiled *d)
{
	struct oprofiled_upkeep *u = &d->upkeep;
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	put_to_disk(d, now);
	if (u->runs) {
		if (atomic_load(&u->is_done))
			oprofiled_upkeep_finish(u);
	} else if (d->dir_is_open && (now >= u->next_ns || u->copies.jobs.nr)) {
		u->next_ns =
			now + (d->options.rotate_ns < upkeep_ns ? d->options.rotate_ns
								: upkeep_ns);
		oprofiled_upkeep_begin(d);
	}
}
