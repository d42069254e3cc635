/* SPDX-License-Identifier: GPL-2.0-or-later */
/* speedscope.c - profiles of speedscope (github.com/jlfwong/speedscope, file-format-spec.ts).
 * The first pass reads the frames and the unit of each profile, because both can follow the
 * samples. A sampled profile has a list of stacks and a list of weights. An evented profile has
 * calls and returns; the interval between two consecutive events becomes a sample. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "format/foreign/head.h"
#include "format/foreign/json_walk.h"
#include "format/foreign/named.h"
#include "format/foreign/number_queue.h"
#include "format/foreign/stack_tree.h"

enum speedscope_unit_kind {
	SPEEDSCOPE_COUNT,
	SPEEDSCOPE_BYTES,
	SPEEDSCOPE_TIME
};

struct speedscope_unit {
	const char *name;
	enum speedscope_unit_kind kind;
	unsigned int digits; /* multiply by ten to this power to get the base unit */
};

struct speedscope_profile {
	uint32_t name;
	const struct speedscope_unit *unit;
};

struct speedscope_event {
	char type;
	uint32_t frame;
	int64_t at;
};

struct speedscope {
	struct stack_tree tree;
	uint32_t name, file;  /* name and file of the current frame */
	VEC(uint32_t) frames; /* the tree's frame for each frame number of the file */
	bool is_own;          /* written by our export */
	VEC(struct speedscope_profile) profiles;
	/* ---- state of the second pass ---- */
	size_t nr_profiles; /* profiles that have begun */
	int64_t at;         /* time of the current sample or event */
	bool is_open;       /* after the last event, some calls have not returned */
	uint32_t node;      /* the current stack */
	/* Stacks of the current profile whose weights were not read yet. */
	struct number_queue stacks;
	/* Weights whose stacks were not read yet: for each, an integer and millionths. */
	struct number_queue weights;
	bool has_weights; /* the current profile has a weight */
	struct speedscope_event event;
	foreign_fn fn;
	void *ctx;
	struct foreign_info *info;
};

static const struct speedscope_unit speedscope_units[] = {
	{ "none", SPEEDSCOPE_COUNT, 0 },        { "bytes", SPEEDSCOPE_BYTES, 0 },
	{ "nanoseconds", SPEEDSCOPE_TIME, 0 },  { "microseconds", SPEEDSCOPE_TIME, 3 },
	{ "milliseconds", SPEEDSCOPE_TIME, 6 }, { "seconds", SPEEDSCOPE_TIME, 9 },
};

static bool speedscope_is_text(struct foreign_word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.at, text, w.len);
}

/* ---- the first pass ---- */

enum {
	TABLE_FRAME,
	TABLE_NAME,
	TABLE_FILE,
	TABLE_EXPORTER,
	TABLE_PROFILE,
	TABLE_PROFILE_NAME,
	TABLE_UNIT
};

static const char *const speedscope_tables[] = {
	[TABLE_FRAME] = "shared/frames/*",     [TABLE_NAME] = "shared/frames/*/name",
	[TABLE_FILE] = "shared/frames/*/file", [TABLE_EXPORTER] = "exporter",
	[TABLE_PROFILE] = "profiles/*",        [TABLE_PROFILE_NAME] = "profiles/*/name",
	[TABLE_UNIT] = "profiles/*/unit",
};

static int speedscope_take_frame(struct speedscope *s, enum json_kind kind)
{
	uint32_t frame;

	if (kind == JSON_BEGIN)
		s->name = s->file = 0;
	if (kind != JSON_END)
		return 0;
	frame = stack_tree_frame(&s->tree, s->name, s->file);
	return frame != STACK_TREE_NONE && vec_push(&s->frames, frame) ? 0 : -ENOMEM;
}

static const struct speedscope_unit *speedscope_find_unit(struct foreign_word name)
{
	for (size_t i = 0; i < COUNT_OF(speedscope_units); i++)
		if (speedscope_is_text(name, speedscope_units[i].name))
			return &speedscope_units[i];
	return &speedscope_units[0];
}

