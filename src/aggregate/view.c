#include "aggregate/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/huge.h"

enum {
	FIRST_ROOM = 16
};

static const uint64_t vma_unknown = UINT64_MAX;

const char *view_vmlinux(const struct profile *p, const struct view *v)
{
	return p->options.vmlinux ? p->options.vmlinux : v->source.info->vmlinux;
}

int view_new(const struct profile *p, const struct profile_source *source,
	     struct view **ret_view)
{
	const struct session_span span = { source->start_ns, source->first_ns,
					   source->last_ns };
	struct view *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->source = *source;
	selection_init(&v->selection, p->options.spec, source->dict,
		       view_vmlinux(p, v));
	if (tally_init(&v->tally) || selection_set_times(&v->selection, &span)) {
		tally_done(&v->tally);
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
	free(v->place_of);
	free(v->function_of);
	free(v->event_of);
	free(v->image_of);
	free(v->text_of);
	free(v->truncated);
	free(v->noted);
	for (size_t i = 0; i < v->nr_places_of; i++)
		free(v->places_of[i].places);
	free(v->places_of);
	vec_done(&v->actors);
	vec_done(&v->places);
	map_done(&v->actor_by);
	map_done(&v->place_by);
	dense_done(&v->dense);
	tally_done(&v->tally);
	selection_done(&v->selection);
	buf_done(&v->text);
	free(v);
}

/* An array of `nr` numbers and one more for "unknown" has room for so many: it grows with
 * its dict, chunk by chunk, and is not to be moved each time. */
static size_t room_for(size_t nr)
{
	size_t room = FIRST_ROOM;

	while (room <= nr)
		room *= 2;
	return room;
}

/* Grows an array of numbers to `nr` and one more; new ones are unset. */
static int grow_numbers(uint32_t **numbers, size_t *nr_old, size_t nr)
{
	uint32_t *grown = *numbers;
	size_t room = room_for(nr);

	if (grown && nr == *nr_old)
		return 0;
	if (!grown || room != room_for(*nr_old))
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

	for (uint64_t turn = 0;; turn++) {
		bool is_new;
		struct map_slot *slot = map_at(&v->actor_by, hash, turn, &is_new);

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

/* VIEW_SKIP if the specification does not want the thread. */
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
		a.pid = t->pid;
	if (p->needs & NEED_TID)
		a.tid = t->tid;
	if (p->needs & NEED_QUALITY) {
		if (t->pid == 0 && t->tid == 0)
			a.flags |= ACTOR_IDLE;
		if (t->pid == -1 || t->flags & THREAD_EXITING)
			a.flags |= ACTOR_EXITING;
	}
	return intern_actor(v, &a);
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

/* The profile's number of an event, new or known from an earlier segment. */
static uint32_t intern_event(struct profile *p, const char *name, const struct dict *d,
			     const struct event_desc *desc)
{
	struct profile_event e = {
		.name = strtab_add(&p->strings, name),
		.about = strtab_add(&p->strings, dict_str(d, desc->about)),
		.count = desc->count,
		.frequency_hz = desc->frequency_hz,
		.unit_mask = desc->unit_mask,
		.flags = desc->flags,
	};

	if (e.name == STRTAB_FAILED || e.about == STRTAB_FAILED)
		return VIEW_UNSET;
	for (uint32_t i = 0; i < p->events.nr; i++) {
		const struct profile_event *old = &p->events.at[i];

		if (old->name == e.name && old->count == e.count &&
		    old->unit_mask == e.unit_mask)
			return i;
	}
	if (!vec_push(&p->events, e))
		return VIEW_UNSET;
	return (uint32_t)p->events.nr - 1;
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
		const char *name = dict_str(d, desc->name);

		/* Numbers that do not fit in a tally cell do not come from a recorder. */
		if (i >= VIEW_EVENT_NONE || !selection_wants_event(&v->selection, desc))
			v->event_of[i] = VIEW_SKIP;
		else
			v->event_of[i] = intern_event(p, name, d, desc);
		if (v->event_of[i] == VIEW_UNSET)
			return -ENOMEM;
	}
	return 0;
}

/* A stack is cut short if its root is STACK_TRUNCATED; callers come before callees. */
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

	if (v->place_of && nr == v->nr_stacks)
		return 0;
	if (p->needs & NEED_QUALITY && extend_truncated(v, v->nr_stacks, nr))
		return -ENOMEM;
	return grow_numbers(&v->place_of, &v->nr_stacks, nr);
}

/* Whether all samples of a symbol have one place: where neither addresses nor callers
 * matter. */
static bool one_place_a_symbol(const struct profile *p)
{
	return p->needs & NEED_FUNCTION && !(p->needs & (NEED_ADDRESS | NEED_QUALITY));
}

/* Where a symbol leads to the place at once, functions need not be kept by frame. */
static int extend_frames(const struct profile *p, struct view *v)
{
	if (!(p->needs & NEED_FUNCTION) || one_place_a_symbol(p))
		return 0;
	return grow_numbers(&v->function_of, &v->nr_frames, v->source.dict->frames.nr);
}

static int extend_images(struct view *v)
{
	size_t nr = v->source.dict->images.nr;
	size_t from = v->nr_images;
	struct symbol_places *places;
	uint8_t *grown;

	if (v->image_of && nr == from)
		return 0;
	grown = realloc(v->noted, nr + 1);
	if (!grown)
		return -ENOMEM;
	v->noted = grown;
	memset(grown + from, 0, nr + 1 - from);
	places = realloc(v->places_of, (nr + 1) * sizeof(*places));
	if (!places)
		return -ENOMEM;
	v->places_of = places;
	memset(places + v->nr_places_of, 0,
	       (nr + 1 - v->nr_places_of) * sizeof(*places));
	v->nr_places_of = nr + 1;
	if (grow_numbers(&v->text_of, &v->nr_texts, nr))
		return -ENOMEM;
	return grow_numbers(&v->image_of, &v->nr_images, nr);
}

int view_extend(struct profile *p, struct view *v)
{
	if (extend_threads(p, v) || extend_events(p, v) || extend_stacks(p, v) ||
	    extend_frames(p, v) || extend_images(v))
		return -ENOMEM;
	return 0;
}

static uint32_t add_string(struct profile *p, struct view *v)
{
	if (v->text.failed)
		return STRTAB_FAILED;
	return strtab_add(&p->strings, (const char *)v->text.data);
}

/* The profile's number of an image: images are one if name and build-id agree. */
static uint32_t profile_image_of(struct profile *p, struct view *v, uint32_t image)
{
	static const struct image damaged = { .kind = IMAGE_LOST };
	const struct dict *d = v->source.dict;
	const struct image *from =
		image < d->images.nr ? &d->images.at[image] : &damaged;
	size_t at = image < d->images.nr ? image : v->nr_images;
	struct profile_image made = { .kind = from->kind, .build_id = from->build_id };
	struct map_slot *slot;
	bool is_new;

	if (v->image_of[at] != VIEW_UNSET)
		return v->image_of[at];
	buf_clear(&v->text);
	image_name_put(&v->text, d, from, NAMES_OPROFILE, view_vmlinux(p, v));
	made.name = add_string(p, v);
	made.from = strtab_add(&p->strings, "");
	if (made.name == STRTAB_FAILED || made.from == STRTAB_FAILED)
		return VIEW_UNSET;
	slot = map_at(&p->image_by, made.name,
		      hash_bytes(from->build_id.bytes, from->build_id.len, 0), &is_new);
	if (!slot)
		return VIEW_UNSET;
	if (is_new) {
		if (!vec_push(&p->images, made))
			return VIEW_UNSET;
		slot->value_plus_1 = (uint32_t)p->images.nr;
	}
	v->image_of[at] = slot->value_plus_1 - 1;
	return v->image_of[at];
}

static bool function_has_vma(enum function_kind kind)
{
	return kind == FUNCTION_NAMED || kind == FUNCTION_UNNAMED;
}

/* The function's number; its name is looked at only if it is new. */
static uint32_t intern_function(struct profile *p, struct profile_function f,
				const char *raw)
{
	struct map_slot *slot;
	bool is_new;

	slot = map_at(&p->function_by, (uint64_t)f.image << 2 | f.kind,
		      function_has_vma(f.kind) ? f.vma : vma_unknown, &is_new);
	if (!slot)
		return VIEW_UNSET;
	if (is_new) {
		f.raw = strtab_add(&p->strings, raw);
		/* A slot without a function behind it is not met again: the error ends
		 * the profile. */
		if (f.raw == STRTAB_FAILED || !vec_push(&p->functions, f))
			return VIEW_UNSET;
		slot->value_plus_1 = (uint32_t)p->functions.nr;
	}
	return slot->value_plus_1 - 1;
}

/* Loads the image's symbols at its first frame, and notes how that went. */
static const struct symtab *image_symbols(struct profile *p, struct view *v,
					  uint32_t image, uint32_t number)
{
	struct profile_image *at = &p->images.at[number];
	bool known = image < v->source.dict->images.nr && v->source.naming;
	const struct symtab *tab =
		known ? naming_symtab(v->source.naming, image) : NULL;
	const char *from = "";

	if (v->noted[image < v->nr_images ? image : v->nr_images])
		return tab;
	v->noted[image < v->nr_images ? image : v->nr_images] = 1;
	at->status = known ? naming_status(v->source.naming, image, &from)
			   : NAMING_NONE_EXPECTED;
	at->from = strtab_add(&p->strings, from);
	return tab;
}

/* The function at (image, offset). */
static uint32_t name_function(struct profile *p, struct view *v, uint32_t image,
			      uint64_t offset)
{
	uint32_t number = profile_image_of(p, v, image);
	struct profile_function f = { .image = number, .shown = DICT_NONE };
	const struct symtab *tab;
	const struct symbol *symbol;
	enum naming_kind kind;

	if (number == VIEW_UNSET)
		return VIEW_UNSET;
	tab = image_symbols(p, v, image, number);
	symbol = tab ? symtab_find(tab, offset) : NULL;
	if (symbol) {
		f.vma = symbol->vaddr.v;
		return intern_function(p, f, symbol->name);
	}
	symbol = tab ? naming_find(v->source.naming, image, offset, &kind) : NULL;
	if (symbol) {
		f.kind = kind == NAMING_SYMBOL ? FUNCTION_NAMED : FUNCTION_UNNAMED;
		f.vma = symbol->vaddr.v;
		return intern_function(p, f, symbol->name);
	}
	if (tab && symtab_count(tab)) {
		f.kind = FUNCTION_BETWEEN;
		return intern_function(p, f, "(no symbols)");
	}
	f.kind = FUNCTION_OF_IMAGE;
	return intern_function(p, f,
			       strtab_get(&p->strings, p->images.at[number].name));
}

static uint32_t intern_place(struct view *v, const struct place *place)
{
	/* Fewer than 2^31 images fit in any file, so the top bit is free. */
	uint32_t image = (place->image + 1) & 0x7fffffff;
	uint64_t what = (uint64_t)(image | (uint32_t)place->truncated << 31) << 32 |
			place->function;
	struct map_slot *slot;
	bool is_new;

	slot = map_at(&v->place_by, what, place->address, &is_new);
	if (!slot)
		return VIEW_UNSET;
	if (is_new) {
		if (!vec_push(&v->places, *place))
			return VIEW_UNSET;
		slot->value_plus_1 = (uint32_t)v->places.nr;
	}
	return slot->value_plus_1 - 1;
}

static uint64_t place_address(const struct view *v, const struct frame *f)
{
	const struct dict *d = v->source.dict;
	const struct symtab *tab = NULL;
	const struct image *image;

	if (f->image >= d->images.nr)
		return f->offset;
	image = &d->images.at[f->image];
	if (v->source.naming)
		tab = naming_symtab(v->source.naming, f->image);
	if (tab)
		return symtab_vaddr(tab, f->offset).v;
	return image->kind == IMAGE_ANON || image_is_kernel(image)
		       ? image->start + f->offset
		       : f->offset;
}

/* The entry for the place of a symbol's samples: they all have the same where neither
 * addresses nor callers matter.  NULL if they do, there is no symbol, or no memory. */
static uint32_t *symbol_place(const struct profile *p, struct view *v,
			      const struct frame *f)
{
	struct symbol_places *places;
	const struct symbol *symbol;
	size_t nr;

	if (!one_place_a_symbol(p) || f->image >= v->nr_images || !v->source.naming)
		return NULL;
	places = &v->places_of[f->image];
	if (!places->places) {
		places->tab = naming_symtab(v->source.naming, f->image);
		nr = places->tab ? symtab_count(places->tab) : 0;
		if (!nr)
			return NULL;
		places->places = malloc(nr * sizeof(*places->places));
		if (!places->places)
			return NULL;
		memset(places->places, 0xff, nr * sizeof(*places->places));
		places->symbols = symtab_at(places->tab, 0);
	}
	symbol = symtab_find(places->tab, f->offset);
	return symbol ? &places->places[symbol - places->symbols] : NULL;
}

/* The function of frame `at`, which is `f`; kept by frame where that is asked again. */
static uint32_t frame_function(struct profile *p, struct view *v, uint32_t at,
			       const struct frame *f)
{
	uint32_t *known;

	if (!v->function_of)
		return name_function(p, v, f->image, f->offset);
	known = &v->function_of[at < v->nr_frames ? at : v->nr_frames];
	if (*known == VIEW_UNSET)
		*known = name_function(p, v, f->image, f->offset);
	return *known;
}

/* The frame of a stack and its number; a damaged one has none. */
static uint32_t leaf_of(const struct view *v, uint32_t stack)
{
	const struct dict *d = v->source.dict;
	uint32_t at = stack < d->stacks.nr ? d->stacks.at[stack].frame : DICT_NONE;

	return at < d->frames.nr ? at : DICT_NONE;
}

static const struct frame *frame_at(const struct view *v, uint32_t at)
{
	static const struct frame lost = { .image = DICT_NONE };

	return at == DICT_NONE ? &lost : &v->source.dict->frames.at[at];
}

/* What asks for symbols: function and address of frame `at`.  0 or -ENOMEM. */
static int name_place(struct profile *p, struct view *v, uint32_t at,
		      struct place *place)
{
	const struct frame *f = frame_at(v, at);

