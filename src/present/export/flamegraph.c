/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flamegraph.c - writes a flame graph: a self-contained page, or a picture.  The profile's keys
 * are host, session, comm, pid, tid and stack.  In addition to the members in flame_page.h,
 * #data has:
 *   who                  [host, session, comm, pid, tid], the first `levels` of these
 *   rows                 for each who: [node step, event, samples, ...]; a node step is relative to
 *                        the previous node, or to 0 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "present/export/export_writers.h"
#include "present/export/flame_page.h"
#include "present/lines/options.h"

enum {
	LEVELS = 5,
	/* If there are more rows than this, threads are merged, then processes, and so on. */
	MOST_ROWS = 150000
};

/* Samples of an event at a node.  `slot` encodes both the node and the event. */
struct flame_count {
	uint32_t slot;
	uint64_t samples;
};

struct flames {
	struct flame_page page;
	size_t keys[LEVELS];
	unsigned int levels;
	uint64_t *sums;                 /* by node and event, of the current who */
	VEC(uint32_t) touched;          /* slots of `sums` in use, unsorted */
	VEC(struct flame_count) counts; /* of all whos, in order */
	VEC(size_t) ends;               /* end of each who's counts */
	size_t nr_events;
};

static bool same_who(const struct flames *f, uint32_t a, uint32_t b)
{
	for (unsigned int i = 0; i < f->levels; i++)
		if (profile_value(f->page.p, f->page.calls.whos.at[a], f->keys[i]) !=
		    profile_value(f->page.p, f->page.calls.whos.at[b], f->keys[i]))
			return false;
	return true;
}

/* Sums up the rows from `at` on that are equal at this level.  Returns the index of the first row
 * after them. */
static size_t write_flamegraph_sum_up(struct flames *f, size_t at)
{
	const struct call_table *t = &f->page.calls;
	uint32_t who = call_row_at(t, at)->who;

	f->touched.nr = 0;
	for (; at < t->nr_rows; at++) {
		const struct call_row *row = call_row_at(t, at);
		size_t slot = row->node * f->nr_events + row->event;

		if (row->who != who && !same_who(f, who, row->who))
			break;
		who = row->who;
		if (!row->samples)
			continue;
		/* f->touched has enough capacity: it was reserved at the beginning. */
		if (!f->sums[slot])
			f->touched.at[f->touched.nr++] = (uint32_t)slot;
		f->sums[slot] += row->samples;
	}
	return at;
}