static int speedscope_add_profile(struct speedscope *s, enum json_kind kind)
{
	const struct speedscope_profile profile = { .unit = &speedscope_units[0] };

	return kind != JSON_BEGIN || vec_push(&s->profiles, profile) ? 0 : -ENOMEM;
}

static int speedscope_take_table(void *ctx, size_t at, const struct json_value *v)
{
	struct speedscope *s = ctx;
	struct speedscope_profile *profile =
		s->profiles.nr ? &s->profiles.at[s->profiles.nr - 1] : NULL;
	uint32_t text;

	if (at == TABLE_FRAME)
		return speedscope_take_frame(s, v->kind);
	if (at == TABLE_PROFILE)
		return speedscope_add_profile(s, v->kind);
	if (v->kind != JSON_STRING)
		return 0;
	text = stack_tree_name(&s->tree, v->text);
	if (text == STRTAB_FAILED)
		return -ENOMEM;
	if (at == TABLE_NAME)
		s->name = text;
	else if (at == TABLE_FILE)
		s->file = text;
	else if (at == TABLE_EXPORTER)
		s->is_own = speedscope_is_text(v->text, "oprofile");
	else if (at == TABLE_PROFILE_NAME && profile)
		profile->name = text;
	else if (at == TABLE_UNIT && profile)
		profile->unit = speedscope_find_unit(v->text);
	return 0;
}

/* ---- the second pass ---- */

enum {
	DATA_PROFILE,
	DATA_START,
	DATA_STACK,
	DATA_FRAME,
	DATA_WEIGHT,
	DATA_EVENT,
	DATA_TYPE,
	DATA_EVENT_FRAME,
	DATA_AT
};

static const char *const speedscope_data[] = {
	[DATA_PROFILE] = "profiles/*",
	[DATA_START] = "profiles/*/startValue",
	[DATA_STACK] = "profiles/*/samples/*",
	[DATA_FRAME] = "profiles/*/samples/*/*",
	[DATA_WEIGHT] = "profiles/*/weights/*",
	[DATA_EVENT] = "profiles/*/events/*",
	[DATA_TYPE] = "profiles/*/events/*/type",
	[DATA_EVENT_FRAME] = "profiles/*/events/*/frame",
	[DATA_AT] = "profiles/*/events/*/at",
};

static const struct speedscope_profile *speedscope_current(const struct speedscope *s)
{
	return &s->profiles.at[s->nr_profiles - 1];
}

/* Converts a sample of our own export, which has the command as the outermost frame and marks
 * truncated stacks. */
static void speedscope_set_own(const struct speedscope *s,
			       struct foreign_sample *sample)
{
	sample->event = stack_tree_text(&s->tree, speedscope_current(s)->name);
	sample->comm = (struct foreign_word){ "", 0 };
	if (sample->nr_frames)
		sample->comm = sample->frames[--sample->nr_frames].name;
	if (sample->nr_frames &&
	    speedscope_is_text(sample->frames[sample->nr_frames - 1].name,
			       "[truncated]")) {
		sample->truncated = true;
		sample->nr_frames--;
	}
}

static int speedscope_give(struct speedscope *s, uint32_t node, int64_t weight,
			   uint32_t millionths)
{
	static const struct foreign_word events[] = {
		[SPEEDSCOPE_COUNT] = { "", 0 },
		[SPEEDSCOPE_BYTES] = { "bytes", 5 },
		[SPEEDSCOPE_TIME] = { "time", 4 }
	};
	const enum speedscope_unit_kind kind = speedscope_current(s)->unit->kind;
	struct foreign_sample sample = { .pid = -1, .tid = -1, .cpu = -1, .count = 1 };
	uint32_t one;

	if (weight < 0) {
		s->info->skipped++;
		return 0;
	}
	if (stack_tree_add_fraction(&s->tree, node, millionths, &one))
		return -ENOMEM;
	if (!(weight + one))
		return 0;
	weight += one;
	if (!stack_tree_fill(&s->tree, node, &sample))
		return -ENOMEM;
	if (kind == SPEEDSCOPE_COUNT)
		sample.count = (uint64_t)weight;
	else
		sample.period = (uint64_t)weight;
	sample.value_only = kind != SPEEDSCOPE_COUNT;
	if (kind == SPEEDSCOPE_TIME && s->at >= 0)
		sample.time_ns = s->at ? (uint64_t)s->at : 1;
	sample.event = events[kind];
	sample.comm = stack_tree_text(&s->tree, speedscope_current(s)->name);
	if (s->is_own)
		speedscope_set_own(s, &sample);
	return s->fn(s->ctx, &sample);
}

