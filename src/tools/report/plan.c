/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/report/plan.h"
#include "archive/read/open.h"
#include "base/array.h"
#include "tools/caches/background.h"
#include "tools/cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregate/count/classes.h"
#include "base/comma.h"
#include "base/err.h"
#include "base/parse.h"
#include "recordings/locations.h"
#include "recordings/name_rules.h"
#include "recordings/outline.h"
#include "resolve/find/index_cache.h"
#include "resolve/symbolize/naming.h"
#include "resolve/symbols/name_patterns.h"
#include "tools/report/rules.h"
#include "tools/report/when.h"

/* Percentage: trees omit smaller shares unless --threshold is given, as in perf. */
static const double tree_threshold = 0.5;

static int choose_threshold(struct report_plan *plan, struct err *err)
{
	const char *text = plan->options.threshold;
	double *threshold = &plan->present.threshold;

	if (!text || (parse_double(text, threshold) && *threshold <= 100))
		return 0;
	return err_set(err, -EINVAL,
		       "illegal threshold value: %s allowed range: [0-100]", text);
}

/* Parses --verbose. Accepts OProfile's names; those without a meaning here have no effect. */
static int choose_verbose(struct report_plan *plan, struct err *err)
{
	static const struct {
		const char *name;
		unsigned int bits;
	} rows[] = {
		{ "all", VERBOSE_IMAGES | VERBOSE_STATS | VERBOSE_FILES },
		{ "debug", VERBOSE_IMAGES },
		{ "bfd", VERBOSE_IMAGES },
		{ "level1", 0 },
		{ "sfile", VERBOSE_FILES },
		{ "stats", VERBOSE_STATS },
		{ "xml", 0 },
		{ "arcs", 0 },
	};
	const size_t nr = COUNT_OF(rows);
	const char *list = plan->options.verbose;

	while (list) {
		char *name = comma_next(&list);
		size_t i = 0;
		int r = 0;

		while (name && i < nr && strcmp(rows[i].name, name) != 0)
			i++;
		if (!name)
			return err_set(err, -ENOMEM, "out of memory");
		if (i < nr)
			plan->verbose |= rows[i].bits;
		else
			r = err_set(err, -EINVAL, "unknown --verbose= options: %s",
				    name);
		free(name);
		if (r)
			return r;
	}
	return 0;
}

static int choose_demangling(struct report_plan *plan, struct err *err)
{
	const struct report_options *o = &plan->options;
	const char *how = o->demangle            ? o->demangle
			  : o->no_demangle       ? "none"
			  : o->smart_demangle    ? "smart"
			  : o->demangle_patterns ? "smart"
						 : "normal";
	bool smart = !strcmp(how, "smart");

	plan->profile.raw_names = !strcmp(how, "none");
	if (!smart && !plan->profile.raw_names && strcmp(how, "normal") != 0)
		return err_set(err, -EINVAL,
			       "invalid option --demangle=%s (none, normal, smart)",
			       how);
	if (!smart && o->demangle_patterns)
		return err_set(err, -EINVAL,
			       "--demangle-patterns is meaningless with --demangle=%s",
			       how);
	if (!smart)
		return 0;
	return name_rules_make(o->demangle_patterns, &plan->patterns, err);
}

/* Checks --sort. With total, requests inclusive sample counts, as --children does. */
static int choose_measure(struct report_plan *plan, struct err *err)
{
	const struct order *order = &plan->present.order;
	struct report_options *o = &plan->options;

	if (!order->total)
		return 0;
	if (order->self)
		return err_set(err, -EINVAL, "--sort: give self or total, not both");
	if (o->callgraph || o->details || o->confidence)
		return err_set(err, -EINVAL, "--sort=total is incompatible with %s",
			       o->callgraph ? "--callgraph"
			       : o->details ? "--details"
					    : "--confidence");
	if (!o->symbols && !o->by)
		return err_set(err, -EINVAL,
			       "--sort=total is meaningless without --symbols or --by");
	o->children = true;
	return 0;
}