static int write_flamegraph_compare_slots(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Appends the current sums to the counts, and clears them. */
static int keep_sums(struct flames *f)
{
	size_t end = f->counts.nr + f->touched.nr;

	if (!vec_reserve(&f->counts, end) || !vec_push(&f->ends, end))
		return -ENOMEM;
	qsort(f->touched.at, f->touched.nr, sizeof(*f->touched.at),
	      write_flamegraph_compare_slots);
	for (size_t i = 0; i < f->touched.nr; i++) {
		uint32_t slot = f->touched.at[i];

		f->counts.at[f->counts.nr++] =
			(struct flame_count){ slot, f->sums[slot] };
		f->sums[slot] = 0;
	}
	return 0;
}

/* Counts at this level.  Returns 0, 1 if there are too many rows and the level must be reduced,
 * or -ENOMEM. */
static int count_level(struct flames *f)
{
	f->counts.nr = 0;
	f->ends.nr = 0;
	for (size_t i = 0; i < f->page.calls.nr_rows;) {
		i = write_flamegraph_sum_up(f, i);
		if (keep_sums(f))
			return -ENOMEM;
		if (f->counts.nr > MOST_ROWS && f->levels > 1)
			return 1;
	}
	return 0;
}

static int choose_level(struct flames *f)
{
	int r;

	/* Skip the levels that were already dropped when the profile was read. */
	f->levels = LEVELS;
	f->levels -= (f->page.p->given_up & NEED_TID) != 0;
	f->levels -= (f->page.p->given_up & NEED_PID) != 0;
	while ((r = count_level(f)) > 0)
		f->levels--;
	return r;
}

static void put_who_rows(struct flames *f, size_t at, size_t end)
{
	uint32_t last = 0;

	json_begin_array(&f->page.json);
	for (; at < end; at++) {
		uint32_t slot = f->counts.at[at].slot;
		uint32_t node = slot / (uint32_t)f->nr_events;

		json_u64(&f->page.json, node - last);
		json_u64(&f->page.json, slot % f->nr_events);
		json_u64(&f->page.json, f->counts.at[at].samples);
		last = node;
	}
	json_end_array(&f->page.json);
}

static void write_flamegraph_put_rows(struct flames *f)
{
	json_name(&f->page.json, "rows");
	json_begin_array(&f->page.json);
	for (size_t i = 0; i < f->ends.nr; i++)
		put_who_rows(f, i ? f->ends.at[i - 1] : 0, f->ends.at[i]);
	json_end_array(&f->page.json);
}

static void put_who(struct flames *f, uint32_t who)
{
	uint32_t group = f->page.calls.whos.at[who];
	char number[32];

	json_begin_array(&f->page.json);
	for (unsigned int i = 0; i < f->levels; i++) {
		if (f->page.p->options.keys->keys.at[f->keys[i]].row->kind ==
		    KEY_TEXT) {
			flame_page_text(&f->page,
					profile_text(f->page.p, group, f->keys[i]));
			continue;
		}
		snprintf(number, sizeof(number), "%" PRId64,
			 (int64_t)profile_value(f->page.p, group, f->keys[i]));
		json_number(&f->page.json, number);
	}
	json_end_array(&f->page.json);
}

static void put_whos(struct flames *f)
{
	const struct call_table *t = &f->page.calls;
	uint64_t nr_sessions = 0;
	uint32_t last = DICT_NONE;

	json_name(&f->page.json, "who");
	json_begin_array(&f->page.json);
	for (size_t i = 0; i < t->nr_rows; i++) {
		uint32_t who = call_row_at(t, i)->who;
		uint32_t before = i ? call_row_at(t, i - 1)->who : DICT_NONE;

		if (who == before || (i && same_who(f, before, who)))
			continue;
		put_who(f, who);
		nr_sessions +=
			last == DICT_NONE ||
			profile_value(f->page.p, t->whos.at[last], f->keys[1]) !=
				profile_value(f->page.p, t->whos.at[who], f->keys[1]);
		last = who;
	}
	json_end_array(&f->page.json);
	json_name(&f->page.json, "levels");
	json_u64(&f->page.json, f->levels);
	json_name(&f->page.json, "sessions");
	json_u64(&f->page.json, f->levels > 1 ? nr_sessions : 1);
}

static void write_flamegraph_put_page(struct flames *f)
{
	static const struct flame_page_more more = {
		.title = "Flame graph",
		.style = "",
		.style_hash = "",
		.script = "",
		.script_hash = "",
		.body = "",
	};

	flame_page_begin(&f->page, &more);
	json_begin_object(&f->page.json);
	flame_page_calls(&f->page, NULL);
	put_whos(f);
	write_flamegraph_put_rows(f);
	json_end_object(&f->page.json);
	flame_page_end(&f->page, &more);
}

static int write_flamegraph_make_room(struct flames *f)
{
	size_t nr;

	f->nr_events = f->page.calls.events.nr ? f->page.calls.events.nr : 1;
	nr = f->page.calls.nodes.nr * f->nr_events;
	if (nr > UINT32_MAX)
		return -ENOMEM;
	f->sums = calloc(nr + 1, sizeof(*f->sums));
	return f->sums && vec_reserve(&f->touched, nr + 1) ? 0 : -ENOMEM;
}

int write_flamegraph(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err)
{
	static const enum key_id ids[LEVELS] = { KEY_HOST, KEY_SESSION, KEY_COMM,
						 KEY_PID, KEY_TID };
	struct flames f = { 0 };
	int r = flame_page_make(&f.page, out, p, options->threshold);

	for (size_t i = 0; i < LEVELS; i++)
		f.keys[i] = (size_t)keys_find(p->options.keys, ids[i]);
	if (!r)
		r = write_flamegraph_make_room(&f);
	if (!r)
		r = choose_level(&f);
	if (!r)
		write_flamegraph_put_page(&f);
	if (!r && f.page.text.failed)
		r = -ENOMEM;
	free(f.sums);
	vec_done(&f.touched);
	vec_done(&f.counts);
	vec_done(&f.ends);
	flame_page_done(&f.page);
	return r ? err_set(err, r, "out of memory") : 0;
}
