/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/export/afdo.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/count/code_counts.h"
#include "base/containers/strtab.h"
#include "present/export/afdo_tree.h"
#include "resolve/lines/lines.h"
#include "resolve/symbolize/lines.h"
#include "resolve/symbolize/naming.h"

enum {
	FRAMES_MAX = 64,              /* of an address */
	FUNCTION_BYTES_MAX = 16 << 20 /* a larger size is considered wrong */
};

struct afdo {
	struct afdo_tree tree;
	struct afdo_stats stats;
};

/* State for looking up addresses in one image. */
struct looking {
	struct afdo *a;
	const struct code_counts *counts;
	struct naming *naming;
	const struct symtab *tab;
	struct naming_lines *lines;
	uint32_t image;
};

int afdo_new(struct afdo **ret_afdo)
{
	struct afdo *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	if (afdo_tree_init(&a->tree)) {
		afdo_free(a);
		return -ENOMEM;
	}
	*ret_afdo = a;
	return 0;
}

void afdo_free(struct afdo *a)
{
	if (!a)
		return;
	afdo_tree_done(&a->tree);
	free(a);
}

size_t afdo_nr_functions(const struct afdo *a, struct afdo_stats *ret_stats)
{
	*ret_stats = a->stats;
	return afdo_tree_nr_functions(&a->tree);
}

int afdo_write(struct afdo *a, FILE *out)
{
	return afdo_tree_write(&a->tree, out);
}

/* ---- an address ---- */

/* Returns a name without its scope, as DWARF has it. gcc's functions without a linkage name have
 * such names. */
static const char *write_afdo_own_name(const char *name)
{
	const char *own = name;
	size_t depth = 0;

	for (const char *at = name; *at; at++) {
		if (strchr("<({", *at))
			depth++;
		else if (strchr(">)}", *at) && depth)
			depth--;
		else if (!depth && at[0] == ':' && at[1] == ':' && at[2])
			own = at + 2;
	}
	return own;
}

/* Returns the linker's name without suffixes that the compiler appended: split parts and clones
 * of a function are the same function in the profile. */
static uint32_t write_afdo_name_of(struct looking *k, const struct line_frame *f,
				   uint64_t offset)
{
	const struct symbol *s = NULL;
	const char *name = f->name;

	if (!f->linkage && !f->inlined)
		s = naming_find(k->naming, k->image, offset, NULL);
	if (s)
		name = s->name;
	else if (name && !f->linkage)
		name = write_afdo_own_name(name);
	return name ? afdo_tree_name(&k->a->tree, name) : AFDO_NONE;
}

static struct afdo_at write_afdo_line_of(const struct line_frame *f)
{
	return afdo_at(f->line - f->decl_line,
		       f->discriminator | f->call_discriminator);
}

/* Returns the counter of the reason to drop a location, or NULL if it is usable. */
static uint64_t *write_afdo_drop_counter(struct afdo_stats *stats,
					 const struct line_frame *frames, size_t nr)
{
	if (!nr || !frames[0].line || nr == FRAMES_MAX)
		return &stats->without_lines;
	for (size_t i = 0; i < nr; i++)
		if (!frames[i].decl_line || !frames[i].line)
			return &stats->without_start;
	return NULL;
}

/* Returns the function node of a location at its inline depth, or AFDO_NONE if it cannot be
 * written. */
static uint32_t write_afdo_node_of(struct looking *k, const struct line_frame *frames,
				   size_t nr, uint64_t offset)
{
	uint32_t node = AFDO_NONE;

	for (size_t i = nr; i-- > 0;) {
		uint32_t name = write_afdo_name_of(k, &frames[i], offset);
		struct afdo_at call = { 0 };

		if (name == AFDO_NONE)
			return AFDO_NONE;
		if (i + 1 < nr)
			call = write_afdo_line_of(&frames[i + 1]);
		node = afdo_tree_node(&k->a->tree, node, call, name);
		if (node == AFDO_NONE)
			return AFDO_NONE;
	}
	return node;
}

/* Returns the spot of an offset, or AFDO_NONE if it has none.  *ret_reach is the end of the
 * range that shares the spot; *ret_factor is the number of copies that the compiler made of the
 * code. */
static uint32_t spot_at(struct looking *k, uint64_t offset, uint64_t samples,
			uint64_t *ret_reach, uint64_t *ret_factor)
{
	uint64_t vaddr = symtab_vaddr(k->tab, offset).v;
	struct line_frame frames[FRAMES_MAX];
	size_t nr = naming_lines_find(k->lines, vaddr, frames, FRAMES_MAX);
	uint64_t reach = naming_lines_reach(k->lines);
	uint64_t *drop_counter = write_afdo_drop_counter(&k->a->stats, frames, nr);
	uint32_t node;

	*ret_reach = reach > vaddr ? offset + (reach - vaddr) : offset + 1;
	*ret_factor = 1;
	if (drop_counter) {
		*drop_counter += samples;
		return AFDO_NONE;
	}
	*ret_factor = afdo_copies(frames[0].discriminator);
	k->a->stats.used += samples;
	node = write_afdo_node_of(k, frames, nr, offset);
	return node == AFDO_NONE ? AFDO_NONE
				 : afdo_tree_spot(&k->a->tree, node,
						  write_afdo_line_of(&frames[0]));
}

/* ---- an image ---- */

static void write_afdo_add_samples(struct looking *k)
{
	for (size_t i = 0; i < k->counts->positions.nr; i++) {
		const struct code_position *p = &k->counts->positions.at[i];
		uint64_t reach, factor;
		uint32_t spot;

		if (p->image != k->image || !p->samples)
			continue;
		spot = spot_at(k, p->offset, p->samples, &reach, &factor);
		if (spot != AFDO_NONE)
			afdo_tree_add(&k->a->tree, spot, p->samples);
	}
}

