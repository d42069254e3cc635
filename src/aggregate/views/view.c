/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/views/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/views/call_inlines.h"
#include "base/array.h"
#include "base/containers/hash.h"
#include "base/containers/huge.h"

enum {
	FIRST_ROOM = 16,
	DENSE_NAMED_EVENTS =
		4 /* maximum number of events for plain counters: more need too much memory */
};

const char *view_vmlinux(const struct profile *p, const struct view *v)
{
	return p->options.vmlinux ? p->options.vmlinux : v->source.info->vmlinux;
}

int view_new(const struct profile *p, const struct profile_source *source,
	     struct view **ret_view)
{
	const struct session_span span = { .start_ns = source->start_ns,
					   .first_ns = source->first_ns,
					   .last_ns = source->last_ns,
					   .wall_ns = source->wall_ns,
					   .wall_at_ns = source->wall_at_ns };
	struct view *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->source = *source;
	v->damaged = VIEW_UNSET;
	v->weighted = source->info->flags & SESSION_WEIGHTED;
	v->has_values = p->options.values && source->info->flags & SESSION_VALUES;
	selection_init(&v->selection, p->options.spec, source->dict,
		       view_vmlinux(p, v));
	if (selection_set_times(&v->selection, &span)) {
		selection_done(&v->selection);
		free(v);
		return -ENOMEM;
	}
	*ret_view = v;
	return 0;
}

void view_free(struct view *v)
{
	if (!v)
		return;
	free(v->actor_of);
	free(v->position_of);
	free(v->of_frame);
	free(v->order);
	free(v->node_of);
	for (unsigned int position = 0; position < CALL_POSITIONS; position++)
		free(v->function_of[position]);
	call_inlines_free(v->inlines);
	vec_done(&v->path);
	free(v->event_of);
	free(v->image_of);
	free(v->text_of);
	free(v->truncated);
	free(v->noted);
	for (size_t i = 0; i < v->nr_positions_of; i++)
		free(v->positions_of[i].positions);
	free(v->positions_of);
	vec_done(&v->actors);
	vec_done(&v->positions);
	map_done(&v->actor_by);
	map_done(&v->position_by);
	dense_done(&v->dense);
	tally_done(&v->tally);
	selection_done(&v->selection);
	buf_done(&v->text);
	free(v);
}

void view_counted(struct view *v)
{
	free(v->position_of);
	v->position_of = NULL;
	map_done(&v->position_by);
}

void view_named(struct view *v)
{
	free(v->node_of);
	v->node_of = NULL;
	call_inlines_free(v->inlines);
	v->inlines = NULL;
}

/* Returns the capacity for `nr` numbers and one for "unknown".  Arrays grow with the dict, block
 * by block, and should not be moved each time. */
static size_t view_room_for(size_t nr)
{
	size_t room = FIRST_ROOM;

	while (room <= nr)
		room *= 2;
	return room;
}

