/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.h - finds the parents of entries, for names that contain those of enclosing entries.
 * Layer: resolve. DWARF entries do not refer to their parents. So a tree lists the namespaces,
 * types, functions and blocks of a unit. Trees of other units are read on demand and cached. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "resolve/dwarf/unit.h"

enum {
	DWARF_TREES = 8,
	DWARF_NO_NODE = 0xffffffff
};

/* The offset of an entry in a type unit (DW_FORM_ref_sig8), which is not read. */
#define DWARF_ELSEWHERE UINT64_MAX

/* The location of an entry. `info` is NULL if no entry was found. */
struct dwarf_place {
	const struct dwarf_info *info;
	uint64_t off;
};

struct dwarf_node {
	uint32_t off; /* relative to the unit, like `end` */
	uint32_t end; /* after its last child */
	uint32_t parent;
	uint16_t tag;
};

struct dwarf_tree {
	struct dwarf_unit unit;
	struct cursor c;                     /* .data is the unit's header */
	const struct dwarf_abbrevs *abbrevs; /* NULL: those of the reader */
	uint8_t *bytes;
	size_t cap;
	uint64_t used;
	VEC(struct dwarf_node) nodes; /* by offset */
};

struct dwarf_trees {
	struct dwarf_reader *rd;
	struct dwarf_open_unit *open;
	struct dwarf_tree trees[DWARF_TREES]; /* [0]: the open unit */
	uint64_t clock;
	/* Limits the time that a damaged file can cost: a number of bytes that may still be
	 * read; each step costs some of them. */
	uint64_t budget;
};

/* The attributes of an entry. Values are valid until another entry is read. */
struct dwarf_die {
	const struct dwarf_tree *tree;
	struct dwarf_place place;
	uint16_t tag;
	bool has_children;
	bool external;
	bool artificial;
	struct dwarf_value name;
	struct dwarf_value linkage;
	struct dwarf_place type;
	struct dwarf_place origin; /* abstract origin or specification */
	uint32_t decl_line;
	uint32_t decl_column;
	size_t end; /* of its attributes in the unit */
};

/* Call before the other functions. `o` and `rd` must outlive `t`. */
void dwarf_trees_init(struct dwarf_trees *t, struct dwarf_open_unit *o,
		      struct dwarf_reader *rd);
void dwarf_trees_done(struct dwarf_trees *t);
/* Reads an entry. Returns false if it is damaged or the budget is exhausted. */
bool dwarf_die_read(struct dwarf_trees *t, struct dwarf_place place,
		    struct dwarf_die *ret_die);
/* Reads the child of `die` after *last, or the first one if last->info is NULL, and moves *last to
 * it. Returns false at the end. */
bool dwarf_die_child(struct dwarf_trees *t, const struct dwarf_die *die,
		     struct dwarf_place *last, struct dwarf_die *ret_child);
/* Returns the closest enclosing entry that is neither a lexical block nor the unit; if the
 * unit encloses it directly, `info` is NULL. */
struct dwarf_place dwarf_trees_parent(struct dwarf_trees *t, struct dwarf_place place);
/* Returns the struct, class or union after `last` (the first one if last.info is NULL) in the scope
 * `parent`, or in the unit's global scope if parent.info is NULL. `in` is any entry of the unit.
 * `info` of the result is NULL at the end. */
struct dwarf_place dwarf_trees_next_type(struct dwarf_trees *t,
					 struct dwarf_place parent,
					 struct dwarf_place in,
					 struct dwarf_place last);
