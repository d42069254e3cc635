#include "tools/report/rules.h"

#include <errno.h>
#include <string.h>

#include "aggregate/count/classes.h"
#include "base/array.h"
#include "base/err.h"
#include "tools/report/plan.h"

enum {
	MAX_STACK = 1 << 20 /* no stack is that deep */
};

static int meaningless(struct err *err, const char *option, const char *without)
{
	return err_set(err, -EINVAL, "%s is meaningless without %s", option, without);
}

/* What OProfile's XML has no place for. */
static int check_xml(const struct report_options *o, struct err *err)
{
	const struct {
		bool given;
		const char *name;
	} rows[] = {
		{ o->csv, "--csv" },
		{ o->json, "--json" },
		{ o->by, "--by" },
		{ o->tree, "--tree" },
		{ o->accumulated, "--accumulated" },
		{ o->global_percent, "--global-percent" },
		{ o->ratios.values.nr, "--ratio" },
		{ o->children, "--children" },
		{ o->focus, "--focus" },
		{ o->total_period, "--show-total-period" },
		{ o->quality, "--quality" },
	};

	for (size_t i = 0; o->xml && i < COUNT_OF(rows); i++)
		if (rows[i].given)
			return err_set(err, -EINVAL, "%s is incompatible with --xml",
				       rows[i].name);
	return 0;
}

static int check_forms(const struct report_options *o, struct err *err)
{
	if (o->csv && o->json)
		return err_set(err, -EINVAL, "--csv and --json: give one of them");
	if (o->callgraph && o->details)
		return err_set(err, -EINVAL,
			       "--callgraph is incompatible with --details");
	if (o->by && (o->callgraph || o->tree))
		return err_set(err, -EINVAL, "%s and --by: give one of them",
			       o->tree ? "--tree" : "--callgraph");
	if (o->tree && (o->callgraph || o->symbols || o->details))
		return err_set(err, -EINVAL, "--tree and %s: give one of them",
			       o->callgraph ? "--callgraph"
			       : o->details ? "--details"
					    : "--symbols");
	if (!o->by || !(o->symbols || o->details))
		return 0;
	return err_set(
		err, -EINVAL, "%s and --by: give one of them (--by image,symbol%s)",
		o->details ? "--details" : "--symbols", o->details ? ",address" : "");
}

/* What needs functions to be about. */
static int check_symbols(const struct report_plan *plan, struct err *err)
{
	const struct report_options *o = &plan->options;
	bool by_symbol = o->by && keys_find(&plan->keys, KEY_SYMBOL) >= 0;

	if (o->symbols || o->details || o->callgraph)
		return 0;
	if (o->show_address)
		return meaningless(err, "--show-address", "--symbols");
	if (o->accumulated)
		return meaningless(err, "--accumulated", "--symbols");
	if (o->debug_info)
		return meaningless(err, "--debug-info", "--symbols");
	if (o->total_period && !o->by && !o->csv && !o->json)
		return meaningless(err, "--show-total-period", "--by or --symbols");
	if (plan->symbols.excluded.nr && !by_symbol)
		return meaningless(err, "--exclude-symbols", "--symbols");
	if (plan->symbols.included.nr && !by_symbol)
		return meaningless(err, "--include-symbols", "--symbols");
	if (order_has(&plan->present.order, ORDER_VMA))
		return meaningless(err, "--sort=vma", "--symbols");
	return 0;
}