/* Raises the counts of the lines in a stretch of code.  A line ran as often as the most frequent
 * of its instructions. */
static void add_stretch(struct looking *k, uint64_t first, uint64_t last,
			uint64_t count)
{
	uint64_t reach, factor;

	for (uint64_t at = first; at <= last; at = reach) {
		uint32_t spot = spot_at(k, at, 0, &reach, &factor);

		if (spot != AFDO_NONE)
			afdo_tree_most(&k->a->tree, spot, count * factor);
	}
}

/* Gives lines that did not run, in functions that did, a count of 0, which is more information
 * than no entry.  Returns the offset after which to continue. */
static uint64_t write_afdo_add_function(struct looking *k, uint64_t offset)
{
	const struct symbol *s = naming_find(k->naming, k->image, offset, NULL);

	if (!s || !s->size || s->size > FUNCTION_BYTES_MAX)
		return offset;
	add_stretch(k, s->offset, s->offset + s->size - 1, 0);
	return s->offset + s->size - 1;
}

static int add_stretches(struct looking *k)
{
	code_stretch_vec all = { 0 };
	int r = code_counts_stretches(k->counts, k->image, &all);
	uint64_t done = 0;

	for (size_t i = 0; !r && i < all.nr; i++) {
		const struct code_stretch *s = &all.at[i];

		if (s->last - s->first > FUNCTION_BYTES_MAX)
			continue;
		if (!done || s->first > done)
			done = write_afdo_add_function(k, s->first);
		add_stretch(k, s->first, s->last, s->count);
	}
	vec_done(&all);
	return r;
}

/* Adds a branch as a call if it leads to the beginning of a function. */
static int write_afdo_add_call(struct looking *k, const struct code_edge *e)
{
	const struct code_position *from = &k->counts->positions.at[e->from];
	const struct code_position *to = &k->counts->positions.at[e->to];
	const struct symbol *callee =
		naming_find(k->naming, to->image, to->offset, NULL);
	uint64_t reach, factor;
	uint32_t spot, name;

	if (!callee || callee->offset != to->offset)
		return 0;
	name = afdo_tree_name(&k->a->tree, callee->name);
	if (name == AFDO_NONE)
		return 0;
	spot = spot_at(k, from->offset, 0, &reach, &factor);
	return afdo_tree_call(&k->a->tree, spot, name, e->count);
}

static int write_afdo_add_calls(struct looking *k)
{
	int r = 0;

	for (size_t i = 0; !r && i < k->counts->branches.nr; i++) {
		const struct code_edge *e = &k->counts->branches.at[i];

		if (k->counts->positions.at[e->from].image == k->image)
			r = write_afdo_add_call(k, e);
	}
	return r;
}

/* Adds the counts of an image: from its branches if it has any, and otherwise from its samples.
 * With branches, the samples are only added to the statistics. */
static int write_afdo_add_image(struct looking *k)
{
	int r;

	if (!k->counts->branches.nr) {
		write_afdo_add_samples(k);
		return 0;
	}
	for (size_t i = 0; i < k->counts->positions.nr; i++)
		if (k->counts->positions.at[i].image == k->image)
			k->a->stats.used += k->counts->positions.at[i].samples;
	r = add_stretches(k);
	return r ? r : write_afdo_add_calls(k);
}

static uint64_t write_afdo_samples_of(const struct code_counts *c, uint32_t image)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->positions.nr; i++)
		if (c->positions.at[i].image == image)
			sum += c->positions.at[i].samples;
	return sum;
}

static int write_afdo_prepare(struct looking *k)
{
	uint64_t *addresses = calloc(k->counts->positions.nr + 1, sizeof(*addresses));
	size_t nr = 0;

	if (!addresses)
		return -ENOMEM;
	for (size_t i = 0; i < k->counts->positions.nr; i++)
		if (k->counts->positions.at[i].image == k->image)
			addresses[nr++] =
				symtab_vaddr(k->tab, k->counts->positions.at[i].offset)
					.v;
	naming_lines_prepare(k->lines, addresses, nr);
	free(addresses);
	return 0;
}

/* Adds the counts of an image, if it has a symbol table and debug information about lines;
 * otherwise counts its samples as dropped. Returns 0 or a negative errno. */
static int write_afdo_look_up(struct looking *k, const struct lines_options *lines)
{
	int r;

	k->tab = naming_symtab(k->naming, k->image);
	r = k->tab ? naming_lines_open(k->naming, k->image, lines, &k->lines) : 0;
	if (r)
		return r;
	if (!k->lines) {
		k->a->stats.without_lines += write_afdo_samples_of(k->counts, k->image);
		return 0;
	}
	r = write_afdo_prepare(k);
	if (!r)
		r = write_afdo_add_image(k);
	naming_lines_close(k->lines);
	k->lines = NULL;
	return r;
}

int afdo_add(struct afdo *a, const struct code_counts *counts, const struct dict *dict,
	     struct naming *naming, const struct lines_options *lines)
{
	struct looking k = { .a = a, .counts = counts, .naming = naming };
	bool *used = calloc(dict->images.nr + 1, sizeof(*used));
	int r = used ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < counts->positions.nr; i++)
		used[counts->positions.at[i].image] = true;
	for (k.image = 0; !r && k.image < dict->images.nr; k.image++)
		if (used[k.image] && dict->images.at[k.image].kind == IMAGE_FILE)
			r = write_afdo_look_up(&k, lines);
	free(used);
	afdo_tree_settle(&a->tree);
	return r ? r : afdo_tree_failed(&a->tree) ? -ENOMEM : 0;
}
