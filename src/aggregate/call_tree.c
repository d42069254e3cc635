#include "aggregate/call_tree.h"

#include <string.h>

#include "aggregate/view.h"

static int make_roots(struct call_tree *t)
{
	const struct call_node root = { .function = DICT_NONE };

	while (t->nodes.nr < CALL_FIRST)
		if (!vec_push(&t->nodes, root))
			return -1;
	return 0;
}

uint32_t call_tree_node(struct call_tree *t, uint32_t caller, uint32_t function)
{
	struct map_slot *slot;
	bool is_new;

	if (make_roots(t))
		return DICT_NONE;
	slot = map_at(&t->by, caller, function, &is_new);
	if (!slot)
		return DICT_NONE;
	if (is_new) {
		if (!vec_push(&t->nodes, (struct call_node){ caller, function }))
			return DICT_NONE;
		slot->value_plus_1 = (uint32_t)t->nodes.nr;
	}
	return slot->value_plus_1 - 1;
}

void call_tree_done(struct call_tree *t)
{
	vec_done(&t->nodes);
	map_done(&t->by);
}

/* ---- of stacks ---- */

static uint32_t parent_of(const struct dict *d, uint32_t stack)
{
	uint32_t parent =
		stack < d->stacks.nr ? d->stacks.at[stack].parent : STACK_ROOT;

	/* Callers come before callees: a dict that says otherwise is damaged. */
	return parent < stack ? parent : STACK_ROOT;
}

/* Whether the frame of a stack is the kernel's. */
static bool in_kernel(const struct dict *d, uint32_t stack)
{
	uint32_t at = stack < d->stacks.nr ? d->stacks.at[stack].frame : DICT_NONE;

	return at < d->frames.nr && d->frames.at[at].image < d->images.nr &&
	       image_is_kernel(&d->images.at[d->frames.at[at].image]);
}

/* The function at a frame, or just before it. */
static uint32_t function_at(struct profile *p, struct view *v, uint32_t at, bool before)
{
	const struct dict *d = v->source.dict;
	const struct frame *f = at < d->frames.nr ? &d->frames.at[at] : NULL;

	if (!f)
		return view_function(p, v, DICT_NONE, 0);
	return view_function(p, v, f->image, f->offset - (before && f->offset));
}

/* The function of a frame that called another one.  A return address may be the first one
 * behind its function, which ended with the call.  In the kernel it is taken as it is: an
 * interrupt may have come at the first instruction of a function, and nothing tells. */
static uint32_t caller_function(struct profile *p, struct view *v, uint32_t stack)
{
	uint32_t at = v->source.dict->stacks.at[stack].frame;
	uint32_t *known = at < v->nr_callers_of ? &v->caller_of[at] : NULL;

	if (!known || *known == VIEW_UNSET) {
		uint32_t function =
			function_at(p, v, at, !in_kernel(v->source.dict, stack));

		if (!known)
			return function;
		*known = function;
	}
	return *known;
}

/* What the kernel interrupted stands where it stood: `stack` is of user space, and `callee`
 * (DICT_NONE: none) is not. */
static bool is_interrupted(const struct dict *d, uint32_t stack, uint32_t callee)
{
	return callee != DICT_NONE && in_kernel(d, callee) && !in_kernel(d, stack);
}

/* Puts the callers that are not known yet into v->path, up to one that is, whose node is
 * returned. */
static uint32_t find_known(struct view *v, uint32_t stack)
{
	const struct dict *d = v->source.dict;
	uint32_t callee = DICT_NONE;

	v->path.nr = 0;
	for (; stack >= STACK_FIRST && stack < d->stacks.nr;
	     stack = parent_of(d, stack)) {
		/* That is known as a caller. */
		if (v->node_of[stack] != VIEW_UNSET &&
		    !is_interrupted(d, stack, callee))
			return v->node_of[stack];
		if (!vec_push(&v->path, stack))
			return DICT_NONE;
		callee = stack;
	}
	return stack == STACK_TRUNCATED ? CALL_TRUNCATED : CALL_ROOT;
}

/* The node of a stack whose leaf called something. */
static uint32_t caller_node(struct profile *p, struct view *v, uint32_t stack)
{
	const struct dict *d = v->source.dict;
	uint32_t node = find_known(v, stack);

	for (size_t i = v->path.nr; i && node != DICT_NONE; i--) {
		uint32_t at = v->path.at[i - 1];
		/* What the kernel interrupted stands where it stood. */
		bool interrupted =
			i > 1 && !in_kernel(d, at) && in_kernel(d, v->path.at[i - 2]);
		uint32_t function =
			interrupted ? function_at(p, v, d->stacks.at[at].frame, false)
				    : caller_function(p, v, at);

		node = function == VIEW_UNSET
			       ? DICT_NONE
			       : call_tree_node(&p->calls, node, function);
		if (node != DICT_NONE && !interrupted)
			v->node_of[at] = node;
	}
	return node;
}

uint32_t call_tree_of_stack(struct profile *p, struct view *v, uint32_t stack)
{
	const struct dict *d = v->source.dict;
	uint32_t parent = parent_of(d, stack), caller, function;

	/* The first one of user space behind a leaf in the kernel: as in caller_node(). */
	if (parent >= STACK_FIRST && is_interrupted(d, parent, stack)) {
		caller = caller_node(p, v, parent_of(d, parent));
		function = function_at(p, v, d->stacks.at[parent].frame, false);
		if (caller != DICT_NONE && function != VIEW_UNSET)
			caller = call_tree_node(&p->calls, caller, function);
	} else {
		caller = caller_node(p, v, parent);
	}
	function = function_at(
		p, v, stack < d->stacks.nr ? d->stacks.at[stack].frame : DICT_NONE,
		false);
	if (caller == DICT_NONE || function == VIEW_UNSET)
		return DICT_NONE;
	return call_tree_node(&p->calls, caller, function);
}

/* ---- as text ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_clean(struct buf *b, const char *name)
{
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		buf_put_u8(b, c == ';' ? ':' : c < ' ' || c == 0x7f ? '?' : c);
	}
}

static void put_function(struct profile *p, struct buf *b, uint32_t function)
{
	const struct profile_function *f = &p->functions.at[function];
	const char *name;

	if (f->kind == FUNCTION_NAMED) {
		name = profile_function_name(p, function);
		put_clean(b, name ? name : "");
		return;
	}
	buf_put_u8(b, '[');
	put_clean(b, base_name(strtab_get(&p->strings, p->images.at[f->image].name)));
	buf_put_u8(b, ']');
}

const char *call_tree_text(struct profile *p, uint32_t node)
{
	const struct call_node *nodes = p->calls.nodes.at;
	struct buf *b = &p->call_texts[p->call_text ^= 1];

	p->path.nr = 0;
	buf_clear(b);
	for (; node >= CALL_FIRST && node < p->calls.nodes.nr;
	     node = nodes[node].caller)
		if (!vec_push(&p->path, nodes[node].function))
			return "";
	if (node == CALL_TRUNCATED)
		buf_put(b, "[truncated];", strlen("[truncated];"));
	for (size_t i = p->path.nr; i; i--) {
		put_function(p, b, p->path.at[i - 1]);
		if (i > 1)
			buf_put_u8(b, ';');
	}
	buf_put_u8(b, 0);
	return b->failed ? "" : (const char *)b->data;
}
