/* SPDX-License-Identifier: GPL-2.0-or-later */
/* positions.c - converts stacks to positions: image, function and address of the leaf. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/views/call_inlines.h"
#include "aggregate/views/view.h"
#include "base/containers/hash.h"
#include "base/containers/sort_keys.h"

static const uint64_t vma_unknown = UINT64_MAX;

bool view_one_position_a_symbol(const struct profile *p)
{
	return p->needs & NEED_FUNCTION &&
	       !(p->needs & (NEED_ADDRESS | NEED_QUALITY | NEED_STACK));
}

static uint32_t add_string(struct profile *p, struct view *v)
{
	if (v->text.failed)
		return STRTAB_FAILED;
	return strtab_add(&p->strings, (const char *)v->text.data);
}

/* Returns the profile's number of an image.  Images with the same name and build-id share a
 * number. */
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
	made.foreign = v->source.naming && naming_is_foreign(v->source.naming);
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

/* Returns the value that identifies a function in its image: its address, or for JIT code, which
 * can be moved or recompiled, a hash of its name. */
static uint64_t function_identity(const struct profile *p,
				  const struct profile_function *f, const char *raw)
{
	if (f->kind != FUNCTION_INLINED && !function_has_vma(f->kind))
		return vma_unknown;
	return f->kind == FUNCTION_INLINED || p->images.at[f->image].kind == IMAGE_JIT
		       ? hash_bytes(raw, strlen(raw), 0)
		       : f->vma;
}

/* Returns the function's number; stores the name only if it is new. */
static uint32_t intern_function(struct profile *p, struct profile_function f,
				const char *raw)
{
	struct map_slot *slot;
	bool is_new;

	slot = map_at(&p->function_by, (uint64_t)f.image << 3 | f.kind,
		      function_identity(p, &f, raw), &is_new);
	if (!slot)
		return VIEW_UNSET;
	if (is_new) {
		f.raw = strtab_add(&p->strings, raw);
		/* A slot without a function is not used again: the error ends the profile. */
		if (f.raw == STRTAB_FAILED || !vec_push(&p->functions, f))
			return VIEW_UNSET;
		slot->value_plus_1 = (uint32_t)p->functions.nr;
	}
	return slot->value_plus_1 - 1;
}

/* Loads the image's symbols at its first frame, and records the result. */
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

/* Matches a new function against the functions that the report selects, by all its names. */
static void want_function(struct profile *p, uint32_t function,
			  const struct symtab *tab, const struct symbol *symbol)
{
	const struct symbol_filter *filter = p->options.symbols;
	struct profile_function *f;

	if (function >= p->functions.nr ||
	    !symbol_filter_filters(filter, p->options.spec))
		return;
	f = &p->functions.at[function];
	if (f->wanted == WANTED_UNKNOWN)
		f->wanted =
			symbol_filter_wants_symbol(filter, p->options.spec, tab, symbol)
				? WANTED
				: WANTED_NOT;
}

/* Returns whether the image's symbols are those of a separate file, whose sections are empty. */
static bool positions_have_debug_file(const struct view *v, uint32_t image)
{
	const char *from;
	const char *name =
		dict_str(v->source.dict, v->source.dict->images.at[image].name);
	size_t name_len = strlen(name), len;

	(void)naming_status(v->source.naming, image, &from);
	len = strlen(from);
	return len < name_len || strcmp(from + len - name_len, name) != 0;
}

