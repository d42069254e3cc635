/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/tree.h"

#include <dwarf.h>
#include <stdlib.h>

#include "resolve/dwarf/leb.h"

enum {
	TREE_DEPTH_MAX = 1024,
	BUDGET_MIN = 4 << 20,
	/* Limit of the bytes that are read, as a multiple of the open unit's size. */
	BUDGET_RATIO = 64,
	STEP_COST = 16,
	DW_AT_MIPS_linkage = 0x2007
};

void dwarf_trees_init(struct dwarf_trees *t, struct dwarf_open_unit *o,
		      struct dwarf_reader *rd)
{
	*t = (struct dwarf_trees){ .rd = rd, .open = o };
	t->budget = BUDGET_MIN + o->unit->bytes * BUDGET_RATIO;
}

void dwarf_trees_done(struct dwarf_trees *t)
{
	for (size_t i = 0; i < DWARF_TREES; i++) {
		free(t->trees[i].bytes);
		vec_done(&t->trees[i].nodes);
	}
}

static bool trees_spend(struct dwarf_trees *t, uint64_t cost)
{
	if (t->budget < cost)
		t->budget = 0;
	else
		t->budget -= cost;
	return t->budget != 0;
}

/* ---- a unit ---- */

static bool is_node(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

/* Skips an entry, and its children if it is an inlined call, which contains no declarations.
 * Returns whether its children come next. */
static bool dwarf_tree_pass(const struct dwarf_tree *tree,
			    const struct dwarf_abbrevs *t, const struct dwarf_abbrev *a,
			    struct cursor *c)
{
	return dwarf_abbrev_pass(t, a, c, &tree->unit.widths,
				 a->entry == DWARF_PASS_ALL ||
					 a->tag == DW_TAG_inlined_subroutine);
}

static bool dwarf_tree_list(struct dwarf_tree *tree,
			    const struct dwarf_abbrevs *abbrevs)
{
	uint32_t stack[TREE_DEPTH_MAX] = { DWARF_NO_NODE };
	struct cursor c = tree->c;
	unsigned int depth = 0;

	while (c.pos < c.len && !c.failed) {
		struct dwarf_node node = { .off = (uint32_t)c.pos,
					   .end = (uint32_t)c.len,
					   .parent = stack[depth] };
		uint64_t code = leb_u(&c);
		const struct dwarf_abbrev *a = dwarf_abbrevs_find(abbrevs, code);
		uint32_t inner = stack[depth];

		if (!code) {
			if (depth <= 1)
				return true;
			depth--;
			if (stack[depth + 1] != stack[depth])
				tree->nodes.at[stack[depth + 1]].end = (uint32_t)c.pos;
			continue;
		}
		if (!a)
			return false;
		node.tag = a->tag;
		if (is_node(a->tag)) {
			inner = (uint32_t)tree->nodes.nr;
			if (!vec_push(&tree->nodes, node))
				return false;
		}
		if (dwarf_tree_pass(tree, abbrevs, a, &c)) {
			if (depth + 1 >= TREE_DEPTH_MAX)
				return false;
			stack[++depth] = inner;
		} else if (inner != stack[depth]) {
			tree->nodes.at[inner].end = (uint32_t)c.pos;
		}
	}
	return !c.failed;
}

static bool dwarf_tree_load(struct dwarf_trees *t, struct dwarf_tree *tree,
			    const struct dwarf_unit *u)
{
	const struct dwarf_abbrevs *abbrevs;
	const uint8_t *bytes;

	tree->nodes.nr = 0;
	tree->unit.info = NULL;
	if (!trees_spend(t, u->bytes))
		return false;
	if (u == t->open->unit) {
		tree->unit = *u;
		tree->c = t->open->c;
		tree->c.failed = false;
		tree->c.pos = u->dies;
		tree->abbrevs = t->open->abbrevs;
		(void)dwarf_tree_list(tree, tree->abbrevs);
		return true;
	}
	if (dwarf_unit_init_at(u->info, u->off, &tree->unit)) {
		tree->unit.info = NULL;
		return false;
	}
	dwarf_unit_read_root(&tree->unit, t->rd);
	abbrevs = dwarf_unit_abbrevs(&tree->unit, t->rd);
	if (!abbrevs ||
	    dwarf_section_read(&u->info->file->sections[DWARF_INFO], u->off, u->bytes,
			       &tree->bytes, &tree->cap, &bytes)) {
		tree->unit.info = NULL;
		return false;
	}
	tree->c = cursor_of(bytes, (size_t)u->bytes, u->info->file->elf.swap);
	tree->c.pos = u->dies;
	/* In a damaged unit, use the entries before the error. */
	(void)dwarf_tree_list(tree, abbrevs);
	return true;
}

static bool is_in_unit(const struct dwarf_unit *u, struct dwarf_place place)
{
	return u->info && u->info == place.info && place.off >= u->off &&
	       place.off - u->off < u->bytes;
}

static struct dwarf_tree *trees_find(struct dwarf_trees *t, struct dwarf_place place)
{
	const struct dwarf_unit *u = t->open->unit;
	struct dwarf_tree *tree = &t->trees[0];

	if (!is_in_unit(u, place))
		u = place.info ? dwarf_info_unit_at(place.info, place.off) : NULL;
	if (!u)
		return NULL;
	for (size_t i = 0; i < DWARF_TREES; i++) {
		if (is_in_unit(&t->trees[i].unit, place)) {
			t->trees[i].used = ++t->clock;
			return &t->trees[i];
		}
	}
	for (size_t i = 1; u != t->open->unit && i < DWARF_TREES; i++)
		if (tree == &t->trees[0] || t->trees[i].used < tree->used)
			tree = &t->trees[i];
	if (!dwarf_tree_load(t, tree, u))
		return NULL;
	tree->used = ++t->clock;
	return tree;
}

/* ---- an entry ---- */

static struct dwarf_place dwarf_tree_place_of(const struct dwarf_unit *u,
					      struct dwarf_value v)
{
	if (v.kind == DWARF_VALUE_REF)
		return (struct dwarf_place){ u->info, v.v };
	if (v.kind == DWARF_VALUE_ALT_REF)
		return (struct dwarf_place){ u->info->alt, v.v };
	/* The entry is in a type unit, which is not read. */
	return (struct dwarf_place){ u->info, DWARF_ELSEWHERE };
}

static void dwarf_die_take(struct dwarf_die *die, uint16_t at, struct dwarf_value v)
{
	const struct dwarf_unit *u = &die->tree->unit;

	switch (at) {
	case DW_AT_name:
		die->name = v;
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage:
		die->linkage = v;
		break;
	case DW_AT_type:
		die->type = dwarf_tree_place_of(u, v);
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		die->origin = dwarf_tree_place_of(u, v);
		break;
	case DW_AT_external:
		die->external = v.v != 0;
		break;
	case DW_AT_artificial:
		die->artificial = v.v != 0;
		break;
	case DW_AT_decl_line:
		die->decl_line = (uint32_t)v.v;
		break;
	case DW_AT_decl_column:
		die->decl_column = (uint32_t)v.v;
		break;
	default:
		break;
	}
}

static const struct dwarf_abbrevs *trees_abbrevs(struct dwarf_trees *t,
						 const struct dwarf_tree *tree)
{
	return tree == &t->trees[0] ? tree->abbrevs
				    : dwarf_unit_abbrevs(&tree->unit, t->rd);
}

bool dwarf_die_read(struct dwarf_trees *t, struct dwarf_place place,
		    struct dwarf_die *ret_die)
{
	struct dwarf_tree *tree = trees_find(t, place);
	const struct dwarf_abbrevs *abbrevs = tree ? trees_abbrevs(t, tree) : NULL;
	const struct dwarf_abbrev *a;
	struct dwarf_die die = { .tree = tree, .place = place };
	struct cursor c;

	if (!abbrevs || !trees_spend(t, STEP_COST))
		return false;
	c = tree->c;
	c.pos = (size_t)(place.off - tree->unit.off);
	a = dwarf_abbrevs_find(abbrevs, leb_u(&c));
	if (!a)
		return false;
	die.tag = a->tag;
	die.has_children = a->children;
	for (uint32_t i = 0; i < a->nr_attrs && !c.failed; i++) {
		const struct dwarf_attr *attr = &abbrevs->attrs.at[a->first_attr + i];

		dwarf_die_take(&die, attr->at,
			       dwarf_value_read(&tree->unit, &c, tree->unit.off, attr));
	}
	die.end = c.pos;
	if (c.failed)
		return false;
	*ret_die = die;
	return true;
}

/* Returns the position after an entry with its children, or 0. */
static size_t dwarf_tree_skip(struct dwarf_trees *t, const struct dwarf_tree *tree,
			      size_t pos)
{
	const struct dwarf_abbrevs *abbrevs = trees_abbrevs(t, tree);
	struct cursor c = tree->c;
	unsigned int depth = 0;

	if (!abbrevs)
		return 0;
	c.pos = pos;
	do {
		uint64_t code = leb_u(&c);
		const struct dwarf_abbrev *a = dwarf_abbrevs_find(abbrevs, code);

		if (c.failed || (code && !a) || !trees_spend(t, STEP_COST))
			return 0;
		if (!code)
			depth--;
		else
			depth += dwarf_tree_pass(tree, abbrevs, a, &c);
	} while (depth);
	return c.failed ? 0 : c.pos;
}

bool dwarf_die_child(struct dwarf_trees *t, const struct dwarf_die *die,
		     struct dwarf_place *last, struct dwarf_die *ret_child)
{
	struct dwarf_tree *tree = trees_find(t, die->place);
	size_t pos = die->end;

	if (!tree || !die->has_children)
		return false;
	if (last->info)
		pos = dwarf_tree_skip(t, tree, (size_t)(last->off - tree->unit.off));
	if (!pos || pos >= tree->c.len || !tree->c.data[pos])
		return false;
	*last = (struct dwarf_place){ die->place.info, tree->unit.off + pos };
	return dwarf_die_read(t, *last, ret_child);
}

/* ---- parents ---- */

/* Returns the last node at or before an offset, or DWARF_NO_NODE. */
static uint32_t dwarf_tree_node_before(const struct dwarf_tree *tree, uint64_t off)
{
	size_t low = 0;
	size_t high = tree->nodes.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (tree->nodes.at[mid].off <= off)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? (uint32_t)low - 1 : DWARF_NO_NODE;
}

/* Returns the node or, if it is a block, the innermost enclosing node that is not a block. */
static uint32_t dwarf_tree_no_block(const struct dwarf_tree *tree, uint32_t node)
{
	while (node != DWARF_NO_NODE &&
	       tree->nodes.at[node].tag == DW_TAG_lexical_block)
		node = tree->nodes.at[node].parent;
	return node;
}

static uint32_t dwarf_tree_parent_of(const struct dwarf_tree *tree, uint64_t off)
{
	uint32_t node = dwarf_tree_node_before(tree, off);

	if (node != DWARF_NO_NODE && tree->nodes.at[node].off == off)
		node = tree->nodes.at[node].parent;
	while (node != DWARF_NO_NODE && tree->nodes.at[node].end <= off)
		node = tree->nodes.at[node].parent;
	return dwarf_tree_no_block(tree, node);
}

struct dwarf_place dwarf_trees_parent(struct dwarf_trees *t, struct dwarf_place place)
{
	const struct dwarf_tree *tree = trees_find(t, place);
	struct dwarf_place none = { 0 };
	uint32_t node;

	if (!tree)
		return none;
	node = dwarf_tree_parent_of(tree, place.off - tree->unit.off);
	if (node == DWARF_NO_NODE)
		return none;
	return (struct dwarf_place){ place.info,
				     tree->unit.off + tree->nodes.at[node].off };
}

struct dwarf_place dwarf_trees_next_type(struct dwarf_trees *t,
					 struct dwarf_place parent,
					 struct dwarf_place in, struct dwarf_place last)
{
	const struct dwarf_tree *tree = trees_find(t, in);
	struct dwarf_place none = { 0 };
	uint32_t scope = DWARF_NO_NODE;
	uint32_t i = 0;

	if (!tree)
		return none;
	if (parent.info) {
		scope = dwarf_tree_node_before(tree, parent.off - tree->unit.off);
		i = scope + 1;
	}
	if (last.info)
		i = dwarf_tree_node_before(tree, last.off - tree->unit.off) + 1;
	for (; i < tree->nodes.nr && trees_spend(t, 1); i++) {
		const struct dwarf_node *node = &tree->nodes.at[i];

		if (scope != DWARF_NO_NODE && node->off >= tree->nodes.at[scope].end)
			break;
		if ((node->tag == DW_TAG_structure_type ||
		     node->tag == DW_TAG_class_type ||
		     node->tag == DW_TAG_union_type) &&
		    dwarf_tree_no_block(tree, node->parent) == scope)
			return (struct dwarf_place){ in.info,
						     tree->unit.off + node->off };
	}
	return none;
}
