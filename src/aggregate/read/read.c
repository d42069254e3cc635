/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read.c - reads a segment file into a profile through profile_feed.h. */
#include "aggregate/read/read.h"

#include <errno.h>
#include <string.h>

#include "aggregate/read/profile_feed.h"
#include "aggregate/views/view.h"
#include "base/err.h"
#include "format/session/session.h"
#include "resolve/jit/session.h"
#include "resolve/symbolize/naming.h"

static struct profile_event *read_find_event(struct profile *p, const struct dict *d,
					     const struct event_desc *desc)
{
	char room[EVENT_NAME_ROOM];
	uint32_t name = strtab_find(
		&p->strings, event_of_any_core(p, dict_str(d, desc->name), room));

	for (size_t i = 0; i < p->events.nr && name != STRTAB_FAILED; i++) {
		struct profile_event *e = &p->events.at[i];

		if (e->name == name && e->count == desc->count &&
		    e->unit_mask == desc->unit_mask)
			return e;
	}
	return NULL;
}

static void read_add_shares(struct profile *p, const struct dict *d,
			    const struct session_totals *t)
{
	for (size_t i = 0; i < d->events.nr && i < SESSION_EVENT_SHARES; i++) {
		struct profile_event *e = read_find_event(p, d, &d->events.at[i]);
		uint16_t share = t->event_shares[i];

		if (e && share && (!e->share || share < e->share))
			e->share = share;
	}
}

static void read_note_length(struct profile_input *in, const struct session_info *info,
			     const struct session_totals *t)
{
	if (t->end_ns > info->start_ns)
		in->recorded_ns += t->end_ns - info->start_ns;
}

static void read_add_damage(struct profile_input *in, const struct segment_damage *d)
{
	segment_damage_add(&in->damage, d);
	in->nr_unfinished += d->unfinished;
}

static void read_report_progress(const struct profile *p, const struct segment *s)
{
	uint64_t done;
	uint64_t total;

	if (!p->options.progress)
		return;
	segment_progress(s, &done, &total);
	p->options.progress(p->options.progress_ctx, done, total);
}

/* Adds a batch, translated by the session's jitdumps if it has any (`jit` is not NULL). */
static int read_add_batch(struct profile *p, struct jit_session *jit,
			  const struct sample_batch *batch, struct err *err)
{
	struct sample_batch named;

	if (!jit)
		return profile_add(p, batch, err);
	return jit_session_batch(jit, batch, &named)
		       ? err_set(err, -ENOMEM, "out of memory")
		       : profile_add(p, &named, err);
}

static int read_each_batch(struct profile *p, struct segment *s,
			   struct jit_session *jit, struct err *err)
{
	unsigned int columns =
		profile_columns(p) | (jit ? (unsigned int)JIT_SESSION_COLUMNS : 0);

	for (;;) {
		struct sample_batch batch;
		int r = segment_next(s, columns, &batch, err);

		if (r)
			return r < 0 ? r : 0;
		r = read_add_batch(p, jit, &batch, err);
		if (r)
			return r;
		read_report_progress(p, s);
	}
}

static int read_by_name(struct profile *p, struct segment *s, struct jit_session *jit,
			const struct profile_source *source, struct err *err)
{
	int r = profile_begin(p, source);
	int ended;

	if (r)
		return err_set(err, r, "out of memory");
	r = read_each_batch(p, s, jit, err);
	ended = profile_end(p, r ? NULL : err);
	return r ? r : ended;
}

/* Updates the drift between the samples' clock and the wall clock. All segments of one boot have
 * the same difference between these clocks, unless the wall clock was set or runs at another
 * speed. */
static void read_note_clocks(struct profile *p, const struct session_info *info)
{
	struct profile_input *in = &p->input;
	uint64_t wall, clock, drift;

	if (!*info->boot_id || !info->start_wall_ns)
		return;
	if (!in->start_wall_ns) {
		in->boot = strtab_add(&p->strings, info->boot_id);
		in->start_ns = info->start_ns;
		in->start_wall_ns = info->start_wall_ns;
	}
	if (strcmp(strtab_get(&p->strings, in->boot), info->boot_id) != 0)
		return;
	wall = info->start_wall_ns - in->start_wall_ns;
	clock = info->start_ns - in->start_ns;
	drift = wall - clock;
	if (drift > INT64_MAX)
		drift = 0 - drift;
	if (drift > in->drift_ns)
		in->drift_ns = drift;
}

static void read_note_segment(struct profile *p, const struct session_info *info)
{
	struct profile_input *in = &p->input;

	read_note_clocks(p, info);
	if (!in->nr_segments++) {
		in->cpu_mhz = info->cpu_mhz;
		in->cpu_desc = strtab_add(&p->strings, info->cpu_desc);
		in->vmlinux = strtab_add(&p->strings, info->vmlinux);
	}
	in->session_flags |= info->flags;
}

/* Opens the jitdumps, and uses their dict if there are any. */
static int read_open_jit(struct profile_source *source, const char *session_dir,
			 struct jit_session **ret_jit)
{
	struct jit_session *jit = NULL;
	int r = jit_session_new(session_dir, source->dict, source->info, &jit);

	if (r)
		return r;
	if (jit)
		source->dict = jit_session_dict(jit);
	*ret_jit = jit;
	return 0;
}

int profile_read_segment(struct profile *p, const char *path, const char *session_dir,
			 const char *session, struct session_span *span,
			 struct err *err)
{
	struct profile_source source = { .session = session };
	struct jit_session *jit = NULL;
	struct segment *s;
	int r = segment_open(path, p->options.trust, &s, err);

	if (r)
		return r;
	source.dict = segment_dict(s);
	source.info = segment_info(s);
	if (!span->start_ns)
		span->start_ns = source.info->start_ns;
	source.start_ns = span->start_ns;
	source.first_ns = span->first_ns;
	source.last_ns = span->last_ns;
	source.wall_ns = source.info->start_wall_ns;
	source.wall_at_ns = source.info->start_ns;
	read_note_segment(p, source.info);
	r = read_open_jit(&source, session_dir, &jit);
	if (!r)
		r = naming_new(source.dict, source.info, session_dir, &source.naming);
	if (r)
		r = err_set(err, r, "out of memory");
	else
		naming_use(source.naming, p->options.locations);
	if (!r)
		naming_recorded_in(source.naming, path);
	if (!r)
		r = read_by_name(p, s, jit, &source, err);
	if (!r) {
		session_totals_add(&p->input.totals, segment_totals(s));
		read_note_length(&p->input, source.info, segment_totals(s));
		read_add_shares(p, segment_dict(s), segment_totals(s));
		read_add_damage(&p->input, segment_damage(s));
	}
	naming_free(source.naming);
	jit_session_free(jit);
	segment_close(s);
	return r;
}
