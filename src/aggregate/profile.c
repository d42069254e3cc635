#include "aggregate/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/quality.h"
#include "aggregate/view.h"
#include "base/err.h"
#include "base/hash.h"
#include "resolve/demangle.h"

enum {
	MAX_KEYS = KEY_ID_COUNT,
	FIRST_GROUPS = 1024,
	STEP = 64 /* samples on their way to the tally at once */
};

int profile_init(struct profile *p, const struct profile_options *options)
{
	const struct spec *spec = options->spec;

	*p = (struct profile){ .options = *options };
	if (strtab_init(&p->strings))
		return -ENOMEM;
	p->nr_keys = options->keys->keys.nr;
	for (size_t i = 0; i < p->nr_keys; i++)
		p->needs |= options->keys->keys.at[i].row->needs;
	if (spec && spec_has_images(spec))
		p->needs |= NEED_APP | NEED_IMAGE;
	if (spec && spec_columns(spec) & COLUMN_CPU)
		p->needs |= NEED_CPU;
	if (options->quality)
		p->needs |= NEED_IMAGE | NEED_FUNCTION | NEED_QUALITY;
	p->input.totals.finished = true;
	p->input.totals.target_status = -1;
	return 0;
}

void profile_done(struct profile *p)
{
	view_free(p->view);
	strtab_done(&p->strings);
	vec_done(&p->events);
	vec_done(&p->images);
	vec_done(&p->functions);
	vec_done(&p->values);
	vec_done(&p->rows);
	vec_done(&p->first_rows);
	map_done(&p->image_by);
	map_done(&p->function_by);
	free(p->group_slots);
	*p = (struct profile){ 0 };
}

unsigned int profile_columns(const struct profile *p)
{
	const unsigned int thread =
		NEED_APP | NEED_COMM | NEED_PID | NEED_TID | NEED_CGROUP | NEED_QUALITY;
	const struct spec *spec = p->options.spec;
	unsigned int columns = COLUMN_EVENT | (spec ? spec_columns(spec) : 0);

	if (p->options.periods)
		columns |= COLUMN_PERIOD;
	if (p->needs & thread)
		columns |= COLUMN_THREAD;
	if (p->needs & (NEED_IMAGE | NEED_FUNCTION | NEED_ADDRESS | NEED_QUALITY))
		columns |= COLUMN_STACK;
	if (p->needs & NEED_CPU)
		columns |= COLUMN_CPU;
	if (p->needs & NEED_TIME)
		columns |= COLUMN_TIME;
	return columns;
}

static uint64_t time_width(const struct profile *p)
{
	int at = keys_find(p->options.keys, KEY_TIME);

	return at < 0 ? 0 : p->options.keys->keys.at[at].width_ns;
}

int profile_begin(struct profile *p, const struct profile_source *source)
{
	int r = view_new(p, source, &p->view);

	if (r)
		return r;
	p->view->time_width_ns = time_width(p);
	p->view->dense.on = !p->options.periods && !(p->needs & (NEED_CPU | NEED_TIME));
	return 0;
}

/* (event, cpu, bucket) of sample i as one number; 1: the event is not asked for. */
static inline int pack_rest(const struct view *v, const struct sample_batch *b,
			    size_t i, uint64_t *ret_rest)
{
	uint32_t event = b->event[i];
	uint64_t rest = event;

	if (event >= v->nr_events || v->event_of[event] == VIEW_SKIP)
		return 1;
	if (b->cpu) {
		uint32_t cpu = b->cpu[i] < VIEW_CPU_NONE ? b->cpu[i] : VIEW_CPU_NONE;

		rest |= (uint64_t)cpu << VIEW_EVENT_BITS;
	}
	if (b->time_ns) {
		uint64_t start = v->source.start_ns;
		uint64_t bucket = b->time_ns[i] > start
					  ? (b->time_ns[i] - start) / v->time_width_ns
					  : 0;

		if (bucket > UINT32_MAX)
			return -ERANGE;
		rest |= bucket << (VIEW_EVENT_BITS + VIEW_CPU_BITS);
	}
	*ret_rest = rest;
	return 0;
}

/* The place of sample i; places are worked out at their first sample. */
static inline uint32_t sample_place(struct profile *p, struct view *v, uint32_t stack)
{
	uint32_t place = v->place_of[stack < v->nr_stacks ? stack : v->nr_stacks];

	return __builtin_expect(place == VIEW_UNSET, 0) ? view_place(p, v, stack)
							: place;
}

/* What a sample adds to the tally. */
struct counted {
	uint64_t a;
	uint64_t b;
	uint64_t period;
};

/* The cell of sample i; 1: it is not asked for. */
static inline int find_cell(struct profile *p, struct view *v,
			    const struct sample_batch *b, size_t i,
			    struct counted *ret_cell)
{
	uint32_t actor = 0;
	uint32_t place = 0;
	int r;

