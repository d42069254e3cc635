#include "tools/script_places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/image_names.h"
#include "base/hash.h"
#include "base/huge.h"
#include "format/perf_input.h"
#include "resolve/demangle.h"
#include "resolve/images.h"
#include "resolve/naming.h"

enum {
	PIECE_BYTES = 64 * 1024,
	FIRST_SPOTS = 4096,
	MAX_SPOTS = 1 << 20,
	SYMBOL_FIELDS = SCRIPT_SYM | SCRIPT_SYMOFF
};

/* The file with a JIT compiler's symbols. */
static const char jit_map[] = "/tmp/perf-";

int script_places_init(struct script_places *p, const struct script_naming *from,
		       bool branches)
{
	*p = (struct script_places){
		.from = *from,
		.branches = branches,
		.mask = FIRST_SPOTS - 1,
		.kernel = DICT_NONE,
	};
	p->spots = calloc(FIRST_SPOTS, sizeof(*p->spots));
	return strtab_init(&p->names) || !p->spots ? -ENOMEM : 0;
}

void script_places_done(struct script_places *p)
{
	free(p->spots);
	vec_done(&p->labels);
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

/* A copy that stays where it is; NULL when memory is short. */
static const char *keep(struct script_places *p, const void *text, size_t len)
{
	size_t bytes = len > PIECE_BYTES ? len : PIECE_BYTES;
	char *piece;

	if (!p->pieces.nr || p->piece_left < len) {
		piece = malloc(bytes);
		if (!piece || !vec_push(&p->pieces, piece)) {
			free(piece);
			return NULL;
		}
		p->piece_left = bytes;
	}
	piece = p->pieces.at[p->pieces.nr - 1];
	/* Only pieces of this size are ever filled further. */
	piece += bytes - p->piece_left;
	memcpy(piece, text, len);
	p->piece_left -= len;
	return piece;
}

/* What perf wrote of a module into its table of build-ids is the name that it shows; NULL: it
 * shows "[ext4]". */
static const char *module_path(const struct script_places *p, const struct image *image)
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

static uint32_t add_image_name(struct script_places *p, const struct image *image)
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
	/* perf gives it that name when it looks for its symbols. */
	if (!(p->from.fields & SYMBOL_FIELDS) && !strncmp(path, jit, sizeof(jit) - 1)) {
		snprintf(map, sizeof(map), "%s%.32s.map", jit_map,
			 path + sizeof(jit) - 1);
		path = map;
	}
	return strtab_add(&p->names, path);
}

static const char *image_name(struct script_places *p, uint32_t number)
{
	uint32_t name = map_get(&p->image_of, number, 0);

	if (name == MAP_NONE) {
		name = add_image_name(p, &p->from.dict->images.at[number]);
		if (name == STRTAB_FAILED || map_set(&p->image_of, number, 0, name))
			return NULL;
	}
	return strtab_get(&p->names, name);
}

static const char *symbol_name(struct script_places *p, const struct symbol *symbol)
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

/* What lies at a frame; all 0 and DICT_NONE: nothing is known. */
struct found {
	struct script_place place;
	const struct symbol *symbol;
	uint32_t image;
};

static int name_symbol(struct script_places *p, uint64_t offset, struct found *found)
{
	enum naming_kind kind;
	const struct symbol *symbol;

	if (!(p->from.fields & SYMBOL_FIELDS) && !p->branches)
		return 0;
	symbol = naming_find(p->from.naming, found->image, offset, &kind);
	/* A function without a name is perf's "[unknown]". */
	if (!symbol || kind != NAMING_SYMBOL)
		return 0;
	found->symbol = symbol;
	found->place.offset = offset - symbol->offset;
	found->place.symbol = symbol_name(p, symbol);
	return found->place.symbol ? 0 : -ENOMEM;
}

/* The image of the kernel, DICT_NONE if there is none. */
static uint32_t find_kernel(struct script_places *p)
{
	const struct dict *d = p->from.dict;

	for (uint32_t i = 0; p->kernel == DICT_NONE && i < d->images.nr; i++)
		if (d->images.at[i].kind == IMAGE_KERNEL)
			p->kernel = i;
	return p->kernel;
}

/* perf moves the ends of the kernel to those of its symbols: its mapping ends behind _etext,
 * and what runs while it starts lies behind that.  Without a symbol it is not the kernel. */
static int find_in_kernel(struct script_places *p, uint64_t offset, struct found *found)
{
	int r = name_symbol(p, offset, found);

	if (!r && !found->symbol && p->from.fields & SCRIPT_SYM &&
	    naming_symtab(p->from.naming, found->image))
		found->image = DICT_NONE;
	return r;
}

static int find(struct script_places *p, uint32_t number, struct found *found)
{
	const struct frame *frame = &p->from.dict->frames.at[number];
	const struct image *images = p->from.dict->images.at;
	uint32_t kernel = find_kernel(p);
	int r;

	found->image = frame->image;
	if (images[frame->image].kind == IMAGE_KERNEL) {
		r = find_in_kernel(p, frame->offset, found);
	} else if (images[frame->image].kind == IMAGE_KERNEL_UNMAPPED &&
		   kernel != DICT_NONE && frame->offset >= images[kernel].start) {
		found->image = kernel;
		r = find_in_kernel(p, frame->offset - images[kernel].start, found);
	} else {
		r = name_symbol(p, frame->offset, found);
	}
	if (r || found->image == DICT_NONE)
		return r;
	found->place.image = image_name(p, found->image);
	return found->place.image ? 0 : -ENOMEM;
}