/* Parses the options that may be given several times. */
static int choose_lists(struct report_plan *plan, struct err *err)
{
	const struct report_options *o = &plan->options;
	int r = 0;

	for (size_t i = 0; !r && i < o->sort.values.nr; i++)
		r = order_parse(&plan->present.order, o->sort.values.at[i], err);
	if (!r)
		r = choose_measure(plan, err);
	for (size_t i = 0; !r && i < o->merge.values.nr; i++)
		r = classes_parse_merge(o->merge.values.at[i], &plan->merge, err);
	if (r)
		return r;
	for (size_t i = 0; !r && i < o->exclude_symbols.values.nr; i++)
		r = symbol_filter_exclude(&plan->symbols,
					  o->exclude_symbols.values.at[i]);
	for (size_t i = 0; !r && i < o->include_symbols.values.nr; i++)
		r = symbol_filter_include(&plan->symbols,
					  o->include_symbols.values.at[i]);
	return r ? err_set(err, r, "out of memory") : 0;
}

/* Converts one of perf's options to an entry of the profile specification. */
static int add_option_word(struct spec *spec, const char *tag, const char *list,
			   struct err *err)
{
	char *word;
	int status;

	if (!list)
		return 0;
	if (asprintf(&word, "%s:%s", tag, list) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	status = spec_add(spec, word, err);
	free(word);
	return status;
}

static int add_option_words(struct report_plan *plan, struct err *err)
{
	const struct report_options *o = &plan->options;
	const struct {
		const char *tag;
		const char *list;
	} rows[] = {
		{ "lib-image", o->dsos }, { "comm", o->comms }, { "tgid", o->pids },
		{ "tid", o->tids },       { "cpu", o->cpus },   { "time", o->times },
	};
	char *spans = NULL;
	int r = report_when(o, &spans, err);

	if (!r)
		r = add_option_word(&plan->spec, "time", spans, err);
	free(spans);
	for (size_t i = 0; !r && i < COUNT_OF(rows); i++)
		r = add_option_word(&plan->spec, rows[i].tag, rows[i].list, err);
	return r;
}

/* Checks that the argument of --input names a source. */
static int check_input(const char *input, struct err *err)
{
	if (report_source_is(input))
		return 0;
	return err_set(err, -ENOENT, "--input: %s: %s", input,
		       access(input, F_OK) ? strerror(errno)
					   : "neither a session nor a perf.data");
}

static int report_plan_find_sources(struct report_plan *plan, char *const *words,
				    struct err *err)
{
	const char *input = plan->options.input;
	char *first = input ? strdup(input) : NULL;
	VEC(char *) all = { 0 };
	bool kept = !input || (first && vec_push(&all, first));
	int r = input ? check_input(input, err) : 0;

