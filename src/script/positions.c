/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script/positions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/selection/image_names.h"
#include "base/containers/hash.h"
#include "base/containers/huge.h"
#include "format/perfdata/input.h"
#include "resolve/replay/images.h"
#include "resolve/symbolize/naming.h"
#include "resolve/symbols/demangle.h"
#include "resolve/symbols/symtab.h"

enum {
	/* A label's number consists of its word index in a block, and above it the number of the
	 * block. */
	PIECE_WORDS_LOG2 = 16,
	PIECE_WORDS = 1 << PIECE_WORDS_LOG2,
	MAX_PIECES = 1 << (32 - PIECE_WORDS_LOG2),
	FIRST_SLOTS = 4096,
	MAX_SLOTS = 1 << 20,
	LABEL_MAX = (1 << 30) - 1,
	/* Bits of the image number in a key; the other bits are the signed offset. */
	IMAGE_BITS = 15,
	SYMBOL_FIELDS = SCRIPT_SYM | SCRIPT_SYMOFF
};

/* The start of the path of a JIT compiler's symbol file. */
static const char jit_map[] = "/tmp/perf-";

/* A cached position; an empty slot has label number 0. */
struct script_slot {
	uint64_t key; /* from script_positions_pack() */
	uint32_t offset;
	uint32_t label;
};

int script_positions_init(struct script_positions *p, const struct script_naming *from,
			  bool branches)
{
	*p = (struct script_positions){
		.from = *from,
		.branches = branches,
		.mask = FIRST_SLOTS - 1,
		.kernel = DICT_NONE,
	};
	p->slots = huge_zalloc(FIRST_SLOTS, sizeof(*p->slots));
	return strtab_init(&p->names) || !p->slots ? -ENOMEM : 0;
}

void script_positions_done(struct script_positions *p)
{
	huge_zfree(p->slots, p->mask + 1, sizeof(*p->slots));
	map_done(&p->label_of);
	for (size_t i = 0; i < p->pieces.nr; i++)
		free(p->pieces.at[i]);
	vec_done(&p->pieces);
	buf_done(&p->scratch);
	strtab_done(&p->names);
	map_done(&p->name_of);
	map_done(&p->image_of);
}

/* ---- names ---- */

/* Returns the path of a module in perf's table of build-ids, which perf prints, or NULL if the
 * table does not contain the module; perf then prints "[ext4]". */
static const char *module_path(const struct script_positions *p,
			       const struct image *image)
{
	const char *name = dict_str(p->from.dict, image->name);

	for (size_t i = 0; p->from.info && i < p->from.info->build_ids.nr; i++) {
		const char *path = p->from.info->build_ids.at[i].name;
		char module[IMAGE_NAME_MAX];

		if (*path == '/' &&
		    image_kernel_name(path, module, sizeof(module)) == IMAGE_MODULE &&
		    !strcmp(module, name))
			return path;
	}
	return NULL;
}

static uint32_t add_image_name(struct script_positions *p, const struct image *image)
{
	static const char jit[] = "[JIT] tid ";
	const char *path = image->kind == IMAGE_MODULE ? module_path(p, image) : NULL;
	char map[64];

	if (path)
		return strtab_add(&p->names, path);
	buf_clear(&p->scratch);
	image_name_put(&p->scratch, p->from.dict, image, NAMES_PERF, "");
	if (p->scratch.failed)
		return STRTAB_FAILED;
	path = (const char *)p->scratch.data;
	/* The image's name in the dict is for reports; perf prints the path of the perf map for
	 * such memory. */
	if (!strncmp(path, jit, sizeof(jit) - 1)) {
		snprintf(map, sizeof(map), "%s%.32s.map", jit_map,
			 path + sizeof(jit) - 1);
		path = map;
	}
	return strtab_add(&p->names, path);
}

static const char *script_positions_image_name(struct script_positions *p,
					       uint32_t number)
{
	uint32_t name = map_get(&p->image_of, number, 0);

	if (name == MAP_NONE) {
		name = add_image_name(p, &p->from.dict->images.at[number]);
		if (name == STRTAB_FAILED || map_set(&p->image_of, number, 0, name))
			return NULL;
	}
	return strtab_get(&p->names, name);
}

