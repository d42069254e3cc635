/* SPDX-License-Identifier: GPL-2.0-or-later */
/* space.h - the mappings of an address space, as a persistent map.
 * Layer: resolve. A space is a treap whose nodes are shared, preceded by a list of recent
 * mappings. A change copies at most one path and leaves all older roots unchanged, so that a
 * fork child shares its parent's map, and a sample can be looked up in the map at its time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start;
	uint64_t end;   /* first address after it */
	uint64_t pgoff; /* file offset of `start` */
	uint32_t image; /* index in the image table (resolve/replay/images.h) */
	bool counted;   /* the pool counts the references to `image` */
};

struct space_node;

enum {
	SPACE_NODE_BYTES = 56 /* of a node, and so of a mapping */
};

/* The allocator of nodes; one for all spaces of a resolver. */
struct space_pool {
	struct space_node *free_nodes;
	void *chunks; /* list of all chunks, to free them */
	uint64_t random;
	size_t nr_free;
	size_t nr_used;
	/* Called for each node with a counted mapping that is added (+1) or removed (-1); or
	 * NULL. */
	void (*count_image)(void *ctx, uint32_t image, int change);
	void *ctx;
};

void space_pool_init(struct space_pool *pool);
void space_pool_done(struct space_pool *pool);

/* Add and remove a reference. A root is NULL (nothing mapped), or a node to which its owner has a
 * reference. */
struct space_node *space_get(struct space_node *root);
void space_put(struct space_pool *pool, struct space_node *root); /* accepts NULL */

/* Makes a new root with [m->start, m->end) mapped as in `m`, and previous mappings there
 * removed. The reference to `root` is kept. Returns 0 or -ENOMEM. */
int space_map(struct space_pool *pool, struct space_node *root, const struct mapping *m,
	      struct space_node **ret_root);
/* Like space_map(), but unmaps [start, end). */
int space_unmap(struct space_pool *pool, struct space_node *root, uint64_t start,
		uint64_t end, struct space_node **ret_root);
/* Returns the mapping that covers `address`, or NULL. Borrowed from the root. */
const struct mapping *space_find(const struct space_node *root, uint64_t address);
/* Like space_find(), but first tries `last`, a previous result for the same `root`, or NULL: the
 * frames of a stack are mostly in one binary. */
static inline const struct mapping *space_find_near(const struct space_node *root,
						    uint64_t address,
						    const struct mapping *last)
{
	return last && address >= last->start && address < last->end
		       ? last
		       : space_find(root, address);
}
/* Like space_find(). If there is no mapping, *ret_hole is an unmapped range around the address. */
struct space_hole {
	uint64_t from;
	uint64_t to; /* first address after it */
};
const struct mapping *space_find_or_hole(const struct space_node *root,
					 uint64_t address, struct space_hole *ret_hole);
/* Returns the number of mappings. */
size_t space_count(const struct space_node *root);
/* Calls `visit` for each mapping whose node was not visited before, so that nodes that several
 * roots share are visited once. space_end_visit() of all these roots forgets the visits. */
void space_visit(struct space_node *root,
		 void (*visit)(void *ctx, const struct mapping *m), void *ctx);
void space_end_visit(struct space_node *root);
