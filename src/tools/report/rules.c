/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/report/rules.h"

#include <errno.h>
#include <string.h>

#include "aggregate/count/classes.h"
#include "base/array.h"
#include "base/err.h"
#include "tools/report/plan.h"

enum {
	MAX_STACK = 1 << 20 /* deeper than any stack */
};

static int meaningless(struct err *err, const char *option, const char *without)
{
	return err_set(err, -EINVAL, "%s is meaningless without %s", option, without);
}

/* Checks options that require functions. */
static int check_symbols(const struct report_plan *plan, struct err *err)
{
	const struct report_options *o = &plan->options;
	bool by_symbol = o->by && keys_find(&plan->keys, KEY_SYMBOL) >= 0;

	if (o->symbols || o->details || o->callgraph)
		return 0;
	if (plan->symbols.excluded.nr && !by_symbol)
		return meaningless(err, "--exclude-symbols", "--symbols");
	if (plan->symbols.included.nr && !by_symbol)
		return meaningless(err, "--include-symbols", "--symbols");
	if (order_has(&plan->present.order, ORDER_VMA))
		return meaningless(err, "--sort=vma", "--symbols");
	return 0;
}

static int check_percent(const struct report_options *o, struct err *err)
{
	if (!o->global_percent || !o->symbols || o->details || o->callgraph)
		return 0;
	return err_set(
		err, -EINVAL,
		"--global-percent is meaningless with --symbols and without --details or --callgraph");
}

static int check_merge(const struct report_plan *plan, struct err *err)
{
	const struct report_options *o = &plan->options;

	if (plan->merge & MERGE_LIB_BY_NAME && o->exclude_dependent)
		return err_set(err, -EINVAL,
			       "--merge=lib is meaningless with --exclude-dependent");
	return 0;
}

/* Checks --sort: a report with --by can only be sorted by its keys. */
static int check_order(const struct report_plan *plan, struct err *err)
{
	const struct report_options *o = &plan->options;
	const struct order *order = &plan->present.order;

	if (!o->by && !o->csv && !o->json)
		return 0;
	for (size_t i = 0; i < order->nr; i++) {
		enum order_key key = order->keys[i];
		enum key_id id = order_key_id(key);

		if (key == ORDER_SAMPLE)
			continue;
		if (key == ORDER_VMA || (key == ORDER_DEBUG && o->by))
			return err_set(err, -EINVAL, "--sort=%s is meaningless with %s",
				       order_key_name(key),
				       o->csv    ? "--csv"
				       : o->json ? "--json"
						 : "--by");
		if (o->by && keys_find(&plan->keys, id) < 0)
			return err_set(err, -EINVAL,
				       "--sort=%s: it is not among the keys of --by",
				       order_key_name(key));
	}
	return 0;
}

/* Checks options that concern call stacks. */
static int check_calls(const struct report_options *o, const struct key_list *keys,
		       struct err *err)
{
	bool stacks = o->callgraph || o->tree || o->children ||
		      keys_find(keys, KEY_STACK) >= 0;

	if (o->tree && *o->tree && strcmp(o->tree, "callees") != 0 &&
	    strcmp(o->tree, "callers") != 0)
		return err_set(err, -EINVAL, "--tree=%s: expected callees or callers",
			       o->tree);
	if (o->max_stack && !stacks)
		return meaningless(err, "--max-stack",
				   "--tree, --callgraph, --children or --by stack");
	if (o->inlined && !stacks)
		return meaningless(err, "--inline",
				   "--tree, --callgraph, --children or --by stack");
	if (o->max_stack > MAX_STACK)
		return err_set(err, -EINVAL,
			       "--max-stack: value too large: maximum is %d",
			       MAX_STACK);
	return 0;
}

/* Checks the keys of --children. Rejects those that have no value for a function without samples
 * that only called others. */
static int check_children(const struct report_options *o, const struct key_list *keys,
			  struct err *err)
{
	static const enum key_id of_samples[] = { KEY_ADDRESS, KEY_LINE, KEY_FILE,
						  KEY_INLINE, KEY_STACK };

	if (!o->children)
		return 0;
	for (size_t i = 0; i < COUNT_OF(of_samples); i++) {
		int at = keys_find(keys, of_samples[i]);

		if (at >= 0)
			return err_set(
				err, -EINVAL,
				"--children: %s is not a key of functions: use image, symbol, origin, function-line",
				keys->keys.at[at].typed);
	}
	return 0;
}

int report_rules_check(const struct report_plan *plan, struct err *err)
{
	const struct report_options *o = &plan->options;
	int r = check_calls(o, &plan->keys, err);

	if (!r)
		r = check_children(o, &plan->keys, err);
	if (!r)
		r = check_symbols(plan, err);
	if (!r)
		r = check_percent(o, err);
	if (!r)
		r = check_merge(plan, err);
	return r ? r : check_order(plan, err);
}