/* Returns the function at (image, offset). */
static uint32_t name_function(struct profile *p, struct view *v, uint32_t image,
			      uint64_t offset)
{
	uint32_t number = profile_image_of(p, v, image);
	struct profile_function f = { .image = number,
				      .shown = DICT_NONE,
				      .line = DICT_NONE };
	const struct symtab *tab;
	const struct symbol *symbol;
	enum naming_kind kind = NAMING_SYMBOL;
	bool folded;

	if (number == VIEW_UNSET)
		return VIEW_UNSET;
	tab = image_symbols(p, v, image, number);
	symbol = tab ? symtab_find(tab, offset) : NULL;
	if (symbol && symbol == v->last.symbol && number == v->last.image)
		return v->last.function;
	if (symbol) {
		f.vma = symbol->vaddr.v;
		v->last = (struct named_symbol){ symbol, number,
						 intern_function(p, f, symbol->name) };
		want_function(p, v->last.function, tab, symbol);
		return v->last.function;
	}
	symbol = tab ? naming_find(v->source.naming, image, offset, &kind) : NULL;
	/* In OProfile, the symbols of an image have no gaps, and a section without symbols becomes
	 * a symbol. */
	if (symbol && v->weighted && symtab_count(tab) &&
	    (kind != NAMING_SECTION || positions_have_debug_file(v, image)))
		symbol = NULL;
	folded = symbol && kind == NAMING_FUNCTION && p->options.fold_unnamed;
	if (symbol && !folded) {
		f.kind = kind == NAMING_SYMBOL ? FUNCTION_NAMED : FUNCTION_UNNAMED;
		f.vma = symbol->vaddr.v;
		return intern_function(p, f, symbol->name);
	}
	if (tab && symtab_count(tab) && !folded) {
		f.kind = FUNCTION_BETWEEN;
		return intern_function(p, f, "(no symbols)");
	}
	f.kind = FUNCTION_OF_IMAGE;
	return intern_function(p, f,
			       strtab_get(&p->strings, p->images.at[number].name));
}

uint32_t view_function(struct profile *p, struct view *v, uint32_t image,
		       uint64_t offset)
{
	return name_function(p, v, image, offset);
}

uint32_t view_inlined(struct profile *p, struct view *v, uint32_t image,
		      const char *name)
{
	struct profile_function f = { .image = profile_image_of(p, v, image),
				      .shown = DICT_NONE,
				      .line = DICT_NONE,
				      .kind = FUNCTION_INLINED };

	return f.image == VIEW_UNSET ? VIEW_UNSET : intern_function(p, f, name);
}

static uint32_t view_positions_add_position(struct view *v,
					    const struct position *position)
{
	return vec_push(&v->positions, *position) ? (uint32_t)v->positions.nr - 1
						  : VIEW_UNSET;
}

static uint32_t intern_position(struct view *v, const struct position *position)
{
	/* Files have fewer than 2^31 images, so the top bit is free. */
	uint32_t image = (position->image + 1) & 0x7fffffff;
	uint64_t what = (uint64_t)(image | (uint32_t)position->truncated << 31) << 32 |
			position->function;
	struct map_slot *slot;
	bool is_new;

	slot = map_at(&v->position_by, what, position->address, &is_new);
	if (!slot)
		return VIEW_UNSET;
	if (is_new) {
		if (view_positions_add_position(v, position) == VIEW_UNSET)
			return VIEW_UNSET;
		slot->value_plus_1 = (uint32_t)v->positions.nr;
	}
	return slot->value_plus_1 - 1;
}

/* Returns the address of a frame.  JIT code has an address that is independent of its offset in the
 * dump. */
static uint64_t code_address(const struct symtab *tab, uint64_t offset)
{
	const struct symbol *s = symtab_find(tab, offset);

	return s ? s->vaddr.v + offset - s->offset : offset;
}

uint64_t view_address(const struct view *v, uint32_t number, uint64_t offset)
{
	const struct dict *d = v->source.dict;
	const struct symtab *tab = NULL;
	const struct image *image;

	if (number >= d->images.nr)
		return offset;
	image = &d->images.at[number];
	if (v->source.naming)
		tab = naming_symtab(v->source.naming, number);
	if (tab && image->kind == IMAGE_JIT)
		return code_address(tab, offset);
	if (tab)
		return symtab_vaddr(tab, offset).v;
	if (image->kind == IMAGE_ANON)
		return image->start + offset - image->ref_address;
	return image_is_kernel(image) ? image->start + offset : offset;
}

/* Returns the position entry of a symbol.  If neither addresses nor callers matter, all samples of
 * a symbol share it.  Returns NULL if they do matter, if there is no symbol, or if memory is
 * short. */
