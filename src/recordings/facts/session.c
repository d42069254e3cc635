/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session.c - the facts of a session. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/saturate.h"
#include "format/session/checksums.h"
#include "format/session/session.h"
#include "recordings/facts/info.h"
#include "recordings/session_parts.h"

enum {
	ORIGIN_MAX = 64 * 1024
};

/* Sums over the segments of a session. */
struct sums {
	struct session_totals totals;
	struct segment_damage damage;
	uint64_t unfinished;
};

static void session_facts(struct fact_list *list, const struct session_info *from)
{
	time_t seconds = (time_t)(from->start_wall_ns / NS_PER_S);
	char date[64];
	struct tm tm;

	fact_text(list, "format", "session of oprofile");
	fact_text(list, "byte_order", "%s",
		  from->flags & SESSION_BIG_ENDIAN ? "big" : "little");
	fact_text(list, "host", "%s", from->hostname);
	fact_text(list, "os_release", "%s", from->os_release);
	fact_text(list, "arch", "%s", from->machine);
	fact_text(list, "cpu", "%s", from->cpu_desc);
	fact_count(list, "cpus_online", from->nr_cpus_online);
	fact_text(list, "oprofile_version", "%s", from->tool_version);
	fact_text(list, "command", "%s", from->command);
	if (from->start_wall_ns && gmtime_r(&seconds, &tm) &&
	    strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm))
		fact_text(list, "date", "%s", date);
}

static struct info_event *know_event(struct info *info, const struct dict *d,
				     const struct event_desc *from)
{
	const char *name = dict_str(d, from->name);
	struct info_event *event;

	for (size_t i = 0; i < info->events.nr; i++) {
		if (!strcmp(info->events.at[i].name, name))
			return &info->events.at[i];
	}
	event = info_event_new(info, name);
	if (!event)
		return NULL;
	fact_text(&event->facts, "about", "%s", dict_str(d, from->about));
	fact_number(&event->facts, "type", from->type);
	fact_text(&event->facts, "config", "0x%" PRIx64, from->config);
	fact_count(&event->facts, "period", from->count);
	fact_count(&event->facts, "frequency_hz", from->frequency_hz);
	return event->facts.failed ? NULL : event;
}

static int count_segment(struct info *info, struct segment *s, struct err *err)
{
	for (;;) {
		const struct dict *d = segment_dict(s);
		struct info_event *event;
		struct sample_batch b;
		int r = segment_next(s, COLUMN_EVENT | COLUMN_PERIOD, &b, err);

		if (r)
			return r < 0 ? r : 0;
		for (size_t i = 0; i < b.nr; i++) {
			if (b.event[i] >= d->events.nr ||
			    d->events.at[b.event[i]].flags & EVENT_CALLS)
				continue;
			event = know_event(info, d, &d->events.at[b.event[i]]);
			if (!event)
				return err_set(err, -ENOMEM, "'%s': out of memory",
					       info->path);
			event->samples += session_sample_weight(
				segment_info(s), &d->events.at[b.event[i]],
				b.period[i]);
		}
	}
}

static void add_sums(struct sums *sums, const struct segment *s)
{
	const struct session_totals *t = segment_totals(s);
	const struct segment_damage *d = segment_damage(s);

	sums->totals.lost = saturating_add(sums->totals.lost, t->lost);
	sums->totals.dropped += t->dropped;
	sums->totals.lost_records += t->lost_records;
	sums->totals.throttled += t->throttled;
	sums->totals.undecodable += t->undecodable;
	segment_damage_add(&sums->damage, d);
	sums->unfinished += d->unfinished;
}

static int info_session_read_segment(struct info *info, struct sums *sums,
				     const char *path, struct err *err)
{
	struct segment *s;
	int r = segment_open(path, info->trust, &s, err);

	if (r)
		return r;
	if (!info->facts.facts.nr)
		session_facts(&info->facts, segment_info(s));
	r = count_segment(info, s, err);
	add_sums(sums, s);
	segment_close(s);
	return r;
}

static int info_session_report(struct info *info, const struct sums *sums,
			       size_t nr_segments)
{
	struct fact_list *facts = &info->facts;
	struct fact_list *damage = &info->damage;

	fact_number(facts, "segments", nr_segments);
	fact_count(facts, "lost_samples", sums->totals.lost);
	fact_count(facts, "lost_records", sums->totals.lost_records);
	fact_count(facts, "throttled", sums->totals.throttled);
	fact_count(facts, "undecodable_records", sums->totals.undecodable);
	fact_count(damage, "dropped_samples", sums->totals.dropped);
	fact_count(damage, "unfinished_segments", sums->unfinished);
	fact_count(damage, "bad_blocks", sums->damage.bad_blocks);
	fact_count(damage, "cut_bytes", sums->damage.cut_bytes);
	fact_count(damage, "bad_samples", sums->damage.bad_samples);
	fact_count(damage, "missing_samples", sums->damage.missing_samples);
	info->incomplete = damage->facts.nr;
	return facts->failed || damage->failed ? -ENOMEM : 0;
}

/* Adds the origin of a part of a merged session, a file of lines "KEY VALUE", as facts. */
static int add_origin(struct info *info, const char *dir)
{
	struct buf text = { 0 };
	char *path, *line, *rest;
	int r;

	if (asprintf(&path, "%s/" SESSION_PART_ORIGIN, dir) < 0)
		return -ENOMEM;
	r = checksums_read_file(path, &text, ORIGIN_MAX);
	free(path);
	buf_put_u8(&text, 0);
	rest = r || text.failed ? NULL : (char *)text.data;
	while (rest && (line = strsep(&rest, "\n"))) {
		if (!strncmp(line, "path ", 5))
			fact_text(&info->facts, "merged_from", "%s", line + 5);
		if (!strncmp(line, "weight ", 7))
			fact_text(&info->facts, "weight", "%s", line + 7);
	}
	buf_done(&text);
	return r == -ENOMEM ? r : 0;
}

int info_read_session(struct info *info, const char *dir, struct err *err)
{
	struct sums sums = { 0 };
	char **paths;
	size_t nr;
	int r = session_list(dir, &paths, &nr, err);

	if (r)
		return r;
	for (size_t i = 0; !r && i < nr; i++)
		r = info_session_read_segment(info, &sums, paths[i], err);
	session_list_free(paths, nr);
	if (!r && add_origin(info, dir))
		r = err_set(err, -ENOMEM, "'%s': out of memory", info->path);
	if (!r)
		r = info_read_side_files(info, dir, err);
	if (!r && info_session_report(info, &sums, nr))
		r = err_set(err, -ENOMEM, "'%s': out of memory", info->path);
	return r;
}