/* Passes the samples whose stack and weight are both known to `fn`. */
static int speedscope_give_known(struct speedscope *s)
{
	int r = 0;

	while (!r && s->weights.nr && s->stacks.nr) {
		int64_t node, weight, millionths;

		r = number_queue_pop(&s->stacks, &node);
		if (!r)
			r = number_queue_pop(&s->weights, &weight);
		if (!r)
			r = number_queue_pop(&s->weights, &millionths);
		if (!r)
			r = speedscope_give(s, (uint32_t)node, weight,
					    (uint32_t)millionths);
		if (!r && __builtin_add_overflow(s->at, weight, &s->at))
			s->at = INT64_MAX;
	}
	return r;
}

/* Ends a profile. If it has stacks without any weights and its unit is a count, passes one
 * sample for each stack. Counts other stacks without weights, weights without stacks, and calls
 * that do not return as malformed. */
static int speedscope_give_rest(struct speedscope *s)
{
	int r = 0;

	while (!r && s->stacks.nr && !s->has_weights &&
	       speedscope_current(s)->unit->kind == SPEEDSCOPE_COUNT) {
		int64_t node;

		r = number_queue_pop(&s->stacks, &node);
		if (!r)
			r = speedscope_give(s, (uint32_t)node, 1, 0);
	}
	s->info->skipped += s->stacks.nr + s->weights.nr / 2 + s->is_open;
	return r;
}

static int speedscope_take_profile(struct speedscope *s, enum json_kind kind)
{
	if (kind == JSON_BEGIN) {
		s->nr_profiles++;
		number_queue_clear(&s->stacks);
		number_queue_clear(&s->weights);
		s->at = 0;
		s->is_open = s->has_weights = false;
		s->node = STACK_TREE_EMPTY;
		return s->nr_profiles > s->profiles.nr ? -ENOMEM : 0;
	}
	return kind == JSON_END ? speedscope_give_rest(s) : 0;
}

/* Extends the current stack by frame number `frame` of the file. Returns 0 or -ENOMEM. */
static int speedscope_push(struct speedscope *s, uint32_t frame)
{
	uint32_t node;

	if (frame >= s->frames.nr) {
		s->info->skipped++;
		return 0;
	}
	node = stack_tree_child(&s->tree, s->node, s->frames.at[frame]);
	if (node == STACK_TREE_NONE)
		return -ENOMEM;
	s->node = node;
	return 0;
}

static int speedscope_take_stack(struct speedscope *s, enum json_kind kind)
{
	int r;

	if (kind == JSON_BEGIN)
		s->node = STACK_TREE_EMPTY;
	if (kind != JSON_END)
		return 0;
	r = number_queue_push(&s->stacks, s->node);
	return r ? r : speedscope_give_known(s);
}

static void speedscope_pop(struct speedscope *s, uint32_t frame)
{
	const struct stack_tree_node *top = &s->tree.nodes.at[s->node];

	if (s->node != STACK_TREE_EMPTY && frame < s->frames.nr &&
	    top->frame == s->frames.at[frame])
		s->node = top->parent;
	else
		s->info->skipped++;
}

static int speedscope_take_event(struct speedscope *s, enum json_kind kind)
{
	const struct speedscope_event *e = &s->event;
	int r = 0;

	if (kind == JSON_BEGIN)
		s->event =
			(struct speedscope_event){ .frame = UINT32_MAX, .at = s->at };
	if (kind != JSON_END)
		return 0;
	if (e->at < s->at) {
		s->info->skipped++;
		return 0;
	}
	if (s->node != STACK_TREE_EMPTY)
		r = speedscope_give(s, s->node, e->at - s->at, 0);
	s->at = e->at;
	if (!r && e->type == 'O')
		r = speedscope_push(s, e->frame);
	else if (!r)
		speedscope_pop(s, e->frame);
	s->is_open = s->node != STACK_TREE_EMPTY;
	return r;
}