static const char *symbol_name(struct script_positions *p, const struct symbol *symbol)
{
	uint64_t key = (uintptr_t)symbol->name;
	uint32_t name = map_get(&p->name_of, key, 0);
	char *shown;

	if (name == MAP_NONE) {
		shown = demangle_plain(symbol->name);
		name = strtab_add(&p->names, shown ? shown : symbol->name);
		free(shown);
		if (name == STRTAB_FAILED || map_set(&p->name_of, key, 0, name))
			return NULL;
	}
	return strtab_get(&p->names, name);
}

/* ---- labels ---- */

/* The symbol at a frame. Unknown: `symbol` is NULL. Not in any image: `image` is DICT_NONE. */
struct script_positions_found {
	const struct symbol *symbol;
	/* Offset of the frame in the image; set if there is a symbol. */
	uint64_t position;
	uint32_t image;
};

static void find_symbol(struct script_positions *p, uint64_t offset,
			struct script_positions_found *found)
{
	enum naming_kind kind;
	const struct symbol *symbol;

	if (!(p->from.fields & SYMBOL_FIELDS) && !p->branches)
		return;
	symbol = naming_find(p->from.naming, found->image, offset, &kind);
	/* perf prints "[unknown]" for a function without a name. */
	if (!symbol || kind != NAMING_SYMBOL)
		symbol = naming_find_data(p->from.naming, found->image, offset);
	if (!symbol)
		return;
	found->symbol = symbol;
	found->position = offset;
	__builtin_prefetch(symbol);
}

/* Returns the offset within the function. */
static uint64_t script_positions_offset_of(const struct script_positions_found *found)
{
	return found->symbol ? found->position - found->symbol->offset : 0;
}

/* Returns the image of the kernel, or DICT_NONE. */
static uint32_t find_kernel(struct script_positions *p)
{
	const struct dict *d = p->from.dict;

	for (uint32_t i = 0; p->kernel == DICT_NONE && i < d->images.nr; i++)
		if (d->images.at[i].kind == IMAGE_KERNEL)
			p->kernel = i;
	return p->kernel;
}

/* Finds the symbol of an offset in the kernel. perf extends the kernel's mapping to the last
 * symbol, because startup code follows its end, _etext. An address without a symbol is not in the
 * kernel; then this sets the image to DICT_NONE. */
static void find_in_kernel(struct script_positions *p, uint64_t offset,
			   struct script_positions_found *found)
{
	find_symbol(p, offset, found);
	if (!found->symbol && p->from.fields & SCRIPT_SYM &&
	    naming_symtab(p->from.naming, found->image))
		found->image = DICT_NONE;
}

static struct script_positions_found
script_positions_look_up(struct script_positions *p, uint32_t image, uint64_t offset)
{
	const struct image *images = p->from.dict->images.at;
	struct script_positions_found found = { .image = image };
	uint32_t kernel;

	if (images[image].kind == IMAGE_KERNEL) {
		find_in_kernel(p, offset, &found);
		return found;
	}
	if (images[image].kind == IMAGE_KERNEL_UNMAPPED) {
		kernel = find_kernel(p);
		if (kernel != DICT_NONE && offset >= images[kernel].start) {
			found.image = kernel;
			find_symbol(p, offset - images[kernel].start, &found);
			if (found.symbol)
				return found;
			found.image = image;
		}
	}
	find_symbol(p, offset, &found);
	return found;
}

/* Allocates a label with its text.  Returns 0 if memory is short. */
static uint32_t new_label(struct script_positions *p, size_t text_bytes,
			  struct script_label **ret_label)
{
	size_t words = (sizeof(struct script_label) + text_bytes + SCRIPT_PADDING +
			sizeof(uint64_t) - 1) /
		       sizeof(uint64_t);

	if (!p->pieces.nr || p->piece_used + words > PIECE_WORDS) {
		/* Word 0 is unused, because 0 means "no label". A label that is larger than a
		 * block gets a separate block. */
		size_t room = words < PIECE_WORDS ? PIECE_WORDS : words + 1;
		uint64_t *piece = p->pieces.nr < MAX_PIECES
					  ? malloc(room * sizeof(*piece))
					  : NULL;

		if (!piece || !vec_push(&p->pieces, piece)) {
			free(piece);
			return 0;
		}
		p->piece_used = 1;
	}
	*ret_label = (void *)(p->pieces.at[p->pieces.nr - 1] + p->piece_used);
	p->piece_used += words;
	return (uint32_t)((p->pieces.nr - 1) << PIECE_WORDS_LOG2 |
			  (p->piece_used - words));
}