	if (b->thread) {
		uint32_t t = b->thread[i];

		actor = v->actor_of[t < v->nr_threads ? t : v->nr_threads];
		if (actor == VIEW_SKIP)
			return 1;
	}
	r = pack_rest(v, b, i, &ret_cell->b);
	if (r)
		return r;
	if (b->stack) {
		place = sample_place(p, v, b->stack[i]);
		if (place == VIEW_UNSET)
			return -ENOMEM;
	}
	ret_cell->a = (uint64_t)actor << 32 | place;
	ret_cell->period = b->period ? b->period[i] : 0;
	return 0;
}

/* Counts in plain arrays.  0, 1 if the cell has to go to the tally, or -ENOMEM. */
static inline int count_dense(struct view *v, const struct counted *cell)
{
	struct dense *d = &v->dense;
	size_t row = (cell->a >> 32) << DENSE_EVENT_BITS | cell->b;
	uint32_t place = (uint32_t)cell->a;

	if (!d->on || cell->b >> DENSE_EVENT_BITS)
		return 1;
	if (row >= d->nr_rows || !d->rows[row] || place >= d->nr_places) {
		int r = dense_extend(d, &v->tally, row, place);

		if (r)
			return r;
	}
	/* A count that is full moves on. */
	if (++d->rows[row][place])
		return 0;
	return tally_add_many(&v->tally, cell->a, cell->b, (uint64_t)UINT32_MAX + 1);
}

/* Samples go by in steps: first the cells of a step are found and asked for, then counted,
 * so that the waits for memory overlap. */
static int count_batch(struct profile *p, struct view *v, const struct sample_batch *b)
{
	struct counted cells[STEP];

	for (size_t from = 0; from < b->nr; from += STEP) {
		size_t to = b->nr - from < STEP ? b->nr : from + STEP;
		size_t nr = 0;

		for (size_t i = from; i < to; i++) {
			int r = find_cell(p, v, b, i, &cells[nr]);

			if (!r && !v->dense.on)
				tally_prefetch(&v->tally, cells[nr].a, cells[nr].b);
			if (r < 0)
				return r;
			nr += !r;
		}
		for (size_t i = 0; i < nr; i++) {
			int r = count_dense(v, &cells[i]);

			if (r > 0)
				r = tally_add(&v->tally, cells[i].a, cells[i].b,
					      cells[i].period);
			if (r)
				return r;
		}
	}
	return 0;
}

int profile_add(struct profile *p, const struct sample_batch *batch, struct err *err)
{
	struct sample_batch b = *batch;
	unsigned int columns = profile_columns(p);
	int r;

	/* A source may offer more than was asked for. */
	if (!(columns & COLUMN_THREAD))
		b.thread = NULL;
	if (!(columns & COLUMN_STACK))
		b.stack = NULL;
	if (!(columns & COLUMN_PERIOD))
		b.period = NULL;
	if (!(columns & COLUMN_CPU))
		b.cpu = NULL;
	if (!(columns & COLUMN_TIME))
		b.time_ns = NULL;
	p->input.samples_read += b.nr;
	r = view_extend(p, p->view);
	if (!r)
		r = count_batch(p, p->view, &b);
	if (r == -ERANGE)
		return err_set(err, r,
			       "--by time: the width is too small for a session of "
			       "this length");
	return r ? err_set(err, r, "out of memory") : 0;
}

/* The row of an event in a group, new or old; DICT_NONE when memory is short. */
static uint32_t add_row(struct profile *p, uint32_t group, uint32_t event)
{
	struct profile_row row = { .group = group, .event = event };
	uint32_t at;

	while (p->first_rows.nr <= group) {
		if (!vec_push(&p->first_rows, DICT_NONE))
			return DICT_NONE;
	}
	for (at = p->first_rows.at[group]; at != DICT_NONE; at = p->rows.at[at].next) {
		if (p->rows.at[at].event == event)
			return at;
	}
	row.next = p->first_rows.at[group];
	if (!vec_push(&p->rows, row))
		return DICT_NONE;
	p->first_rows.at[group] = (uint32_t)p->rows.nr - 1;
	return p->first_rows.at[group];
}

/* Where the group with these values is, or an empty slot. */
static struct group_slot *find_group(const struct profile *p, uint32_t hash,
				     const uint64_t *values)
{
	size_t bytes = p->nr_keys * sizeof(*values);
	size_t i = hash & (p->nr_group_slots - 1);

	for (;; i = (i + 1) & (p->nr_group_slots - 1)) {
		struct group_slot *slot = &p->group_slots[i];

		if (!slot->group_plus_1)
			return slot;
		if (slot->hash == hash &&
		    !memcmp(&p->values.at[(slot->group_plus_1 - 1) * p->nr_keys],
			    values, bytes))
			return slot;
	}
}