static uint32_t *symbol_position(const struct profile *p, struct view *v,
				 const struct frame *f)
{
	struct symbol_positions *positions;
	const struct symbol *symbol;
	size_t nr;

	if (!view_one_position_a_symbol(p) || f->image >= v->nr_images ||
	    !v->source.naming)
		return NULL;
	positions = &v->positions_of[f->image];
	if (!positions->positions) {
		positions->tab = naming_symtab(v->source.naming, f->image);
		nr = positions->tab ? symtab_count(positions->tab) : 0;
		if (!nr)
			return NULL;
		positions->positions = malloc(nr * sizeof(*positions->positions));
		if (!positions->positions)
			return NULL;
		memset(positions->positions, 0xff, nr * sizeof(*positions->positions));
		positions->symbols = symtab_at(positions->tab, 0);
	}
	symbol = symtab_find(positions->tab, f->offset);
	return symbol ? &positions->positions[symbol - positions->symbols] : NULL;
}

/* Returns the function of frame `at`, whose data is `f`.  Caches the result by frame if it can be
 * needed again. */
static uint32_t view_positions_frame_function(struct profile *p, struct view *v,
					      uint32_t at, const struct frame *f)
{
	uint32_t *known;

	if (!v->of_frame || v->late)
		return name_function(p, v, f->image, f->offset);
	known = &v->of_frame[at < v->nr_frames ? at : v->nr_frames];
	if (*known == VIEW_UNSET)
		*known = name_function(p, v, f->image, f->offset);
	return *known;
}

/* Returns the frame number of a stack; DICT_NONE if the stack is damaged. */
static uint32_t view_positions_leaf_of(const struct view *v, uint32_t stack)
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

/* Sets function and address of frame `at`, which needs the symbols.  Returns 0 or -ENOMEM. */
static int view_positions_name_position(struct profile *p, struct view *v, uint32_t at,
					struct position *position)
{
	const struct frame *f = frame_at(v, at);

	if (p->needs & NEED_FUNCTION) {
		position->function = view_positions_frame_function(p, v, at, f);
		if (position->function == VIEW_UNSET)
			return -ENOMEM;
	}
	position->address =
		p->needs & NEED_ADDRESS ? view_address(v, f->image, f->offset) : 0;
	return 0;
}

/* Returns the position of frame `at`.  Searches for an existing one unless the caller knows that it
 * is new.  VIEW_UNSET if memory is short. */
static uint32_t make_position(struct profile *p, struct view *v, uint32_t at,
			      bool truncated, bool is_new)
{
	struct position position = { .image = frame_at(v, at)->image,
				     .function = DICT_NONE,
				     .truncated = truncated };

	if (position.image >= v->source.dict->images.nr)
		position.image = DICT_NONE;
	if (v->late)
		position.address = at;
	else if (view_positions_name_position(p, v, at, &position))
		return VIEW_UNSET;
	return is_new ? view_positions_add_position(v, &position)
		      : intern_position(v, &position);
}

/* Returns the position of a stack in a view that is symbolized late.  Without callers, each frame
 * has a single position. */
static uint32_t late_position(struct view *v, uint32_t at)
{
	uint32_t *known = &v->of_frame[at < v->nr_frames ? at : v->nr_frames];
	struct position position = { .image = frame_at(v, at)->image,
				     .function = DICT_NONE,
				     .address = at };

	if (*known != VIEW_UNSET)
		return *known;
	if (position.image >= v->source.dict->images.nr)
		position.image = DICT_NONE;
	*known = view_positions_add_position(v, &position);
	return *known;
}

/* Returns the position of a stack for a profile with callers: each stack has its own position. */
static uint32_t stack_position(const struct profile *p, struct view *v, uint32_t stack,
			       size_t slot)
{
	uint32_t at = view_positions_leaf_of(v, stack);
	struct position position = { .image = frame_at(v, at)->image,
				     .function = DICT_NONE,
				     .address = at,
				     .truncated = p->needs & NEED_QUALITY &&
						  v->truncated[slot],
				     .calls = stack };

	if (position.image >= v->source.dict->images.nr)
		position.image = DICT_NONE;
	return view_positions_add_position(v, &position);
}