static const struct script_label *label_at(const struct script_positions *p,
					   uint32_t number)
{
	return (const void *)(p->pieces.at[number >> PIECE_WORDS_LOG2] +
			      (number & (PIECE_WORDS - 1)));
}

/* Returns true if perf prints the file offset instead of the address. */
static bool has_file_offset(struct script_positions *p, uint32_t number)
{
	const struct image *image;

	if (number == DICT_NONE)
		return false;
	image = &p->from.dict->images.at[number];
	/* perf also treats memory with the name of a file, such as a memfd, as a file. */
	return image->kind == IMAGE_FILE || image->kind == IMAGE_VDSO ||
	       (image->kind == IMAGE_ANON &&
		image_name_is_file(dict_str(p->from.dict, image->name)));
}

static int script_positions_name_position(struct script_positions *p,
					  const struct script_positions_found *found,
					  struct script_position *ret_position)
{
	*ret_position =
		(struct script_position){ .offset = script_positions_offset_of(found) };
	if (found->image == DICT_NONE)
		return 0;
	ret_position->image = script_positions_image_name(p, found->image);
	if (found->symbol)
		ret_position->symbol = symbol_name(p, found->symbol);
	return !ret_position->image || (found->symbol && !ret_position->symbol)
		       ? -ENOMEM
		       : 0;
}

static int add_label(struct script_positions *p,
		     const struct script_positions_found *found, uint32_t *ret_number)
{
	struct script_label *label;
	struct script_position position;
	bool has_offset = false;
	uint32_t number;
	size_t first;

	if (script_positions_name_position(p, found, &position))
		return -ENOMEM;
	buf_clear(&p->scratch);
	if (p->branches) {
		script_branch_position(p->from.fields, &position, &p->scratch);
		first = p->scratch.len;
	} else {
		has_offset =
			script_halves(p->from.fields, &position, &p->scratch, &first);
	}
	if (p->scratch.failed || p->scratch.len > LABEL_MAX)
		return -ENOMEM;
	number = new_label(p, p->scratch.len, &label);
	if (!number)
		return -ENOMEM;
	label->len = (uint32_t)p->scratch.len;
	label->first = (uint32_t)first & LABEL_MAX;
	label->has_offset = has_offset;
	label->is_file = has_file_offset(p, found->image);
	if (p->scratch.len)
		memcpy(label->text, p->scratch.data, p->scratch.len);
	memset(label->text + p->scratch.len, 0, SCRIPT_PADDING);
	*ret_number = number;
	return 0;
}

static uint64_t label_key(const struct script_positions_found *found)
{
	return (uintptr_t)(found->symbol ? found->symbol->name : NULL);
}

/* Sets *ret_number to the label of a function; returns 0 or a negative errno. In branch stacks,
 * the offset is part of the text, so each position has a separate label. */
static int get_label(struct script_positions *p,
		     const struct script_positions_found *found, uint32_t *ret_number)
{
	uint64_t function = label_key(found);
	int r;

	if (p->branches)
		return add_label(p, found, ret_number);
	*ret_number = map_get(&p->label_of, function, found->image);
	if (*ret_number != MAP_NONE)
		return 0;
	r = add_label(p, found, ret_number);
	return r ? r : map_set(&p->label_of, function, found->image, *ret_number);
}

/* ---- cached positions ---- */

/* Packs a position into a number.  Returns false if it does not fit. */
static bool script_positions_pack(uint32_t image, uint64_t offset, uint64_t *ret_key)
{
	*ret_key = offset << IMAGE_BITS | image;
	return image >> IMAGE_BITS == 0 &&
	       (uint64_t)((int64_t)*ret_key >> IMAGE_BITS) == offset;
}

void script_positions_prefetch(const struct script_positions *p, uint32_t image,
			       uint64_t offset)
{
	uint64_t key;

	(void)script_positions_pack(image, offset, &key);
	__builtin_prefetch(&p->slots[hash_u64(key) & p->mask]);
}