static int speedscope_take_frame_number(struct speedscope *s, size_t at,
					const struct json_value *v)
{
	uint32_t frame;

	if (!json_value_u32(v, &frame))
		frame = UINT32_MAX;
	if (at == DATA_FRAME)
		return speedscope_push(s, frame);
	s->event.frame = frame;
	return 0;
}

static int speedscope_take_weight(struct speedscope *s, const struct json_value *v)
{
	uint32_t millionths = 0;
	int64_t weight = 0;
	int r;

	if (!json_value_split(v, speedscope_current(s)->unit->digits, &weight,
			      &millionths))
		s->info->skipped++;
	/* The integer of -0.5 is 0, which does not show the sign. */
	if (millionths && v->text.at[0] == '-')
		weight = -1;
	s->has_weights = true;
	r = number_queue_push(&s->weights, weight);
	if (!r)
		r = number_queue_push(&s->weights, millionths);
	return r ? r : speedscope_give_known(s);
}

static int speedscope_take_time(struct speedscope *s, size_t at,
				const struct json_value *v)
{
	int64_t number;

	if (!json_value_scaled(v, speedscope_current(s)->unit->digits, &number)) {
		s->info->skipped++;
		number = at == DATA_AT ? s->at : 0;
	}
	if (at == DATA_AT)
		s->event.at = number;
	else
		s->at = number;
	return 0;
}

static int speedscope_take_data(void *ctx, size_t at, const struct json_value *v)
{
	struct speedscope *s = ctx;

	if (at == DATA_PROFILE)
		return speedscope_take_profile(s, v->kind);
	if (at == DATA_STACK)
		return speedscope_take_stack(s, v->kind);
	if (at == DATA_EVENT)
		return speedscope_take_event(s, v->kind);
	if (at == DATA_TYPE) {
		s->event.type = (char)(v->text.len ? v->text.at[0] : 0);
		return 0;
	}
	if (at == DATA_FRAME || at == DATA_EVENT_FRAME)
		return speedscope_take_frame_number(s, at, v);
	return at == DATA_WEIGHT ? speedscope_take_weight(s, v)
				 : speedscope_take_time(s, at, v);
}

static int speedscope_walk(struct speedscope *s, struct foreign_word text,
			   struct err *err)
{
	const struct json_walk_paths tables = { speedscope_tables,
						COUNT_OF(speedscope_tables), s->info };
	const struct json_walk_paths data = { speedscope_data,
					      COUNT_OF(speedscope_data), s->info };
	int r = json_walk(text, &tables, speedscope_take_table, s, err);

	if (r < 0)
		return r;
	if (!s->profiles.nr)
		return err_set(err, -EBADMSG, "the file contains no profiles");
	r = json_walk(text, &data, speedscope_take_data, s, err);
	s->info->cut = r > 0;
	return r < 0 ? r : 0;
}

bool foreign_is_speedscope(const struct foreign_head *head)
{
	static const char schema[] = "speedscope.app/file-format-schema.json";

	return foreign_is_json(head) &&
	       (memmem(head->bytes, head->len, schema, sizeof(schema) - 1) ||
		(foreign_head_has_key(head, "shared") &&
		 foreign_head_has_key(head, "profiles")));
}

int foreign_read_speedscope(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			    struct foreign_info *ret_info, struct err *err)
{
	struct speedscope s = { .fn = fn, .ctx = ctx, .info = ret_info };
	int r;

	foreign_info_begin(ret_info);
	r = stack_tree_init(&s.tree);
	if (!r)
		r = speedscope_walk(&s, (struct foreign_word){ bytes, len }, err);
	(void)number_queue_explain(&s.stacks, r, err);
	(void)number_queue_explain(&s.weights, r, err);
	stack_tree_done(&s.tree);
	vec_done(&s.frames);
	vec_done(&s.profiles);
	number_queue_done(&s.stacks);
	number_queue_done(&s.weights);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}
