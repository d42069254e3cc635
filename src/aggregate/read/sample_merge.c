/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/read/sample_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/selection/sample.h"
#include "aggregate/selection/selection.h"
#include "aggregate/selection/session_span.h"
#include "aggregate/selection/spec.h"
#include "aggregate/selection/symbol.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/saturate.h"
#include "format/session/dict_merge.h"
#include "format/session/segment_order.h"
#include "resolve/symbolize/naming.h"

enum part_state {
	PART_WAITING, /* not reached yet */
	PART_OPEN,
	PART_ENDED
};

/* A segment. */
struct sample_merge_part {
	enum part_state state;
	bool chosen; /* the specification selects every sample of the segment */
	uint32_t session;
	char *session_dir;
	uint32_t machine;
	uint64_t start_ns; /* from the segment's header */
	struct segment_order order;
	struct dict_merge dict;
	struct selection selection;
	struct selection_symbols symbols;
	struct naming *naming; /* if the specification has functions */
	struct sample next;    /* of an open part */
};

struct machine_key {
	uint32_t hostname, boot_id; /* strings of the dict */
	uint64_t kernel_start;      /* differs between boots; 0: unknown */
};

struct sample_merge {
	const struct spec *spec;
	struct naming_locations *locations;
	struct dict dict;
	struct sample_merge_info info;
	VEC(struct sample_merge_part) parts;
	VEC(struct machine_key) machines;
	VEC(uint32_t) machine_of; /* by image */
	uint64_t skipped;
};

int sample_merge_new(const struct spec *spec, struct naming_locations *locations,
		     struct sample_merge **ret_merge)
{
	struct sample_merge *m = calloc(1, sizeof(*m));

	if (!m || dict_init(&m->dict)) {
		free(m);
		return -ENOMEM;
	}
	m->spec = spec;
	m->locations = locations;
	*ret_merge = m;
	return 0;
}

static void sample_merge_close_part(struct sample_merge_part *p)
{
	if (p->state == PART_OPEN) {
		selection_done(&p->selection);
		selection_symbols_done(&p->symbols);
		naming_free(p->naming);
		p->naming = NULL;
	}
	dict_merge_done(&p->dict);
	segment_order_close(&p->order);
	p->state = PART_ENDED;
}

void sample_merge_free(struct sample_merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->parts.nr; i++) {
		sample_merge_close_part(&m->parts.at[i]);
		segment_order_done(&m->parts.at[i].order);
		free(m->parts.at[i].session_dir);
	}
	vec_done(&m->parts);
	vec_done(&m->machines);
	vec_done(&m->machine_of);
	dict_done(&m->dict);
	free(m);
}

/* ---- facts from segment headers ---- */

/* Keeps the first segment's text if all others agree; otherwise "". */
static int join_text(struct sample_merge *m, const char **text, const char *other)
{
	uint32_t string;

	if (m->info.nr_segments > 1) {
		if (strcmp(*text, other) != 0)
			*text = "";
		return 0;
	}
	string = dict_string(&m->dict, other);
	*text = dict_str(&m->dict, string);
	return string == DICT_NONE ? -ENOMEM : 0;
}

static int join_info(struct sample_merge *m, const struct session_info *other)
{
	struct session_info *info = &m->info.first;

	if (m->info.nr_segments == 1)
		*info = *other;
	if (join_text(m, &info->tool_version, other->tool_version) ||
	    join_text(m, &info->hostname, other->hostname) ||
	    join_text(m, &info->os_release, other->os_release) ||
	    join_text(m, &info->machine, other->machine) ||
	    join_text(m, &info->cpu_desc, other->cpu_desc) ||
	    join_text(m, &info->boot_id, other->boot_id) ||
	    join_text(m, &info->command, other->command) ||
	    join_text(m, &info->vmlinux, other->vmlinux))
		return -ENOMEM;
	if (other->nr_cpus_online > info->nr_cpus_online)
		info->nr_cpus_online = other->nr_cpus_online;
	return 0;
}

static void join_counts(struct sample_merge *m, const struct segment *s)
{
	const struct session_totals *t = segment_totals(s);
	const struct segment_damage *d = segment_damage(s);

	m->info.lost =
		saturating_add(m->info.lost, saturating_add(t->lost, t->dropped));
	m->info.malformed += t->undecodable;
	/* Bad samples are counted individually. */
	m->info.damage.bad_blocks += d->bad_blocks;
	m->info.damage.cut_bytes += d->cut_bytes;
	m->info.damage.missing_samples += d->missing_samples;
	m->info.damage.unfinished |= d->unfinished;
	m->info.nr_unfinished += d->unfinished;
}

/* Returns whether two recordings are from the same machine. A recording without a host name
 * belongs to another machine only if the kernel addresses differ.  Adds the missing facts to
 * `known`. */
