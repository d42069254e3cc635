/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/export/afdo_tree.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int afdo_tree_init(struct afdo_tree *t)
{
	return strtab_init(&t->names);
}

void afdo_tree_done(struct afdo_tree *t)
{
	strtab_done(&t->names);
	vec_done(&t->nodes);
	vec_done(&t->spots);
	vec_done(&t->targets);
	map_done(&t->top_by);
	map_done(&t->node_by);
	map_done(&t->spot_by);
	map_done(&t->target_by);
}

bool afdo_tree_failed(const struct afdo_tree *t)
{
	return t->failed;
}

size_t afdo_tree_nr_functions(const struct afdo_tree *t)
{
	return t->top_by.nr;
}

/* ---- discriminators ---- */

/* Decodes a prefix-encoded number: see getUnsignedFromPrefixEncoding() of
 * llvm/IR/DebugInfoMetadata.h. */
static uint32_t prefixed(uint32_t d)
{
	if (d & 1)
		return 0;
	d >>= 1;
	return d & 0x20 ? (d >> 1 & 0xfe0) | (d & 0x1f) : d & 0x1f;
}

static uint32_t afdo_after_prefixed(uint32_t d)
{
	if (d & 1)
		return d >> 1;
	return d >> (d & 0x40 ? 14 : 7);
}

struct afdo_at afdo_at(uint32_t line, uint32_t discriminator)
{
	/* The compiler keeps this many bits. */
	return (struct afdo_at){ line & 0xffff, prefixed(discriminator) };
}

uint64_t afdo_copies(uint32_t discriminator)
{
	uint32_t copies = prefixed(afdo_after_prefixed(discriminator));

	return copies ? copies : 1;
}

/* ---- elements ---- */

/* Suffixes that optimizations append to a function's name. ".__uniq.HASH" is not one of them:
 * with -funique-internal-linkage-names it is part of the name that the compiler looks up in the
 * profile, and distinguishes static functions of several files. */
static const char *const endings[] = { ".llvm.",      ".part.", ".cold",
				       ".constprop.", ".isra.", ".lto_priv." };

static size_t plain_length(const char *symbol)
{
	size_t len = strlen(symbol);

	for (size_t i = 0; i < COUNT_OF(endings); i++) {
		const char *end = strstr(symbol + !!*symbol, endings[i]);

		if (end && (size_t)(end - symbol) < len)
			len = (size_t)(end - symbol);
	}
	return len;
}

/* Returns whether a name can be written: those that a reader would misparse cannot, because the
 * format has no quoting. */
static bool is_writable(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f)
			return false;
	return len && !isdigit((unsigned char)name[0]) && name[0] != '!' &&
	       !(len == 1 && name[0] == ':');
}

uint32_t afdo_tree_name(struct afdo_tree *t, const char *symbol)
{
	size_t len = plain_length(symbol);
	uint32_t name;

	if (!is_writable(symbol, len))
		return AFDO_NONE;
	name = strtab_add_len(&t->names, symbol, len);
	t->failed |= name == STRTAB_FAILED;
	return name == STRTAB_FAILED ? AFDO_NONE : name;
}

static uint64_t afdo_tree_key_of(struct afdo_at at)
{
	return (uint64_t)at.line << 32 | at.block;
}

/* Returns the number of the key, or the next one, `nr`, if it is new; AFDO_NONE if memory is
 * short. */
static uint32_t afdo_tree_number_of(struct afdo_tree *t, struct map *by, uint64_t a,
				    uint64_t b, size_t nr)
{
	bool is_new;
	struct map_slot *slot = map_at(by, a, b, &is_new);

	if (!slot) {
		t->failed = true;
		return AFDO_NONE;
	}
	if (is_new)
		slot->value_plus_1 = (uint32_t)nr + 1;
	return slot->value_plus_1 - 1;
}

uint32_t afdo_tree_node(struct afdo_tree *t, uint32_t parent, struct afdo_at call,
			uint32_t name)
{
	const struct afdo_node node = { .parent = parent, .name = name, .call = call };
	bool top = parent == AFDO_NONE;
	uint32_t at;

	if (!vec_grow(&t->nodes)) {
		t->failed = true;
		return AFDO_NONE;
	}
	at = afdo_tree_number_of(t, top ? &t->top_by : &t->node_by,
				 top ? name : (uint64_t)parent << 32 | name,
				 afdo_tree_key_of(call), t->nodes.nr);
	if (at == t->nodes.nr)
		t->nodes.at[t->nodes.nr++] = node;
	return at;
}

uint32_t afdo_tree_spot(struct afdo_tree *t, uint32_t node, struct afdo_at at)
{
	const struct afdo_spot spot = { .node = node, .at = at };
	uint32_t number;

	if (!vec_grow(&t->spots)) {
		t->failed = true;
		return AFDO_NONE;
	}
	number = afdo_tree_number_of(t, &t->spot_by, node, afdo_tree_key_of(at),
				     t->spots.nr);
	if (number == t->spots.nr)
		t->spots.at[t->spots.nr++] = spot;
	return number;
}

void afdo_tree_add(struct afdo_tree *t, uint32_t spot, uint64_t count)
{
	t->spots.at[spot].count += count;
}

void afdo_tree_most(struct afdo_tree *t, uint32_t spot, uint64_t count)
{
	if (t->spots.at[spot].most < count)
		t->spots.at[spot].most = count;
}

void afdo_tree_settle(struct afdo_tree *t)
{
	for (size_t i = 0; i < t->spots.nr; i++) {
		t->spots.at[i].count += t->spots.at[i].most;
		t->spots.at[i].most = 0;
	}
}

int afdo_tree_call(struct afdo_tree *t, uint32_t spot, uint32_t name, uint64_t count)
{
	const struct afdo_target target = { .spot = spot, .name = name };
	const struct afdo_at none = { 0 };
	uint32_t node = afdo_tree_node(t, AFDO_NONE, none, name);
	uint32_t at;

	if (node == AFDO_NONE || !vec_grow(&t->targets))
		return -ENOMEM;
	t->nodes.at[node].head += count;
	if (spot == AFDO_NONE)
		return 0;
	at = afdo_tree_number_of(t, &t->target_by, spot, name, t->targets.nr);
	if (at == AFDO_NONE)
		return -ENOMEM;
	if (at == t->targets.nr)
		t->targets.at[t->targets.nr++] = target;
	t->targets.at[at].count += count;
	return 0;
}
