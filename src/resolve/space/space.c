/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/space/space.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct space_node {
	struct mapping m;
	struct space_node *left;
	struct space_node *right;
	/* If `priority` is RECENT, `right` is the mapping that was added before, and `left` is
	 * NULL. */
	uint32_t priority;
	uint32_t refs : 31;
	uint32_t is_visited : 1; /* see space_visit() */
};

static_assert(sizeof(struct space_node) == SPACE_NODE_BYTES || sizeof(void *) != 8,
	      "the size of a node is SPACE_NODE_BYTES");

enum {
	CHUNK_NODES = 1024,
	/* Nodes that are reserved before a change: a treap of a million mappings is about 50 deep,
	 * and a change splits twice and merges twice. */
	RESERVE_NODES = 768,
	/* Maximum length of the list before the treap. A mapping that replaces no other is
	 * first added to this list, which needs only one node per mapping. Most programs never
	 * fill the list, and so never need a treap. */
	RECENT_MAX = 16,
	RECENT = 0 /* mark of a list entry; treap nodes have other priorities */
};

struct chunk {
	struct chunk *next;
	struct space_node nodes[CHUNK_NODES];
};

void space_pool_init(struct space_pool *pool)
{
	*pool = (struct space_pool){ .random = 0x2545f4914f6cdd1dULL };
}