/* At most half full. */
static int grow_groups(struct profile *p)
{
	size_t nr = p->nr_group_slots ? p->nr_group_slots * 2 : FIRST_GROUPS;
	struct group_slot *grown = calloc(nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_group_slots; i++) {
		const struct group_slot *old = &p->group_slots[i];
		size_t at = old->hash & (nr - 1);

		if (!old->group_plus_1)
			continue;
		while (grown[at].group_plus_1)
			at = (at + 1) & (nr - 1);
		grown[at] = *old;
	}
	free(p->group_slots);
	p->group_slots = grown;
	p->nr_group_slots = nr;
	return 0;
}

/* The group with these values, new or old; DICT_NONE when memory is short. */
static uint32_t add_group(struct profile *p, const uint64_t *values)
{
	uint32_t hash = (uint32_t)hash_bytes(values, p->nr_keys * sizeof(*values), 0);
	struct group_slot *slot;

	if ((p->nr_groups + 1) * 2 > p->nr_group_slots && grow_groups(p))
		return DICT_NONE;
	slot = find_group(p, hash, values);
	if (slot->group_plus_1)
		return slot->group_plus_1 - 1;
	for (size_t k = 0; k < p->nr_keys; k++) {
		if (!vec_push(&p->values, values[k]))
			return DICT_NONE;
	}
	slot->hash = hash;
	slot->group_plus_1 = (uint32_t)++p->nr_groups;
	return slot->group_plus_1 - 1;
}

/* What one tally cell stands for. */
struct cell_view {
	const struct actor *actor;
	const struct place *place;
	uint32_t event; /* of the profile */
	uint32_t cpu;
	uint64_t bucket;
	bool top; /* the image stands at the top level */
};

static uint32_t image_text(struct profile *p, struct view *v, uint32_t image)
{
	static const struct image damaged = { .kind = IMAGE_LOST };
	const struct dict *d = v->source.dict;
	uint32_t *text = &v->text_of[image < d->images.nr ? image : v->nr_texts];

	if (*text != VIEW_UNSET)
		return *text;
	buf_clear(&v->text);
	image_name_put(&v->text, d,
		       image < d->images.nr ? &d->images.at[image] : &damaged,
		       p->options.names, v->source.info->vmlinux);
	if (!v->text.failed)
		*text = strtab_add(&p->strings, (const char *)v->text.data);
	return *text; /* VIEW_UNSET is STRTAB_FAILED, too */
}

/* A process whose main binary is not known stands under the image that was hit. */
static uint32_t app_text(struct profile *p, struct view *v, const struct cell_view *c)
{
	if (c->top)
		return image_text(p, v, c->place->image);
	if (c->actor->flags & ACTOR_KERNEL)
		return strtab_add(
			&p->strings,
			image_name_kernel(p->options.names, v->source.info->vmlinux));
	if (c->actor->app >= v->source.dict->images.nr)
		return image_text(p, v, c->place->image);
	return image_text(p, v, c->actor->app);
}

static uint64_t symbol_value(struct profile *p, uint32_t function)
{
	if (p->options.functions_apart)
		return function;
	if (!profile_function_name(p, function))
		return STRTAB_FAILED;
	return p->functions.at[function].shown;
}

static uint64_t key_value(struct profile *p, struct view *v, const struct cell_view *c,
			  const struct key *key)
{
	const struct dict *d = v->source.dict;

	switch (key->row->id) {
	case KEY_COMM:
		return strtab_add(&p->strings, dict_str(d, c->actor->comm));
	case KEY_PID:
		return (uint64_t)(int64_t)c->actor->pid;
	case KEY_TID:
		return (uint64_t)(int64_t)c->actor->tid;
	case KEY_CPU:
		return c->cpu == VIEW_CPU_NONE ? UINT64_MAX : c->cpu;
	case KEY_IMAGE:
		return image_text(p, v, c->place->image);
	case KEY_APP:
		return app_text(p, v, c);
	case KEY_SYMBOL:
		return symbol_value(p, c->place->function);
	case KEY_ADDRESS:
		return c->place->address;
	case KEY_CGROUP:
		return strtab_add(&p->strings, dict_str(d, c->actor->cgroup));
	case KEY_SESSION:
		return strtab_add(&p->strings, v->source.session);
	case KEY_HOST:
		return strtab_add(&p->strings, v->source.info->hostname);
	case KEY_TIME:
		return c->bucket * key->width_ns;
	case KEY_EVENT: /* the row's, not the group's */
	case KEY_ID_COUNT:
	default:
		return 0;
	}
}