	if (p->needs & NEED_FUNCTION) {
		place->function = frame_function(p, v, at, f);
		if (place->function == VIEW_UNSET)
			return -ENOMEM;
	}
	place->address = p->needs & NEED_ADDRESS ? place_address(v, f) : 0;
	return 0;
}

/* The place of frame `at`; VIEW_UNSET when memory is short. */
static uint32_t make_place(struct profile *p, struct view *v, uint32_t at,
			   bool truncated)
{
	struct place place = { .image = frame_at(v, at)->image,
			       .function = DICT_NONE,
			       .truncated = truncated };

	if (place.image >= v->source.dict->images.nr)
		place.image = DICT_NONE;
	place.late = v->source.names_late ||
		     (v->fetch && naming_is_deferred(v->source.naming, place.image));
	if (place.late)
		place.address = at;
	else if (name_place(p, v, at, &place))
		return VIEW_UNSET;
	return intern_place(v, &place);
}

uint32_t view_place(struct profile *p, struct view *v, uint32_t stack)
{
	size_t slot = stack < v->nr_stacks ? stack : v->nr_stacks;
	uint32_t at = leaf_of(v, stack);
	uint32_t *known = NULL;

	if (!v->source.names_late)
		known = symbol_place(p, v, frame_at(v, at));
	if (known && *known != VIEW_UNSET)
		v->place_of[slot] = *known;
	else
		v->place_of[slot] = make_place(
			p, v, at, p->needs & NEED_QUALITY && v->truncated[slot]);
	if (known)
		*known = v->place_of[slot];
	return v->place_of[slot];
}

int view_name_places(struct profile *p, struct view *v)
{
	for (size_t i = 0; i < v->places.nr; i++) {
		struct place *place = &v->places.at[i];

		if (place->late && name_place(p, v, (uint32_t)place->address, place))
			return -ENOMEM;
	}
	return 0;
}