void space_pool_done(struct space_pool *pool)
{
	struct chunk *chunk = pool->chunks;

	while (chunk) {
		struct chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	space_pool_init(pool);
}

static int space_reserve(struct space_pool *pool)
{
	struct chunk *chunk;

	if (pool->nr_free >= RESERVE_NODES)
		return 0;
	chunk = malloc(sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	chunk->next = pool->chunks;
	pool->chunks = chunk;
	for (size_t i = 0; i < CHUNK_NODES; i++) {
		chunk->nodes[i].left = pool->free_nodes;
		pool->free_nodes = &chunk->nodes[i];
	}
	pool->nr_free += CHUNK_NODES;
	return 0;
}

static uint32_t next_random(struct space_pool *pool)
{
	pool->random ^= pool->random << 13;
	pool->random ^= pool->random >> 7;
	pool->random ^= pool->random << 17;
	return (uint32_t)(pool->random >> 32) | 1;
}

static void space_add_count(struct space_pool *pool, const struct mapping *m,
			    int change)
{
	if (m->counted && pool->count_image)
		pool->count_image(pool->ctx, m->image, change);
}

/* Takes over the references to `left` and `right`. */
static struct space_node *space_make(struct space_pool *pool, const struct mapping *m,
				     uint32_t priority, struct space_node *left,
				     struct space_node *right)
{
	struct space_node *n = pool->free_nodes;

	/* The path is longer than the reserve, which is extremely unlikely. If this allocation
	 * fails, the process aborts. */
	if (!n) {
		if (space_reserve(pool))
			abort();
		n = pool->free_nodes;
		assert(n);
	}
	pool->free_nodes = n->left;
	/* The next free node was possibly last used long ago, and is not in the CPU's cache. */
	if (n->left)
		__builtin_prefetch(n->left, 1);
	pool->nr_free--;
	pool->nr_used++;
	*n = (struct space_node){
		.m = *m, .left = left, .right = right, .priority = priority, .refs = 1
	};
	space_add_count(pool, m, 1);
	return n;
}

struct space_node *space_get(struct space_node *root)
{
	if (root)
		root->refs++;
	return root;
}

void space_put(struct space_pool *pool, struct space_node *root)
{
	while (root && !--root->refs) {
		struct space_node *right = root->right;

		space_put(pool, root->left);
		space_add_count(pool, &root->m, -1);
		root->left = pool->free_nodes;
		pool->free_nodes = root;
		pool->nr_free++;
		pool->nr_used--;
		root = right;
	}
}

static struct mapping space_part(const struct mapping *m, uint64_t start, uint64_t end)
{
	return (struct mapping){ .start = start,
				 .end = end,
				 .pgoff = m->pgoff + (start - m->start),
				 .image = m->image,
				 .counted = m->counted };
}

/* Splits into the mappings below `key` and those from it on; a mapping across it is cut in two. */
static void space_split(struct space_pool *pool, struct space_node *n, uint64_t key,
			struct space_node **ret_low, struct space_node **ret_high)
{
	struct space_node *inner;

	if (!n) {
		*ret_low = *ret_high = NULL;
	} else if (n->m.end <= key) {
		space_split(pool, n->right, key, &inner, ret_high);
		*ret_low =
			space_make(pool, &n->m, n->priority, space_get(n->left), inner);
	} else if (n->m.start >= key) {
		space_split(pool, n->left, key, ret_low, &inner);
		*ret_high = space_make(pool, &n->m, n->priority, inner,
				       space_get(n->right));
	} else {
		struct mapping low = space_part(&n->m, n->m.start, key);
		struct mapping high = space_part(&n->m, key, n->m.end);

		*ret_low =
			space_make(pool, &low, n->priority, space_get(n->left), NULL);
		*ret_high =
			space_make(pool, &high, n->priority, NULL, space_get(n->right));
	}
}

/* Merges two treaps. All of `low` is below all of `high`; both are borrowed. */
static struct space_node *space_merge(struct space_pool *pool, struct space_node *low,
				      struct space_node *high)
{
	if (!low)
		return space_get(high);
	if (!high)
		return space_get(low);
	if (low->priority > high->priority)
		return space_make(pool, &low->m, low->priority, space_get(low->left),
				  space_merge(pool, low->right, high));
	return space_make(pool, &high->m, high->priority,
			  space_merge(pool, low, high->left), space_get(high->right));
}

/* Returns whether the range of `m` is unmapped. *ret_nr_recent is the length of the list before
 * the treap. */
static bool is_free(const struct space_node *n, const struct mapping *m,
		    unsigned int *ret_nr_recent)
{
	*ret_nr_recent = 0;
	for (; n && n->priority == RECENT; n = n->right, (*ret_nr_recent)++)
		if (m->start < n->m.end && m->end > n->m.start)
			return false;
	while (n) {
		if (m->end <= n->m.start)
			n = n->left;
		else if (m->start >= n->m.end)
			n = n->right;
		else
			return false;
	}
	return true;
}

/* Inserts into unmapped memory: copies only the path down to the new node. */
static struct space_node *insert(struct space_pool *pool, struct space_node *n,
				 const struct mapping *m, uint32_t priority)
{
	struct space_node *low, *high;

	if (!n || n->priority < priority) {
		space_split(pool, n, m->start, &low, &high);
		return space_make(pool, m, priority, low, high);
	}
	if (m->start < n->m.start)
		return space_make(pool, &n->m, n->priority,
				  insert(pool, n->left, m, priority),
				  space_get(n->right));
	return space_make(pool, &n->m, n->priority, space_get(n->left),
			  insert(pool, n->right, m, priority));
}

/* Converts the list and the treap to a single treap. */
static struct space_node *treap_of(struct space_pool *pool, struct space_node *root)
{
	struct space_node *recent = root, *treap, *next;

	while (root && root->priority == RECENT)
		root = root->right;
	treap = space_get(root);
	for (; recent != root; recent = recent->right) {
		next = insert(pool, treap, &recent->m, next_random(pool));
		space_put(pool, treap);
		treap = next;
	}
	return treap;
}

int space_unmap(struct space_pool *pool, struct space_node *root, uint64_t start,
		uint64_t end, struct space_node **ret_root)
{
	struct space_node *treap, *low, *rest, *gone, *high;

	if (space_reserve(pool))
		return -ENOMEM;
	treap = treap_of(pool, root);
	space_split(pool, treap, start, &low, &rest);
	space_split(pool, rest, end, &gone, &high);
	*ret_root = space_merge(pool, low, high);
	space_put(pool, treap);
	space_put(pool, low);
	space_put(pool, rest);
	space_put(pool, gone);
	space_put(pool, high);
	return 0;
}

/* Replaces the mappings in the range of `m`. */
static struct space_node *replace(struct space_pool *pool, struct space_node *treap,
				  const struct mapping *m)
{
	struct space_node *low, *rest, *gone, *high, *with, *own, *root;

	space_split(pool, treap, m->start, &low, &rest);
	space_split(pool, rest, m->end, &gone, &high);
	own = space_make(pool, m, next_random(pool), NULL, NULL);
	with = space_merge(pool, low, own);
	root = space_merge(pool, with, high);
	space_put(pool, low);
	space_put(pool, rest);
	space_put(pool, gone);
	space_put(pool, high);
	space_put(pool, own);
	space_put(pool, with);
	return root;
}

int space_map(struct space_pool *pool, struct space_node *root, const struct mapping *m,
	      struct space_node **ret_root)
{
	unsigned int nr_recent;
	bool free = is_free(root, m, &nr_recent);
	struct space_node *treap;

	if (space_reserve(pool))
		return -ENOMEM;
	if (free && nr_recent < RECENT_MAX) {
		*ret_root = space_make(pool, m, RECENT, NULL, space_get(root));
		return 0;
	}
	treap = treap_of(pool, root);
	*ret_root = free ? insert(pool, treap, m, next_random(pool))
			 : replace(pool, treap, m);
	space_put(pool, treap);
	return 0;
}

const struct mapping *space_find(const struct space_node *root, uint64_t address)
{
	const struct space_node *n = root;

	for (; n && n->priority == RECENT; n = n->right)
		if (address >= n->m.start && address < n->m.end)
			return &n->m;
	while (n) {
		if (address < n->m.start)
			n = n->left;
		else if (address >= n->m.end)
			n = n->right;
		else
			return &n->m;
	}
	return NULL;
}

/* Removes the mapping `m` from a hole around `address`. Returns true if `m` covers the address. */
static bool cut_hole(struct space_hole *hole, const struct mapping *m, uint64_t address)
{
	if (address >= m->end)
		hole->from = m->end > hole->from ? m->end : hole->from;
	else if (address < m->start)
		hole->to = m->start < hole->to ? m->start : hole->to;
	else
		return true;
	return false;
}

/* Finds the mapping of an address, or the hole around it. The mappings that are not on the path to
 * the address are farther away than those that are. */
const struct mapping *space_find_or_hole(const struct space_node *root,
					 uint64_t address, struct space_hole *ret_hole)
{
	struct space_hole hole = { 0, UINT64_MAX };
	const struct space_node *n = root;

	while (n) {
		if (cut_hole(&hole, &n->m, address))
			return &n->m;
		n = n->priority != RECENT && address < n->m.start ? n->left : n->right;
	}
	*ret_hole = hole;
	return NULL;
}

size_t space_count(const struct space_node *root)
{
	return root ? 1 + space_count(root->left) + space_count(root->right) : 0;
}

void space_visit(struct space_node *root,
		 void (*visit)(void *ctx, const struct mapping *m), void *ctx)
{
	/* If a node was visited, all nodes below it were also visited. */
	for (; root && !root->is_visited; root = root->right) {
		root->is_visited = true;
		visit(ctx, &root->m);
		space_visit(root->left, visit, ctx);
	}
}

void space_end_visit(struct space_node *root)
{
	for (; root && root->is_visited; root = root->right) {
		root->is_visited = false;
		space_end_visit(root->left);
	}
}
