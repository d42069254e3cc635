/* SPDX-License-Identifier: GPL-2.0-or-later */
/* space.h - what is mapped where in one address space, as a persistent map.
 * Layer: resolve.  A space is a treap whose nodes are shared, and a list of what was mapped
 * since: changing it copies one path at most and leaves every older root as it was, so that a
 * fork child shares its parent's map and a sample can be looked up in the map of its own
 * moment (ARCHITECTURE.md, 4.1). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start;
	uint64_t end;   /* first address behind it */
	uint64_t pgoff; /* file offset of `start` */
	uint32_t image; /* number in the image table (resolve/replay/images.h) */
	bool counted;   /* the pool counts who refers to `image` */
};

struct space_node;

/* Where nodes come from; one for all spaces of a resolver. */
struct space_pool {
	struct space_node *free_nodes;
	void *chunks; /* for freeing all at the end */
	uint64_t random;
	size_t nr_free;
	size_t nr_used;
	/* Told of each node with a counted mapping that comes (+1) or goes (-1); or NULL. */
	void (*count_image)(void *ctx, uint32_t image, int change);
	void *ctx;
};

void space_pool_init(struct space_pool *pool);
void space_pool_done(struct space_pool *pool);

/* A root is NULL (nothing mapped) or a node that the holder has a reference to. */
struct space_node *space_get(struct space_node *root);
void space_put(struct space_pool *pool, struct space_node *root); /* NULL is fine */

/* A new root with [m->start, m->end) mapped as said, whatever was there before cut away;
 * `root` keeps its own reference.  0 or -ENOMEM. */
int space_map(struct space_pool *pool, struct space_node *root, const struct mapping *m,
	      struct space_node **ret_root);
/* The same without anything mapped in [start, end). */
int space_unmap(struct space_pool *pool, struct space_node *root, uint64_t start,
		uint64_t end, struct space_node **ret_root);
/* The mapping that covers `address`, or NULL.  Borrowed from the root. */
const struct mapping *space_find(const struct space_node *root, uint64_t address);
/* The same; `last` is what was found for another address of the same `root`, or NULL: the frames of a
 * stack are mostly in one binary. */
static inline const struct mapping *space_find_near(const struct space_node *root,
						    uint64_t address,
						    const struct mapping *last)
{
	return last && address >= last->start && address < last->end
		       ? last
		       : space_find(root, address);
}
/* The same; where there is none, what around the address is not mapped either. */
struct space_hole {
	uint64_t from;
	uint64_t to; /* first address behind it */
};
const struct mapping *space_find_or_hole(const struct space_node *root,
					 uint64_t address, struct space_hole *ret_hole);
size_t space_count(const struct space_node *root);