static bool same_machine(const struct dict *d, struct machine_key *known,
			 const struct machine_key *key)
{
	bool placed = known->kernel_start && key->kernel_start;
	bool named = *dict_str(d, known->hostname) && *dict_str(d, key->hostname);

	if (known->boot_id != key->boot_id ||
	    (placed && known->kernel_start != key->kernel_start) ||
	    (known->hostname != key->hostname && (named || !placed)))
		return false;
	if (key->kernel_start)
		known->kernel_start = key->kernel_start;
	if (!*dict_str(d, known->hostname))
		known->hostname = key->hostname;
	return true;
}

static int find_machine(struct sample_merge *m, const struct segment *s,
			uint32_t *ret_machine)
{
	const struct dict *d = segment_dict(s);
	struct machine_key key = {
		.hostname = dict_string(&m->dict, segment_info(s)->hostname),
		.boot_id = dict_string(&m->dict, segment_info(s)->boot_id),
	};

	if (key.hostname == DICT_NONE || key.boot_id == DICT_NONE)
		return -ENOMEM;
	for (size_t i = 0; i < d->images.nr && !key.kernel_start; i++)
		if (d->images.at[i].kind == IMAGE_KERNEL)
			key.kernel_start = d->images.at[i].start;
	for (uint32_t i = 0; i < m->machines.nr; i++) {
		if (!same_machine(&m->dict, &m->machines.at[i], &key))
			continue;
		*ret_machine = i;
		return 0;
	}
	*ret_machine = (uint32_t)m->machines.nr;
	m->info.nr_machines++;
	return vec_push(&m->machines, key) ? 0 : -ENOMEM;
}

static bool sample_merge_is_kernel(const struct image *image)
{
	return image->kind == IMAGE_KERNEL || image->kind == IMAGE_MODULE ||
	       image->kind == IMAGE_GUEST_KERNEL;
}

/* Assigns the images added since the last call to this machine. */
static int own_images(struct sample_merge *m, uint32_t machine)
{
	while (m->machine_of.nr < m->dict.images.nr)
		if (!vec_push(&m->machine_of, machine))
			return -ENOMEM;
	return 0;
}

static int add_fixed(struct sample_merge *m, struct sample_merge_part *p,
		     const struct segment *s)
{
	const struct dict *d = segment_dict(s);

	selection_init(&p->selection, m->spec, d, segment_info(s)->vmlinux);
	for (uint32_t i = 0; i < d->events.nr; i++)
		if (!(d->events.at[i].flags & EVENT_LOST) &&
		    selection_wants_event(&p->selection, &d->events.at[i]) &&
		    dict_merge_event(&p->dict, i) == DICT_NONE)
			return -ENOMEM;
	for (uint32_t i = 0; i < d->images.nr; i++)
		if (sample_merge_is_kernel(&d->images.at[i]) &&
		    dict_merge_image(&p->dict, i) == DICT_NONE)
			return -ENOMEM;
	for (size_t i = 0; i < d->threads.nr; i++)
		m->info.cgroups |= *dict_str(d, d->threads.at[i].cgroup) != 0;
	return own_images(m, p->machine);
}

struct visit {
	struct sample_merge *merge;
	struct sample_merge_part *part;
};

static int visit_segment(void *ctx, const struct segment *s)
{
	struct sample_merge *m = ((struct visit *)ctx)->merge;
	struct sample_merge_part *p = ((struct visit *)ctx)->part;
	int r;

	m->info.nr_segments++;
	p->start_ns = segment_info(s)->start_ns;
	join_counts(m, s);
	r = join_info(m, segment_info(s));
	if (!r)
		r = find_machine(m, s, &p->machine);
	dict_merge_init(&p->dict, segment_dict(s), &m->dict);
	if (!r)
		r = add_fixed(m, p, s);
	selection_done(&p->selection);
	dict_merge_done(&p->dict);
	return r;
}

int sample_merge_add(struct sample_merge *m, const struct sample_merge_source *source,
		     struct err *err)
{
	struct visit visit = { .merge = m };
	struct sample_merge_part *p;
	int r;

	if (!vec_grow(&m->parts))
		return err_set(err, -ENOMEM, "out of memory");
	p = &m->parts.at[m->parts.nr];
	*p = (struct sample_merge_part){ .session = source->session,
					 .chosen = source->chosen,
					 .session_dir = strdup(source->session_dir) };
	visit.part = p;
	r = p->session_dir ? segment_order_scan(&p->order, source->path, source->trust,
						visit_segment, &visit, err)
			   : err_set(err, -ENOMEM, "out of memory");
	if (r) {
		segment_order_done(&p->order);
		free(p->session_dir);
		return r;
	}
	m->parts.nr++;
	return 0;
}

const struct sample_merge_info *sample_merge_info(const struct sample_merge *m)
{
	return &m->info;
}

const struct dict *sample_merge_dict(const struct sample_merge *m)
{
	return &m->dict;
}

const uint32_t *sample_merge_machines(struct sample_merge *m)
{
	return m->machine_of.at;
}

uint64_t sample_merge_skipped(const struct sample_merge *m)
{
	return m->skipped;
}