/* What the text layouts have and exports do not. */
static int check_exports(const struct report_options *o, struct err *err)
{
	const struct {
		bool given;
		const char *name;
		const char *hint;
	} rows[] = {
		{ o->show_address, "--show-address", " (there is --by address)" },
		{ o->accumulated, "--accumulated", "" },
		{ o->global_percent, "--global-percent", "" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (rows[i].given)
			return err_set(err, -EINVAL, "%s is meaningless with %s%s",
				       rows[i].name, o->csv ? "--csv" : "--json",
				       rows[i].hint);
	}
	return 0;
}

static int check_percent(const struct report_options *o, struct err *err)
{
	if (!o->global_percent || o->details || o->callgraph)
		return 0;
	if (o->symbols)
		return err_set(
			err, -EINVAL,
			"--global-percent is meaningless with --symbols and without --details or --callgraph");
	if (o->by)
		return err_set(err, -EINVAL,
			       "--global-percent is meaningless with --by");
	return 0;
}

static int check_merge(const struct report_plan *plan, struct err *err)
{
	const struct report_options *o = &plan->options;

	if (plan->merge & MERGE_LIB_BY_NAME && o->exclude_dependent)
		return err_set(err, -EINVAL,
			       "--merge=lib is meaningless with --exclude-dependent");
	if (o->by && (o->separate_thread || o->separate_cpu))
		return err_set(
			err, -EINVAL,
			"%s is meaningless with --by: give the keys themselves (%s)",
			o->separate_thread ? "--separate-thread" : "--separate-cpu",
			o->separate_thread ? "pid,tid" : "cpu");
	return 0;
}

/* A report of keys can be ordered by those that it has. */
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

/* What has to do with call stacks. */
static int check_calls(const struct report_options *o, const struct key_list *keys,
		       struct err *err)
{
	bool stacks = o->callgraph || o->tree || o->children ||
		      keys_find(keys, KEY_STACK) >= 0;

	if (o->tree && *o->tree && strcmp(o->tree, "callees") != 0 &&
	    strcmp(o->tree, "callers") != 0)
		return err_set(err, -EINVAL, "--tree=%s: callees or callers", o->tree);
	if (!o->callgraph && (o->numbered || o->no_empty_self))
		return meaningless(err, o->numbered ? "--numbered" : "--no-empty-self",
				   "--callgraph");
	if (o->focus && !o->callgraph && !o->tree)
		return meaningless(err, "--focus", "--tree or --callgraph");
	if (o->max_stack && !stacks)
		return meaningless(err, "--max-stack",
				   "--tree, --callgraph, --children or --by stack");
	if (o->inlined && !stacks)
		return meaningless(err, "--inline",
				   "--tree, --callgraph, --children or --by stack");
	if (o->inlined && o->no_inline)
		return err_set(err, -EINVAL,
			       "--inline and --no-inline: give one of them");
	if (o->max_stack > MAX_STACK)
		return err_set(err, -EINVAL, "--max-stack: %d at most", MAX_STACK);
	return 0;
}

/* Which keys say something of a function that only called others. */
static int check_children(const struct report_options *o, const struct key_list *keys,
			  struct err *err)
{
	static const enum key_id of_samples[] = { KEY_ADDRESS, KEY_LINE, KEY_FILE,
						  KEY_INLINE, KEY_STACK };

	if (!o->children)
		return 0;
	if (o->callgraph || o->tree)
		return err_set(err, -EINVAL, "--children is meaningless with %s",
			       o->tree ? "--tree" : "--callgraph");
	if (o->details || (!o->by && !o->symbols))
		return meaningless(err, "--children",
				   o->details ? "--by, or --symbols alone"
					      : "--by or --symbols");
	for (size_t i = 0; i < COUNT_OF(of_samples); i++) {
		int at = keys_find(keys, of_samples[i]);

		if (at >= 0)
			return err_set(
				err, -EINVAL,
				"--children: %s is no key of functions, of which there are image, symbol, origin, function-line",
				keys->keys.at[at].typed);
	}
	return 0;
}

static int check_ratios(const struct report_options *o, struct err *err)
{
	if (!o->ratios.values.nr || !(o->callgraph || o->tree))
		return 0;
	return err_set(err, -EINVAL, "--ratio is meaningless with %s",
		       o->callgraph ? "--callgraph" : "--tree");
}

/* A tree has columns of its own. */
static int check_tree(const struct report_plan *plan, struct err *err)
{
	const struct report_options *o = &plan->options;
	const struct {
		bool given;
		const char *name;
	} rows[] = {
		{ o->global_percent, "--global-percent" },
		{ o->quality, "--quality" },
		{ o->total_period, "--show-total-period" },
		{ o->reverse, "--reverse-sort" },
		{ plan->present.order.nr > 0, "--sort" },
	};

	for (size_t i = 0; o->tree && i < COUNT_OF(rows); i++)
		if (rows[i].given)
			return err_set(err, -EINVAL, "%s is meaningless with --tree",
				       rows[i].name);
	return 0;
}

int report_rules_check(const struct report_plan *plan, struct err *err)
{
	const struct report_options *o = &plan->options;
	int r = check_xml(o, err);

	if (!r)
		r = check_forms(o, err);

	if (!r)
		r = check_calls(o, &plan->keys, err);
	if (!r)
		r = check_children(o, &plan->keys, err);
	if (!r)
		r = check_tree(plan, err);
	if (!r)
		r = check_ratios(o, err);
	if (!r)
		r = check_symbols(plan, err);
	if (!r && (o->csv || o->json))
		r = check_exports(o, err);
	if (!r)
		r = check_percent(o, err);
	if (!r)
		r = check_merge(plan, err);
	return r ? r : check_order(plan, err);
}
