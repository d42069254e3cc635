/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/array.h"
#include "base/comma.h"
#include "base/err.h"

/* By enum order_key. */
static const struct {
	const char *name;
	enum key_id key;
	enum tie_by by;
} rows[ORDER_KEY_COUNT] = {
	[ORDER_VMA] = { "vma", KEY_SYMBOL, TIE_BY_VMA },
	[ORDER_SAMPLE] = { "sample", KEY_ID_COUNT, TIE_BY_VALUE },
	[ORDER_SYMBOL] = { "symbol", KEY_SYMBOL, TIE_BY_VALUE },
	[ORDER_DEBUG] = { "debug", KEY_FUNCTION_LINE, TIE_BY_BASENAME },
	[ORDER_IMAGE] = { "image", KEY_IMAGE, TIE_BY_BASE },
	[ORDER_APP] = { "app-name", KEY_APP, TIE_BY_BASE },
};

enum key_id order_key_id(enum order_key key)
{
	return rows[key].key;
}

const char *order_key_name(enum order_key key)
{
	return rows[key].name;
}

bool order_has(const struct order *order, enum order_key key)
{
	for (size_t i = 0; i < order->nr; i++) {
		if (order->keys[i] == key)
			return true;
	}
	return false;
}

static void order_add(struct order *order, enum order_key key)
{
	if (!order_has(order, key))
		order->keys[order->nr++] = key;
}

/* Returns true if --by has the key. */
static bool is_group_key(const char *name, size_t len)
{
	for (const struct key_row *row = key_rows; row->name; row++) {
		if (!row->refusal && strlen(row->name) == len &&
		    !memcmp(row->name, name, len))
			return true;
	}
	return false;
}

/* Returns true if --by has all keys of a list.  Users of perf expect --sort to group. */
static bool is_group_list(const char *list)
{
	for (;; list++) {
		if (!is_group_key(list, strcspn(list, ":,")))
			return false;
		list += strcspn(list, ",");
		if (!*list)
			return true;
	}
}

static int unknown(const char *name, const char *list, struct err *err)
{
	if (is_group_key(name, strcspn(name, ":")))
		return err_set(err, -EINVAL,
			       "unknown sort option: %s (to group by it, use --by %s)",
			       name, is_group_list(list) ? list : name);
	return err_set(
		err, -EINVAL,
		"unknown sort option: %s (vma, sample, self, total, symbol, debug, image, app-name)",
		name);
}

static int parse_one(struct order *order, const char *name, const char *list,
		     struct err *err)
{
	const bool self = !strcmp(name, "self"), total = !strcmp(name, "total");

	if (self || total) {
		order->self |= self;
		order->total |= total;
		order_add(order, ORDER_SAMPLE);
		return 0;
	}
	for (enum order_key k = 0; k < ORDER_KEY_COUNT; k++) {
		if (strcmp(rows[k].name, name) != 0)
			continue;
		order_add(order, k);
		return 0;
	}
	return unknown(name, list, err);
}

int order_parse(struct order *order, const char *list, struct err *err)
{
	const char *all = list;

	while (list) {
		char *name = comma_next(&list);
		int r = name ? parse_one(order, name, all, err)
			     : err_set(err, -ENOMEM, "out of memory");

		free(name);
		if (r)
			return r;
	}
	return 0;
}

static void order_push(struct tie_keys *keys, int key, enum tie_by by)
{
	if (key >= 0)
		keys->at[keys->nr++] = (struct tie_key){ (size_t)key, by };
}

/* Merges two adjacent keys, a function's start address and its name, so that names are compared
 * only if two functions start at the same address. */
static void join_functions(struct tie_keys *keys)
{
	size_t nr = 0;

	for (size_t i = 0; i < keys->nr; i++) {
		struct tie_key k = keys->at[i];

		if (k.by == TIE_BY_VMA && i + 1 < keys->nr &&
		    keys->at[i + 1].key == k.key) {
			k.by = TIE_BY_FUNCTION;
			i++;
		}
		keys->at[nr++] = k;
	}
	keys->nr = nr;
}

/* Returns how a key of --sort is compared. */
static enum tie_by tie_of(const struct order *order, enum line_order usual,
			  enum order_key key)
{
	enum tie_by by = rows[key].by;

	if (by == TIE_BY_BASENAME && order->long_names)
		return TIE_BY_PLACE;
	return usual == LINES_BY_KEYS && by == TIE_BY_BASE ? TIE_BY_VALUE : by;
}

void order_resolve(const struct order *order, enum line_order usual,
		   unsigned int without, const struct profile *p,
		   struct tie_keys *before, struct tie_keys *after)
{
	/* OProfile's order of lines that the given keys do not distinguish. */
	static const enum order_key ties[] = { ORDER_SAMPLE, ORDER_IMAGE, ORDER_APP,
					       ORDER_SYMBOL, ORDER_VMA,   ORDER_DEBUG };
	const struct key_list *keys = p->options.keys;
	struct order all = *order;
	struct tie_keys *to = before;

	before->nr = after->nr = 0;
	order_add(&all, ORDER_SAMPLE);
	for (size_t i = 0; usual == LINES_BY_FUNCTION && i < COUNT_OF(ties); i++)
		order_add(&all, ties[i]);
	for (size_t i = 0; i < all.nr; i++) {
		enum order_key k = all.keys[i];

		if (k == ORDER_SAMPLE)
			to = after;
		else if (rows[k].key != KEY_ID_COUNT)
			order_push(to, keys_find(keys, rows[k].key),
				   tie_of(order, usual, k));
	}
	for (size_t k = 0; usual == LINES_BY_KEYS && k < p->nr_keys; k++) {
		enum key_id id = keys->keys.at[k].row->id;

		if (id != KEY_EVENT && !(without & 1u << id))
			order_push(after, (int)k, TIE_BY_VALUE);
	}
	join_functions(before);
	join_functions(after);
}