/* ---- the samples ---- */

/* Returns the start of the session, from its first segment, and the time range of its samples. */
static void session_times(const struct sample_merge *m, uint32_t session,
			  struct session_span *ret_span)
{
	struct session_span span = { .first_ns = UINT64_MAX };
	bool first = true;

	for (size_t i = 0; i < m->parts.nr; i++) {
		const struct sample_merge_part *p = &m->parts.at[i];

		if (p->session != session)
			continue;
		if (first)
			span.start_ns = p->start_ns;
		first = false;
		if (p->order.first_ns < span.first_ns)
			span.first_ns = p->order.first_ns;
		if (p->order.last_ns > span.last_ns)
			span.last_ns = p->order.last_ns;
	}
	*ret_span = span;
}

/* Reads the next sample; closes the part at its end. */
static int sample_merge_advance(struct sample_merge_part *p, struct err *err)
{
	int r = segment_order_next(&p->order, &p->next, err);

	if (r == 1)
		sample_merge_close_part(p);
	return r < 0 ? r : 0;
}

/* Opens the symbolizer for the part's frames, if the specification has functions. */
static int sample_merge_open_names(struct sample_merge *m, struct sample_merge_part *p)
{
	const struct session_info *info = segment_info(p->order.segment);
	int r;

	if (p->chosen || !m->spec || !spec_has_symbols(m->spec))
		return 0;
	r = naming_new(segment_dict(p->order.segment), info, p->session_dir,
		       &p->naming);
	if (r)
		return r;
	if (m->locations)
		naming_use(p->naming, m->locations);
	selection_symbols_init(&p->symbols, p->naming);
	return 0;
}

static int sample_merge_open_part(struct sample_merge *m, struct sample_merge_part *p,
				  struct err *err)
{
	const struct segment *s;
	struct session_span span;
	int r = segment_order_open(&p->order, err);

	if (r)
		return r;
	s = p->order.segment;
	p->state = PART_OPEN;
	dict_merge_init(&p->dict, segment_dict(s), &m->dict);
	selection_init(&p->selection, p->chosen ? NULL : m->spec, segment_dict(s),
		       segment_info(s)->vmlinux);
	session_times(m, p->session, &span);
	session_span_set_wall(&span, segment_info(s));
	if (selection_set_times(&p->selection, &span) || sample_merge_open_names(m, p))
		return err_set(err, -ENOMEM, "out of memory");
	return sample_merge_advance(p, err);
}

/* Sets *ret_part to the part with the earliest sample, and opens it if needed; NULL if all have
 * ended. At equal times, the part that was added first comes first. Returns 0, or a negative errno
 * with a message. */
static int sample_merge_earliest(struct sample_merge *m,
				 struct sample_merge_part **ret_part, struct err *err)
{
	struct sample_merge_part *least = NULL;
	uint64_t least_ns = 0;

	for (size_t i = 0; i < m->parts.nr; i++) {
		struct sample_merge_part *p = &m->parts.at[i];
		bool open = p->state == PART_OPEN;
		uint64_t ns = open ? p->next.time_ns : p->order.first_ns;

		if (p->state == PART_ENDED || (least && ns >= least_ns))
			continue;
		least = p;
		least_ns = ns;
	}
	*ret_part = least;
	return least && least->state == PART_WAITING
		       ? sample_merge_open_part(m, least, err)
		       : 0;
}

static int sample_merge_is_wanted(struct sample_merge_part *p)
{
	int r = selection_wants_one(&p->selection, &p->next);

	return r > 0 && p->naming ? selection_wants_symbol(&p->symbols, &p->selection,
							   p->next.stack)
				  : r;
}

/* Takes the next sample of a part.  Returns 0, 1 if the sample must be skipped, or a negative
 * errno. */
static int sample_merge_take(struct sample_merge *m, struct sample_merge_part *p,
			     struct sample *ret_sample)
{
	struct sample sample = p->next;
	int r;

	if (session_event_is_calls(p->dict.from, sample.event))
		return 1;
	r = sample_merge_is_wanted(p);

	if (r <= 0) {
		m->skipped += !r;
		return r ? r : 1;
	}
	r = dict_merge_sample(&p->dict, &sample);
	if (r == -EINVAL) {
		m->info.damage.bad_samples++;
		return 1;
	}
	if (!r)
		r = own_images(m, p->machine);
	if (!r)
		*ret_sample = sample;
	return r;
}

int sample_merge_next(struct sample_merge *m, struct sample *ret_sample,
		      struct err *err)
{
	for (;;) {
		struct sample_merge_part *p;
		int taken;
		int r = sample_merge_earliest(m, &p, err);

		if (r || !p)
			return r ? r : 1;
		if (p->state != PART_OPEN)
			continue;
		taken = sample_merge_take(m, p, ret_sample);
		if (taken < 0)
			return err_set(err, taken, "out of memory");
		r = sample_merge_advance(p, err);
		if (r || !taken)
			return r;
	}
}