uint32_t view_position(struct profile *p, struct view *v, uint32_t stack)
{
	size_t slot = stack < v->nr_stacks ? stack : v->nr_stacks;
	uint32_t at = view_positions_leaf_of(v, stack);
	uint32_t *known;

	if (p->needs & NEED_STACK) {
		v->position_of[slot] = stack_position(p, v, stack, slot);
		return v->position_of[slot];
	}
	if (v->late && !(p->needs & NEED_QUALITY)) {
		v->position_of[slot] = late_position(v, at);
		return v->position_of[slot];
	}
	known = v->late ? NULL : symbol_position(p, v, frame_at(v, at));
	if (known && *known != VIEW_UNSET)
		v->position_of[slot] = *known;
	else
		v->position_of[slot] = make_position(
			p, v, at, p->needs & NEED_QUALITY && v->truncated[slot], known);
	if (known)
		*known = v->position_of[slot];
	return v->position_of[slot];
}

bool view_needs_order(const struct profile *p)
{
	return p->needs & NEED_LINES || p->options.code;
}

/* Sorts the positions by image, then offset; equal ones in the order of their first samples. */
static int view_positions_order_positions(struct view *v)
{
	size_t nr = v->positions.nr;
	struct sort_key *keys = malloc((nr + 1) * sizeof(*keys));
	int r = -ENOMEM;

	v->order = malloc((nr + 1) * sizeof(*v->order));
	if (!keys || !v->order)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		uint32_t at = (uint32_t)v->positions.at[i].address;

		keys[i] = (struct sort_key){ frame_at(v, at)->offset, (uint32_t)i };
	}
	r = sort_keys(&keys, nr);
	for (size_t i = 0; i < nr; i++)
		keys[i].at = v->positions.at[keys[i].index].image;
	if (!r)
		r = sort_keys(&keys, nr);
	for (size_t i = 0; i < nr; i++)
		v->order[i] = keys[i].index;
out:
	free(keys);
	return r;
}

/* Loads symbols in the order of the images' first samples, so that images are numbered in that
 * order in every view. */
static int load_images(struct profile *p, struct view *v)
{
	uint8_t *seen = calloc(v->nr_images + 1, sizeof(*seen));
	int r = seen ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < v->positions.nr; i++) {
		uint32_t image = v->positions.at[i].image;
		size_t slot = image < v->nr_images ? image : v->nr_images;
		uint32_t number;

		if (seen[slot])
			continue;
		seen[slot] = 1;
		if (p->needs & NEED_FUNCTION) {
			number = profile_image_of(p, v, image);
			r = number == VIEW_UNSET ? -ENOMEM : 0;
			if (!r)
				image_symbols(p, v, image, number);
		} else if (image < v->nr_images && v->source.naming) {
			naming_symtab(v->source.naming, image);
		}
	}
	free(seen);
	return r;
}

static int view_positions_add_functions(struct profile *p, struct view *v)
{
	return p->options.call_graph ? view_add_functions(p, v) : 0;
}

int view_name_positions(struct profile *p, struct view *v)
{
	v->function_positions = v->positions.nr;
	if (!v->late)
		return 0;
	if (load_images(p, v) || (profile_asks_frames(p) && call_inlines_make(p, v)))
		return -ENOMEM;
	if (p->needs & NEED_STACK && !view_needs_order(p))
		return view_name_stacks(p, v) ? -ENOMEM
					      : view_positions_add_functions(p, v);
	if (view_positions_order_positions(v))
		return -ENOMEM;
	for (size_t i = 0; i < v->positions.nr; i++) {
		struct position *position = &v->positions.at[v->order[i]];

		if (view_positions_name_position(p, v, (uint32_t)position->address,
						 position))
			return -ENOMEM;
		if (p->needs & NEED_STACK)
			position->calls = call_tree_of_stack(p, v, position->calls);
		if (position->calls == DICT_NONE)
			return -ENOMEM;
	}
	return view_positions_add_functions(p, v);
}

void view_position_ahead(const struct view *v, uint32_t stack, enum view_ahead ahead)
{
	const struct frame *f = frame_at(v, view_positions_leaf_of(v, stack));
	const struct symtab *tab =
		f->image < v->nr_positions_of ? v->positions_of[f->image].tab : NULL;

	if (!tab)
		return;
	if (ahead == AHEAD_FAR)
		symtab_prefetch(tab, f->offset);
	else
		symtab_prefetch_ranges(tab, f->offset);
}