/* 1: the specification asks for the cell; 0: it does not; or -ENOMEM. */
static int cell_wanted(struct view *v, struct cell_view *c)
{
	if (!selection_wants_cpu(&v->selection,
				 c->cpu == VIEW_CPU_NONE ? -1 : (int64_t)c->cpu))
		return 0;
	return selection_wants_image(&v->selection, c->actor->app,
				     c->actor->flags & ACTOR_KERNEL, c->place->image,
				     &c->top);
}

/* Adds the counts of one cell to the group that it belongs to. */
static int add_cell(struct profile *p, struct view *v, const struct tally_cell *cell)
{
	static const struct actor nobody = { .app = DICT_NONE };
	static const struct place nowhere = { .image = DICT_NONE,
					      .function = DICT_NONE };
	uint32_t actor = (uint32_t)(cell->a >> 32);
	uint32_t place = (uint32_t)cell->a;
	uint64_t values[MAX_KEYS] = { 0 };
	struct cell_view c = {
		.actor = actor < v->actors.nr ? &v->actors.at[actor] : &nobody,
		.place = place < v->places.nr ? &v->places.at[place] : &nowhere,
		.event = v->event_of[cell->b & VIEW_EVENT_NONE],
		.cpu = (uint32_t)(cell->b >> VIEW_EVENT_BITS) & VIEW_CPU_NONE,
		.bucket = cell->b >> (VIEW_EVENT_BITS + VIEW_CPU_BITS),
	};
	uint32_t group;
	uint32_t row;
	int wanted = cell_wanted(v, &c);

	if (wanted <= 0)
		return wanted;
	for (size_t k = 0; k < p->nr_keys; k++) {
		const struct key *key = &p->options.keys->keys.at[k];

		values[k] = key_value(p, v, &c, key);
		if (key->row->kind == KEY_TEXT && values[k] == STRTAB_FAILED)
			return -ENOMEM;
	}
	group = add_group(p, values);
	row = group == DICT_NONE ? DICT_NONE : add_row(p, group, c.event);
	if (row == DICT_NONE)
		return -ENOMEM;
	p->rows.at[row].samples += cell->samples;
	p->rows.at[row].period += cell->period;
	p->events.at[c.event].samples += cell->samples;
	p->events.at[c.event].period += cell->period;
	p->samples += cell->samples;
	if (p->options.quality)
		quality_add(p, c.actor, c.place, c.event, cell->samples);
	return 0;
}

int profile_end(struct profile *p)
{
	struct view *v = p->view;
	int r;

	if (!v)
		return 0;
	r = dense_flush(&v->dense, &v->tally);
	for (size_t i = 0; !r && i < v->tally.nr_cells; i++) {
		if (v->tally.cells[i].samples)
			r = add_cell(p, v, &v->tally.cells[i]);
	}
	view_free(v);
	p->view = NULL;
	return r;
}

static int compare_events(const struct profile *p, const struct profile_event *a,
			  const struct profile_event *b)
{
	int names;

	if (a->unit_mask != b->unit_mask)
		return a->unit_mask < b->unit_mask ? -1 : 1;
	names = strcmp(strtab_get(&p->strings, a->name),
		       strtab_get(&p->strings, b->name));
	if (names)
		return names;
	return a->count < b->count ? -1 : a->count > b->count;
}

void profile_finish(struct profile *p)
{
	/* Events are a handful: the rank is how many come before. */
	for (size_t i = 0; i < p->events.nr; i++) {
		struct profile_event *e = &p->events.at[i];

		e->rank = 0;
		for (size_t j = 0; j < p->events.nr; j++)
			e->rank += compare_events(p, &p->events.at[j], e) < 0;
	}
}

uint64_t profile_value(const struct profile *p, uint32_t group, size_t key)
{
	return p->values.at[group * p->nr_keys + key];
}

const char *profile_function_name(struct profile *p, uint32_t function)
{
	struct profile_function *f = &p->functions.at[function];
	const char *raw = strtab_get(&p->strings, f->raw);
	char *demangled;

	if (f->shown != DICT_NONE)
		return strtab_get(&p->strings, f->shown);
	demangled = f->kind == FUNCTION_NAMED ? demangle(raw) : NULL;
	f->shown = demangled ? strtab_add(&p->strings, demangled) : f->raw;
	free(demangled);
	return f->shown == STRTAB_FAILED ? NULL : strtab_get(&p->strings, f->shown);
}

const char *profile_text(struct profile *p, uint32_t group, size_t key)
{
	uint64_t value = profile_value(p, group, key);
	const char *text;

	if (p->options.keys->keys.at[key].row->id != KEY_SYMBOL ||
	    !p->options.functions_apart)
		return strtab_get(&p->strings, (uint32_t)value);
	text = profile_function_name(p, (uint32_t)value);
	return text ? text : "";
}

const char *profile_event_name(const struct profile *p, uint32_t event)
{
	return strtab_get(&p->strings, p->events.at[event].name);
}