/* Returns the key's slot, or the empty slot where it belongs. */
static struct script_slot *script_positions_probe(const struct script_positions *p,
						  uint64_t key)
{
	size_t i = hash_u64(key) & p->mask;

	while (p->slots[i].label && p->slots[i].key != key)
		i = (i + 1) & p->mask;
	return &p->slots[i];
}

bool script_positions_find(const struct script_positions *p, uint32_t image,
			   uint64_t offset, struct script_spot *ret_spot)
{
	const struct script_slot *slot;
	uint64_t key;

	if (!script_positions_pack(image, offset, &key))
		return false;
	slot = script_positions_probe(p, key);
	if (!slot->label)
		return false;
	*ret_spot = (struct script_spot){ label_at(p, slot->label), slot->offset };
	return true;
}

/* Makes room for another position: grows the table, or clears it at its maximum size. */
static int script_positions_make_room(struct script_positions *p)
{
	struct script_slot *old = p->slots;
	size_t nr_old = p->mask + 1;
	size_t nr = nr_old < MAX_SLOTS ? nr_old * 2 : nr_old;

	if (p->nr_used < nr_old / 8 * 5)
		return 0;
	p->slots = huge_zalloc(nr, sizeof(*p->slots));
	if (!p->slots) {
		p->slots = old;
		return -ENOMEM;
	}
	p->mask = nr - 1;
	p->nr_used = nr > nr_old ? p->nr_used : 0;
	for (size_t i = 0; nr > nr_old && i < nr_old; i++)
		if (old[i].label)
			*script_positions_probe(p, old[i].key) = old[i];
	huge_zfree(old, nr_old, sizeof(*old));
	return 0;
}

static int script_positions_keep(struct script_positions *p, uint64_t key,
				 uint32_t offset, uint32_t label)
{
	struct script_slot *slot;

	if (script_positions_make_room(p))
		return -ENOMEM;
	slot = script_positions_probe(p, key);
	p->nr_used += !slot->label;
	*slot = (struct script_slot){ key, offset, label };
	return 0;
}

/* Prefetches the data for finding the symbols: first an array, then the data to which its elements
 * point. */
static void fetch_symbols(struct script_positions *p, const struct script_want *wants,
			  size_t nr)
{
	const struct symtab *tabs[SCRIPT_WANTS];

	if (nr < 2 || (!(p->from.fields & SYMBOL_FIELDS) && !p->branches))
		return;
	for (size_t i = 0; i < nr; i++) {
		uint32_t image = wants[i].dict_image;

		tabs[i] = image != DICT_NONE ? naming_symtab(p->from.naming, image)
					     : NULL;
		if (tabs[i])
			symtab_prefetch(tabs[i], wants[i].offset);
	}
	for (size_t i = 0; i < nr; i++)
		if (tabs[i])
			symtab_prefetch_ranges(tabs[i], wants[i].offset);
}

static int add_found(struct script_positions *p, const struct script_want *want,
		     const struct script_positions_found *found)
{
	uint64_t offset = script_positions_offset_of(found);
	uint32_t label;
	uint64_t key;
	int r = get_label(p, found, &label);

	/* A position that cannot be packed is not cached, and is looked up each time. */
	if (!r && script_positions_pack(want->image, want->offset, &key) &&
	    offset <= UINT32_MAX)
		r = script_positions_keep(p, key, (uint32_t)offset, label);
	if (r)
		return r;
	*want->ret_spot = (struct script_spot){ label_at(p, label), offset };
	script_spot_prefetch(want->ret_spot);
	return 0;
}

int script_positions_add(struct script_positions *p, const struct script_want *wants,
			 size_t nr)
{
	struct script_positions_found found[SCRIPT_WANTS];
	int r = 0;

	fetch_symbols(p, wants, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct script_want *w = &wants[i];

		found[i] = (struct script_positions_found){ .image = DICT_NONE };
		if (w->dict_image != DICT_NONE)
			found[i] =
				script_positions_look_up(p, w->dict_image, w->offset);
	}
	for (size_t i = 0; nr > 1 && i < nr; i++)
		map_prefetch(&p->label_of, label_key(&found[i]), found[i].image);
	for (size_t i = 0; !r && i < nr; i++)
		r = add_found(p, &wants[i], &found[i]);
	return r;
}