	plan->sources.trust = plan->profile.trust = report_trust(plan->options.force);
	plan->sources.root = plan->options.locations.root;
	for (; kept && *words; words++)
		kept = vec_push(&all, *words);
	if (!kept || !vec_push(&all, NULL))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = report_sources_find(plan->options.session_dir, all.at, &plan->spec,
					&plan->sources, err);
	free(first);
	vec_done(&all);
	return r;
}

static int report_plan_make_locations(struct report_plan *plan, struct err *err)
{
	struct location_options *from = &plan->options.locations;

	from->archive = archive_folder(plan->sources.archive);
	from->no_cache = plan->options.no_cache;
	return locations_make(from, &plan->locations, err);
}

/* Parses --separate, with the values of opcontrol. As OProfile's manual says, `all` only concerns
 * images here. */
static int choose_separate(struct report_plan *plan, struct err *err)
{
	static const struct {
		const char *word;
		unsigned int bits;
	} words[] = {
		{ "none", SEPARATE_WORD_NONE },
		{ "lib", SEPARATE_WORD_LIBRARY },
		{ "library", SEPARATE_WORD_LIBRARY },
		{ "kernel", SEPARATE_WORD_LIBRARY | SEPARATE_WORD_KERNEL },
		{ "all", SEPARATE_WORD_LIBRARY | SEPARATE_WORD_KERNEL },
		{ "thread", SEPARATE_WORD_THREAD },
		{ "cpu", SEPARATE_WORD_CPU },
	};
	const struct word_list *lists = &plan->options.separate;

	for (size_t l = 0; l < lists->values.nr; l++) {
		for (const char *list = lists->values.at[l]; list;) {
			char *word = comma_next(&list);
			size_t i = 0;

			while (word && i < COUNT_OF(words) &&
			       strcmp(words[i].word, word) != 0)
				i++;
			if (word && i == COUNT_OF(words))
				err_set(err, -EINVAL,
					"--separate: unknown value '%s': expected none, lib, library, kernel, thread, cpu or all",
					word);
			free(word);
			if (!word)
				return err_set(err, -ENOMEM, "out of memory");
			if (i == COUNT_OF(words))
				return -EINVAL;
			plan->separate |= words[i].bits;
		}
	}
	plan->options.separate_thread |= plan->separate & SEPARATE_WORD_THREAD;
	plan->options.separate_cpu |= plan->separate & SEPARATE_WORD_CPU;
	return 0;
}

/* Returns which images to show below applications: those that --separate selects or, in OProfile's
 * layouts, those that the recording selected. */
static enum profile_separation separation_of(const struct report_plan *plan,
					     uint32_t session_flags)
{
	const struct report_options *o = &plan->options;
	bool given = plan->separate & SEPARATE_WORDS_OF_IMAGES;
	bool flat_libraries = given ? !(plan->separate & SEPARATE_WORD_LIBRARY)
				    : session_flags & SESSION_FLAT_LIBRARIES;
	bool flat_kernel = given ? !(plan->separate & SEPARATE_WORD_KERNEL)
				 : session_flags & SESSION_FLAT_KERNEL;

	if (!given && (o->by || o->csv || o->json || o->tree))
		return PROFILE_SEPARATE_KERNEL;
	return flat_libraries ? PROFILE_SEPARATE_NONE
	       : flat_kernel  ? PROFILE_SEPARATE_LIBRARY
			      : PROFILE_SEPARATE_KERNEL;
}

/* Returns the flags of the recording. If it separates both threads and CPUs, which is more than a
 * text report can print, removes both flags, unless --merge says what to merge. Prints a message
 * then, unless an option separates one of them. */
static uint32_t without_many_axes(const struct report_plan *plan,
				  uint32_t session_flags)
{
	const uint32_t both = SESSION_SEPARATE_THREAD | SESSION_SEPARATE_CPU;
	const struct report_options *o = &plan->options;

	if ((session_flags & both) != both || o->xml)
		return session_flags;
	if (!o->separate_thread && !o->separate_cpu && !plan->merge)
		fprintf(stderr,
			"%s: threads and CPUs are summed up: --separate-thread or --separate-cpu shows them\n",
			command_name());
	return plan->merge ? session_flags : session_flags & ~both;
}

/* Chooses the keys of the rows and columns of OProfile's layouts. */
static int choose_layout_keys(struct report_plan *plan, struct err *err)
{
	const struct report_options *o = &plan->options;
	bool functions = o->symbols || o->details || o->callgraph;
	bool lines = o->debug_info || order_has(&plan->present.order, ORDER_DEBUG);
	unsigned int kept;
	uint32_t flags;
	char keys[96];
	int r;

	plan->profile.separation = separation_of(plan, 0);
	if (o->tree)
		return keys_parse(&plan->keys, "image,symbol", err);
	r = report_sources_flags(&plan->sources, &flags, err);
	if (r)
		return r;
	plan->profile.separation = separation_of(plan, flags);
	flags = without_many_axes(plan, flags);
	kept = classes_kept(flags, o->separate_thread, o->separate_cpu, plan->merge);
	plan->present.kept = kept;
	snprintf(keys, sizeof(keys), "app,image%s%s%s%s%s%s%s",
		 functions ? ",symbol" : "", functions && lines ? ",function-line" : "",
		 o->details ? ",address" : "",
		 o->details && o->debug_info ? ",line" : "",
		 kept & KEEP_TGID ? ",tgid" : "", kept & KEEP_TID ? ",tid" : "",
		 kept & KEEP_CPU ? ",cpu" : "");
	return keys_parse(&plan->keys, keys, err);
}

static void choose_lines(struct report_plan *plan)
{
	if (!plan->options.no_cache)
		plan->cache_dir = index_cache_dir();
	plan->lines = (struct lines_options){
		.cache_dir = plan->cache_dir,
		.threads = plan->profile.threads,
		.symbols = true,
		.later = &plan->later,
	};
}

static int choose_confidence(struct report_plan *plan, struct err *err)
{
	static const double usual = 95, least = 50, most = 99.999;
	const char *text = plan->options.confidence;
	double *level = &plan->present.confidence;

	if (!text)
		return 0;
	*level = usual;
	if (*text && (!parse_double(text, level) || *level < least || *level > most))
		return err_set(
			err, -EINVAL,
			"--confidence: illegal value '%s': give a percentage from 50 to 99.999",
			text);
	if (keys_find(&plan->keys, KEY_TIME) >= 0)
		return err_set(
			err, -EINVAL,
			"--confidence cannot be combined with --by time: intervals are made from blocks of time");
	return 0;
}

/* Adds the keys that divide the recordings into blocks of time. */
static int add_blocks(struct report_plan *plan, struct err *err)
{
	const bool has_session = keys_find(&plan->keys, KEY_SESSION) >= 0;
	uint64_t *width;
	int r;

	plan->nr_keys = plan->keys.keys.nr;
	r = keys_parse(&plan->keys, has_session ? "time:1s" : "session,time:1s", err);
	if (r)
		return r;
	width = &plan->keys.keys.at[plan->keys.keys.nr - 1].width_ns;
	return recordings_block_width(&plan->sources, width, err);
}

static const char *writer_name(const struct report_options *o)
{
	if (o->quality_alone)
		return o->json ? "quality-json" : "quality";
	if (o->xml)
		return "xml";
	if (o->tree)
		return o->csv ? "tree-csv" : o->json ? "tree-json" : "tree";
	if (o->callgraph)
		return o->csv ? "calls-csv" : o->json ? "calls-json" : "calls";
	if (o->csv || o->json)
		return o->csv ? "csv" : "json";
	if (o->by)
		return "table";
	return o->symbols || o->details ? "symbols" : "summary";
}

static void choose_calls(struct report_plan *plan)
{
	const struct report_options *o = &plan->options;
	struct present_options *present = &plan->present;

	present->numbered = o->numbered;
	present->no_empty_self = o->no_empty_self;
	present->callers = o->tree && !strcmp(o->tree, "callers");
	present->both_parts = o->tree && !*o->tree;
	present->focus = o->focus;
	present->children = o->children;
	plan->profile.call_graph = o->callgraph || o->children || o->tree;
	plan->profile.inlined = o->inlined || (o->tree && !o->no_inline);
	plan->profile.max_stack = (uint32_t)o->max_stack;
	if (o->tree && !o->threshold && !o->csv && !o->json)
		present->threshold = tree_threshold;
}

static void choose_form(struct report_plan *plan)
{
	const struct report_options *o = &plan->options;
	bool symbols = o->symbols || o->details || o->callgraph || o->tree;
	bool export = o->csv || o->json;
	struct present_options *present = &plan->present;

	plan->writer = writer_find(writer_name(o));
	choose_calls(plan);
	present->reverse = o->reverse;
	present->top = o->top;
	present->long_names = o->long_names;
	present->order.long_names = o->long_names;
	present->no_header = o->no_header;
	present->quality = o->quality;
	present->periods = o->total_period;
	present->show_vma = o->show_address;
	present->debug_info = o->debug_info;
	present->accumulated = o->accumulated;
	present->global_percent = o->global_percent;
	present->details = o->details;
	plan->profile.keys = &plan->keys;
	plan->profile.spec = &plan->spec;
	plan->profile.locations = plan->locations;
	plan->profile.patterns = plan->patterns;
	plan->profile.symbols = &plan->symbols;
	plan->profile.vmlinux = o->locations.vmlinux;
	plan->profile.lines = &plan->lines;
	plan->profile.names = o->by || export ? NAMES_PERF : NAMES_OPROFILE;
	plan->profile.functions_apart = symbols && !export;
	plan->present.ratios = o->ratios.values.at;
	plan->present.nr_ratios = o->ratios.values.nr;
	plan->profile.periods = export || o->total_period || o->ratios.values.nr;
	plan->profile.values = true;
	plan->profile.quality = o->quality;
	plan->profile.code |= o->xml && o->details;
	plan->profile.fold_unnamed =
		plan->fold_unnamed && symbols && !o->tree && !export && !o->unnamed;
	if (o->by)
		plan->profile.separation = separation_of(plan, 0);
	plan->profile.merge_images = plan->merge & MERGE_LIB;
	plan->profile.merge_cores = plan->merge & MERGE_CORE;
	plan->profile.exclude_dependent = o->exclude_dependent;
}

int report_plan_make(struct report_plan *plan, char *const *words, struct err *err)
{
	const char *by = plan->options.by;
	int r = choose_threshold(plan, err);

	plan->options.symbols |= plan->options.xml;
	if (plan->options.xml && plan->options.sort.values.nr)
		command_warning("--sort is ignored with --xml");
	if (!r)
		r = choose_verbose(plan, err);
	if (!r)
		r = report_threads(plan->options.threads, &plan->profile.threads, err);
	if (!r)
		r = choose_demangling(plan, err);
	if (!r)
		r = choose_lists(plan, err);
	if (!r)
		r = choose_separate(plan, err);
	if (!r && by)
		r = keys_parse(&plan->keys, by, err);
	if (!r)
		r = choose_confidence(plan, err);
	if (!r)
		r = report_rules_check(plan, err);
	if (!r)
		r = terminal_screen(&plan->options.terminal, !plan->options.output_file,
				    &plan->present.screen, err);
	if (!r)
		r = add_option_words(plan, err);
	if (!r)
		r = report_plan_find_sources(plan, words, err);
	if (!r)
		r = report_plan_make_locations(plan, err);
	plan->present.kept = plan->merge & MERGE_UNIT_MASK ? 0 : KEEP_UNIT_MASK;
	if (!r && !by)
		r = choose_layout_keys(plan, err);
	if (!r && by && !plan->options.csv && !plan->options.json &&
	    keys_mark_symbols(&plan->keys))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r && plan->present.confidence > 0)
		r = add_blocks(plan, err);
	choose_lines(plan);
	choose_form(plan);
	return r;
}

void report_plan_done(struct report_plan *plan)
{
	struct report_options *o = &plan->options;

	cache_write_in_background(&plan->later);
	free(plan->cache_dir);
	vec_done(&o->sort.values);
	vec_done(&o->ratios.values);
	vec_done(&o->merge.values);
	vec_done(&o->separate.values);
	vec_done(&o->exclude_symbols.values);
	vec_done(&o->include_symbols.values);
	keys_done(&plan->keys);
	symbol_filter_done(&plan->symbols);
	spec_done(&plan->spec);
	report_sources_done(&plan->sources);
	naming_locations_free(plan->locations);
	name_patterns_free(plan->patterns);
}