static int add_label(struct script_places *p, const struct script_place *place,
		     bool is_file, uint32_t *ret_label)
{
	struct script_label label = { .is_file = is_file };
	size_t first;

	buf_clear(&p->scratch);
	if (p->branches) {
		script_branch_place(p->from.fields, place, &p->scratch);
		first = p->scratch.len;
	} else {
		label.has_offset =
			script_halves(p->from.fields, place, &p->scratch, &first);
	}
	label.len = (uint32_t)p->scratch.len;
	label.first = (uint32_t)first;
	label.text = label.len ? keep(p, p->scratch.data, label.len) : "";
	if (p->scratch.failed || !label.text || !vec_push(&p->labels, label))
		return -ENOMEM;
	*ret_label = (uint32_t)p->labels.nr - 1;
	return 0;
}

/* The label of all of a function; in branch stacks the offset is part of the text, and each
 * place has one of its own. */
static int get_label(struct script_places *p, const struct found *found, bool is_file,
		     uint32_t *ret_label)
{
	uint64_t function = (uintptr_t)(found->symbol ? found->symbol->name : NULL);
	int r;

	if (p->branches)
		return add_label(p, &found->place, is_file, ret_label);
	*ret_label = map_get(&p->label_of, function, found->image);
	if (*ret_label != MAP_NONE)
		return 0;
	r = add_label(p, &found->place, is_file, ret_label);
	return r ? r : map_set(&p->label_of, function, found->image, *ret_label);
}

/* Whether perf prints the place in the file instead of the address. */
static bool has_file_offset(struct script_places *p, const struct frame *frame)
{
	const struct image *image = &p->from.dict->images.at[frame->image];
	const char *name = image_name(p, frame->image);

	/* Memory that has the name of a file is one to perf: memfd. */
	return image->kind == IMAGE_FILE || image->kind == IMAGE_VDSO ||
	       (image->kind == IMAGE_ANON && name && name[0] == '/' &&
		strncmp(name, jit_map, sizeof(jit_map) - 1) != 0);
}

static int make_spot(struct script_places *p, uint32_t number, struct script_spot *spot)
{
	struct found found = { .image = DICT_NONE };
	bool is_file = false;
	uint32_t label;
	int r = 0;

	if (number != DICT_NONE) {
		r = find(p, number, &found);
		is_file = has_file_offset(p, &p->from.dict->frames.at[number]);
	}
	if (!r)
		r = get_label(p, &found, is_file, &label);
	if (r)
		return r;
	spot->offset = found.place.offset;
	spot->label_plus_1 = label + 1;
	return 0;
}

/* ---- spots ---- */

static size_t slot_of(const struct script_places *p, uint32_t image, uint64_t offset)
{
	return hash_u64(offset ^ (uint64_t)image << 44) & p->mask;
}

void script_places_prefetch(const struct script_places *p, uint32_t image,
			    uint64_t offset)
{
	__builtin_prefetch(&p->spots[slot_of(p, image, offset)]);
}

/* The place's slot, or the empty one where it belongs. */
static struct script_spot *probe(const struct script_places *p, uint32_t image,
				 uint64_t offset)
{
	size_t i = slot_of(p, image, offset);

	while (p->spots[i].label_plus_1 &&
	       (p->spots[i].key != offset || p->spots[i].image != image))
		i = (i + 1) & p->mask;
	return &p->spots[i];
}

const struct script_spot *script_places_find(const struct script_places *p,
					     uint32_t image, uint64_t offset)
{
	const struct script_spot *spot = probe(p, image, offset);

	return spot->label_plus_1 ? spot : NULL;
}

/* Room for another one: a table at most half full, or an empty one. */
static int make_room(struct script_places *p)
{
	struct script_spot *old = p->spots;
	size_t nr_old = p->mask + 1;
	size_t nr = nr_old < MAX_SPOTS ? nr_old * 2 : nr_old;

	if (p->nr_spots < nr_old / 2)
		return 0;
	p->spots = huge_zalloc(nr, sizeof(*p->spots));
	if (!p->spots) {
		p->spots = old;
		return -ENOMEM;
	}
	p->mask = nr - 1;
	p->nr_spots = nr > nr_old ? p->nr_spots : 0;
	for (size_t i = 0; nr > nr_old && i < nr_old; i++)
		if (old[i].label_plus_1)
			*probe(p, old[i].image, old[i].key) = old[i];
	free(old);
	return 0;
}

int script_places_add(struct script_places *p, uint32_t image, uint64_t offset,
		      uint32_t frame, const struct script_spot **ret_spot)
{
	struct script_spot spot = { .key = offset, .image = image };
	struct script_spot *slot;
	int r = make_spot(p, frame, &spot);

	if (!r)
		r = make_room(p);
	if (r)
		return r;
	slot = probe(p, image, offset);
	p->nr_spots += !slot->label_plus_1;
	*slot = spot;
	*ret_spot = slot;
	return 0;
}

void script_places_frame(const struct script_places *p, const struct script_spot *spot,
			 struct script_frame *ret_frame, bool *ret_is_file)
{
	const struct script_label *label = &p->labels.at[spot->label_plus_1 - 1];

	ret_frame->offset = spot->offset;
	ret_frame->place = (struct script_text){ label->text, label->first };
	ret_frame->behind =
		(struct script_text){ label->has_offset ? label->text + label->first
							: NULL,
				      label->len - label->first };
	*ret_is_file = label->is_file;
}

struct script_text script_places_text(const struct script_places *p,
				      const struct script_spot *spot)
{
	const struct script_label *label = &p->labels.at[spot->label_plus_1 - 1];

	return (struct script_text){ label->text, label->len };
}