/* Grows an array of numbers to `nr` and one more; new elements are unset. */
static int grow_numbers(uint32_t **numbers, size_t *nr_old, size_t nr)
{
	uint32_t *grown = *numbers;
	size_t room = view_room_for(nr);

	if (grown && nr == *nr_old)
		return 0;
	if (!grown || room != view_room_for(*nr_old))
		grown = huge_realloc(grown, (*nr_old + 1) * sizeof(*grown),
				     room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (size_t i = *nr_old; i <= nr; i++)
		grown[i] = VIEW_UNSET;
	*numbers = grown;
	*nr_old = nr;
	return 0;
}

static uint32_t intern_actor(struct view *v, const struct actor *actor)
{
	uint64_t hash = hash_bytes(actor, sizeof(*actor), 0);

	for (uint64_t probe = 0;; probe++) {
		bool is_new;
		struct map_slot *slot = map_at(&v->actor_by, hash, probe, &is_new);

		if (!slot)
			return VIEW_UNSET;
		if (!is_new) {
			uint32_t i = slot->value_plus_1 - 1;

			if (!memcmp(&v->actors.at[i], actor, sizeof(*actor)))
				return i;
			continue;
		}
		if (!vec_push(&v->actors, *actor))
			return VIEW_UNSET;
		slot->value_plus_1 = (uint32_t)v->actors.nr;
		return slot->value_plus_1 - 1;
	}
}

/* Returns VIEW_SKIP if the specification does not select the thread. */
static uint32_t actor_of_thread(const struct profile *p, struct view *v,
				const struct thread *t)
{
	struct actor a = { .app = DICT_NONE };

	if (!selection_wants_thread(&v->selection, t))
		return VIEW_SKIP;
	if (p->needs & NEED_APP) {
		a.app = t->app;
		if (t->flags & THREAD_KERNEL)
			a.flags |= ACTOR_KERNEL;
	}
	if (p->needs & NEED_COMM)
		a.comm = t->comm;
	if (p->needs & NEED_CGROUP)
		a.cgroup = t->cgroup;
	if (p->needs & NEED_PID)
		a.pid = p->given_up & NEED_PID ? -1 : t->pid;
	if (p->needs & NEED_TID)
		a.tid = p->given_up & NEED_TID ? -1 : t->tid;
	if (p->needs & NEED_QUALITY) {
		/* In a weighted session, pid 0 and tid 0 mean that the thread is unknown, not that
		 * it is idle. */
		if (t->pid == 0 && t->tid == 0 && !v->weighted)
			a.flags |= ACTOR_IDLE;
		if (t->pid == -1 || t->flags & THREAD_EXITING)
			a.flags |= ACTOR_EXITING;
	}
	return intern_actor(v, &a);
}

/* Returns the new number of each actor after the dropped keys are removed (malloc'd). */
static uint32_t *merge_actors(const struct profile *p, struct view *v)
{
	size_t nr = v->actors.nr;
	struct actor *old = v->actors.at;
	uint32_t *now = calloc(nr + 1, sizeof(*now));

	if (!now)
		return NULL;
	v->actors.at = NULL;
	vec_done(&v->actors);
	map_done(&v->actor_by);
	for (size_t i = 0; i < nr; i++) {
		if (p->given_up & NEED_PID)
			old[i].pid = -1;
		if (p->given_up & NEED_TID)
			old[i].tid = -1;
		now[i] = intern_actor(v, &old[i]);
		if (now[i] == VIEW_UNSET) {
			free(now);
			now = NULL;
			break;
		}
	}
	free(old);
	return now;
}

/* Returns true if plain counters suffice: they have no periods or CPUs, and only a few events.  They
 * have the times of a few wide buckets; a timeline is for the others. */
static bool can_be_dense(const struct profile *p, const struct view *v)
{
	bool named = p->needs & (NEED_FUNCTION | NEED_ADDRESS);
	size_t most = named ? DENSE_NAMED_EVENTS : 1 << DENSE_EVENT_BITS;

	return !p->options.periods && !v->weighted && !v->has_values &&
	       !(p->needs & NEED_CPU) && !p->options.timeline &&
	       v->source.dict->events.nr <= most;
}

/* Counts a cell again, for its new actor. */
static int merge_cell(const struct profile *p, struct view *v, uint64_t actor,
		      const struct tally_cell *c)
{
	const uint64_t no_cpu = (uint64_t)VIEW_CPU_NONE << VIEW_EVENT_BITS;
	uint64_t b = v->by_cpu && p->given_up & NEED_CPU ? c->b | no_cpu : c->b;

	if (v->dense.on && !(p->needs & NEED_TIME))
		return dense_add(&v->dense, &v->tally, actor << DENSE_EVENT_BITS | b,
				 (uint32_t)c->a, c->samples);
	return tally_add_many(&v->tally, actor << 32 | (uint32_t)c->a, b, c->samples,
			      c->period);
}

/* Counts all cells again, because some now share an actor. */
static int merge_cells(const struct profile *p, struct view *v, const uint32_t *now)
{
	struct tally old = v->tally;
	int r = tally_finish(&old);

	v->tally = (struct tally){ 0 };
	/* With fewer keys, plain counters can be small enough again. */
	v->dense.on = can_be_dense(p, v);
	for (size_t i = 0; !r && i < old.nr_cells; i++)
		r = merge_cell(p, v, now[old.cells[i].a >> 32], &old.cells[i]);
	tally_done(&old);
	return r;
}

int view_give_up(struct profile *p, struct view *v, unsigned int need)
{
	size_t nr_actors = v->actors.nr;
	uint32_t *now;
	int r = 0;

	p->given_up |= need;
	if (dense_flush(&v->dense, &v->tally))
		return -ENOMEM;
	now = merge_actors(p, v);
	if (!now)
		return -ENOMEM;
	for (size_t i = 0; v->actor_of && i <= v->nr_threads; i++)
		if (v->actor_of[i] < VIEW_SKIP)
			v->actor_of[i] = now[v->actor_of[i]];
	/* If the number of actors is unchanged, their numbers are also unchanged. */
	if (v->actors.nr < nr_actors || (v->by_cpu && need & NEED_CPU))
		r = merge_cells(p, v, now);
	free(now);
	return r;
}

static int extend_threads(struct profile *p, struct view *v)
{
	const struct dict *d = v->source.dict;
	const struct thread unknown = { .pid = -1, .tid = -1, .app = DICT_NONE };
	size_t from = v->nr_threads;

	if (v->actor_of && d->threads.nr == v->nr_threads)
		return 0;
	if (grow_numbers(&v->actor_of, &v->nr_threads, d->threads.nr))
		return -ENOMEM;
	for (size_t i = from; i <= d->threads.nr; i++) {
		const struct thread *t =
			i < d->threads.nr ? &d->threads.at[i] : &unknown;

		v->actor_of[i] = actor_of_thread(p, v, t);
		if (v->actor_of[i] == VIEW_UNSET)
			return -ENOMEM;
	}
	return 0;
}

/* Returns the profile's number of an event, which is new or known from an earlier segment. */
static uint32_t intern_event(struct profile *p, const char *name, const struct dict *d,
			     const struct event_desc *desc)
{
	struct profile_event e = {
		.name = strtab_add(&p->strings, name),
		.about = strtab_add(&p->strings, dict_str(d, desc->about)),
		.mask_about = strtab_add(&p->strings, dict_str(d, desc->mask_about)),
		.count = desc->count,
		.frequency_hz = desc->frequency_hz,
		.unit_mask = desc->unit_mask,
		.flags = desc->flags,
		.type = desc->type,
	};

	if (e.name == STRTAB_FAILED || e.about == STRTAB_FAILED ||
	    e.mask_about == STRTAB_FAILED)
		return VIEW_UNSET;
	for (uint32_t i = 0; i < p->events.nr; i++) {
		const struct profile_event *old = &p->events.at[i];

		if (old->name == e.name && old->count == e.count &&
		    old->unit_mask == e.unit_mask &&
		    !((old->flags ^ e.flags) & EVENT_CALLS))
			return i;
	}
	if (!vec_push(&p->events, e))
		return VIEW_UNSET;
	return (uint32_t)p->events.nr - 1;
}

const char *event_of_any_core(const struct profile *p, const char *name,
			      char room[EVENT_NAME_ROOM])
{
	static const char *const pmus[] = { "cpu_core/", "cpu_atom/", "cpu_lowpower/",
					    "armv8_", "apple_" };
	const char *slash = strchr(name, '/');
	size_t len = slash ? strlen(slash + 1) : 0;
	bool of_cores = false;

	for (size_t i = 0; i < COUNT_OF(pmus); i++)
		of_cores |= !strncmp(name, pmus[i], strlen(pmus[i]));
	/* Event names with explicit terms (cpu/event=0x3c/) are not merged: terms are numbers of a
	 * particular PMU. */
	if (!p->options.merge_cores || !of_cores || len < 2 || slash[len] != '/' ||
	    strchr(slash, '=') || len > EVENT_NAME_ROOM)
		return name;
	(void)snprintf(room, EVENT_NAME_ROOM, "%.*s", (int)len - 1, slash + 1);
	return room;
}

static int extend_events(struct profile *p, struct view *v)
{
	const struct dict *d = v->source.dict;
	size_t from = v->nr_events;

	if (v->event_of && d->events.nr == v->nr_events)
		return 0;
	if (grow_numbers(&v->event_of, &v->nr_events, d->events.nr))
		return -ENOMEM;
	for (size_t i = from; i < d->events.nr; i++) {
		const struct event_desc *desc = &d->events.at[i];
		char room[EVENT_NAME_ROOM];
		const char *name = event_of_any_core(p, dict_str(d, desc->name), room);

		/* Skip events whose number does not fit in a tally cell.  No recorder writes
		 * that many events. */
		if (i >= VIEW_EVENT_NONE ||
		    !selection_wants_event(&v->selection, desc) ||
		    (desc->flags & EVENT_CALLS && !p->options.call_graph &&
		     !p->options.call_events))
			v->event_of[i] = VIEW_SKIP;
		else
			v->event_of[i] = intern_event(p, name, d, desc);
		if (v->event_of[i] == VIEW_UNSET)
			return -ENOMEM;
	}
	return 0;
}

/* Notes for each new stack whether it is truncated: its root is then STACK_TRUNCATED. Callers
 * precede callees. Returns 0 or -ENOMEM. */
static int extend_truncated(struct view *v, size_t from, size_t nr)
{
	const struct dict *d = v->source.dict;
	uint8_t *grown;

	grown = realloc(v->truncated, nr + 1);
	if (!grown)
		return -ENOMEM;
	v->truncated = grown;
	grown[nr] = 0;
	for (size_t i = from; i < nr; i++) {
		uint32_t parent = d->stacks.at[i].parent;

		grown[i] = i == STACK_TRUNCATED || (parent < i && grown[parent]);
	}
	return 0;
}

static int extend_stacks(const struct profile *p, struct view *v)
{
	size_t nr = v->source.dict->stacks.nr;

	if (v->position_of && nr == v->nr_stacks)
		return 0;
	if (p->needs & NEED_QUALITY && extend_truncated(v, v->nr_stacks, nr))
		return -ENOMEM;
	if (p->needs & NEED_STACK && grow_numbers(&v->node_of, &v->nr_nodes_of, nr))
		return -ENOMEM;
	return grow_numbers(&v->position_of, &v->nr_stacks, nr);
}

/* Extends the tables by frame. If a symbol leads directly to its position, functions need not be
 * stored by frame. */
static int extend_frames(const struct profile *p, struct view *v)
{
	size_t nr = v->source.dict->frames.nr;

	for (unsigned int i = 0; p->needs & NEED_STACK && i < CALL_POSITIONS; i++)
		if (grow_numbers(&v->function_of[i], &v->nr_functions_of[i], nr))
			return -ENOMEM;
	if (!v->late && (!(p->needs & NEED_FUNCTION) || view_one_position_a_symbol(p)))
		return 0;
	return grow_numbers(&v->of_frame, &v->nr_frames, nr);
}

static int extend_images(struct view *v)
{
	size_t nr = v->source.dict->images.nr;
	size_t from = v->nr_images;
	struct symbol_positions *positions;
	uint8_t *grown;

	if (v->image_of && nr == from)
		return 0;
	grown = realloc(v->noted, nr + 1);
	if (!grown)
		return -ENOMEM;
	v->noted = grown;
	memset(grown + from, 0, nr + 1 - from);
	positions = realloc(v->positions_of, (nr + 1) * sizeof(*positions));
	if (!positions)
		return -ENOMEM;
	v->positions_of = positions;
	memset(positions + v->nr_positions_of, 0,
	       (nr + 1 - v->nr_positions_of) * sizeof(*positions));
	v->nr_positions_of = nr + 1;
	if (grow_numbers(&v->text_of, &v->nr_texts, nr))
		return -ENOMEM;
	return grow_numbers(&v->image_of, &v->nr_images, nr);
}

/* Decides when symbols are looked up. Usually that is when the source ends, in address order, so
 * that symbol tables are read sequentially.  With plain counters there are only a few positions, so
 * symbols are looked up at once. */
static void decide_names(const struct profile *p, struct view *v)
{
	bool named = p->needs & (NEED_FUNCTION | NEED_ADDRESS);

	v->dense.on = can_be_dense(p, v);
	v->late = named && (v->source.names_late || v->fetch || !v->dense.on ||
			    p->needs & (NEED_LINES | NEED_STACK) || p->options.code);
}

int view_extend(struct profile *p, struct view *v)
{
	if (!v->position_of)
		decide_names(p, v);
	if (extend_threads(p, v) || extend_events(p, v) || extend_stacks(p, v) ||
	    extend_frames(p, v) || extend_images(v))
		return -ENOMEM;
	return 0;
}
