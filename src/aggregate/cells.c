#include "aggregate/cells.h"

#include <errno.h>

#include "aggregate/groups.h"
#include "aggregate/quality.h"
#include "aggregate/view.h"

enum {
	MAX_KEYS = KEY_ID_COUNT
};

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
		       p->options.names, view_vmlinux(p, v));
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
		return strtab_add(&p->strings, image_name_kernel(p->options.names,
								 view_vmlinux(p, v)));
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

static const char *origin_of(const struct dict *d, uint32_t image)
{
	static const struct image damaged = { .kind = IMAGE_LOST };

	return image_origin(image < d->images.nr ? &d->images.at[image] : &damaged);
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
		return p->options.merge_images ? image_text(p, v, c->place->image)
					       : app_text(p, v, c);
	case KEY_SYMBOL:
		return symbol_value(p, c->place->function);
	case KEY_ORIGIN:
		return strtab_add(&p->strings, origin_of(d, c->place->image));
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

static bool function_wanted(struct profile *p, uint32_t function)
{
	struct profile_function *f;

	if (function >= p->functions.nr ||
	    !symbol_filter_filters(p->options.symbols, p->options.spec))
		return true;
	f = &p->functions.at[function];
	if (f->wanted == WANTED_UNKNOWN)
		f->wanted = symbol_filter_wants(p->options.symbols, p->options.spec,
						strtab_get(&p->strings, f->raw))
				    ? WANTED
				    : WANTED_NOT;
	return f->wanted == WANTED;
}

/* 1: it is in the application itself, or dependent images are asked for, too; 0 or
 * -ENOMEM. */
static int app_wanted(struct profile *p, struct view *v, const struct cell_view *c)
{
	uint32_t app;
	uint32_t image;

	if (!p->options.exclude_dependent)
		return 1;
	app = app_text(p, v, c);
	image = image_text(p, v, c->place->image);
	if (app == STRTAB_FAILED || image == STRTAB_FAILED)
		return -ENOMEM;
	return app == image;
}

/* 1: the specification asks for the cell; 0: it does not; or -ENOMEM. */
static int cell_wanted(struct profile *p, struct view *v, struct cell_view *c)
{
	int wanted;

	wanted = selection_wants_image(&v->selection, c->actor->app,
				       c->actor->flags & ACTOR_KERNEL, c->place->image,
				       &c->top);
	if (wanted <= 0)
		return wanted;
	if (!function_wanted(p, c->place->function))
		return 0;
	return app_wanted(p, v, c);
}

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
	uint32_t row;
	int wanted = cell_wanted(p, v, &c);

	if (wanted <= 0)
		return wanted;
	for (size_t k = 0; k < p->nr_keys; k++) {
		const struct key *key = &p->options.keys->keys.at[k];

		values[k] = key_value(p, v, &c, key);
		if (key->row->kind == KEY_TEXT && values[k] == STRTAB_FAILED)
			return -ENOMEM;
	}
	row = groups_row(p, values, c.event);
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

static int add_dense_row(struct profile *p, struct view *v, size_t number)
{
	const struct dense *d = &v->dense;
	const dense_count *counts = d->rows[number];
	uint64_t actor = number >> DENSE_EVENT_BITS;
	struct tally_cell cell = { .b = number & ((1 << DENSE_EVENT_BITS) - 1) };

	for (size_t place = 0; place < d->nr_places; place++) {
		int r;

		if (!counts[place])
			continue;
		cell.a = actor << 32 | place;
		cell.samples = counts[place];
		r = add_cell(p, v, &cell);
		if (r)
			return r;
	}
	return 0;
}

int cells_add_all(struct profile *p, struct view *v)
{
	int r = 0;

	for (size_t i = 0; !r && i < v->dense.nr_rows; i++) {
		if (v->dense.rows[i])
			r = add_dense_row(p, v, i);
	}
	for (size_t i = 0; !r && i < v->tally.nr_cells; i++) {
		if (v->tally.cells[i].samples)
			r = add_cell(p, v, &v->tally.cells[i]);
	}
	return r;
}
