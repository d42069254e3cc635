/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/diff/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/blocks.h"
#include "base/err.h"
#include "compare/runs/run.h"
#include "recordings/outline.h"
#include "recordings/series.h"
#include "tools/diff/options.h"
#include "tools/diff/sides.h"
#include "tools/report/plan.h"
#include "tools/report/read.h"

/* A recording while it is read. */
struct loading {
	struct diff_load *load;
	enum compare_side side;
	const char *name;
	struct report_plan plan;
	struct report_read read;
	struct recording_outline outline;
	uint64_t width_ns; /* of a block */
};

static int load_no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

/* Makes the arguments for a report of one recording. Copies the strings, because
 * report_plan_make() requires non-const ones. */
static int words_of(const struct loading *l, char ***ret_words, struct err *err)
{
	const struct sorted_sides *sides = l->load->sides;
	char **words = calloc(sides->spec.nr + 2, sizeof(*words));
	bool failed = !words;

	for (size_t i = 0; !failed && i <= sides->spec.nr; i++) {
		words[i] = strdup(i ? sides->spec.at[i - 1] : l->name);
		failed = !words[i];
	}
	*ret_words = words;
	return failed ? load_no_memory(err) : 0;
}

static void words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* Reads the times of the first and last sample if that is possible without reading all samples,
 * and chooses the duration of a block. */
static int read_outline(struct loading *l, struct err *err)
{
	const struct report_sources *sources = &l->plan.sources;
	int r = 0;

	if (sources->sessions.nr == 1)
		r = recording_outline_read(&sources->sessions.at[0], &l->outline, err);
	l->width_ns = block_width_ns(l->outline.last_ns - l->outline.first_ns);
	return r;
}

static const char *keys_of(const struct diff_load *load)
{
	const char *by = load->options->by;

	if (load->to->options.is_tree)
		return "stack,time:1s";
	if (by && (!strcmp(by, "line") || !strcmp(by, "srcline")))
		return "image,symbol,line,time:1s";
	if (by && !strcmp(by, "stack"))
		return "image,symbol,stack,time:1s";
	return "image,symbol,time:1s";
}

static int load_make_plan(struct loading *l, struct err *err)
{
	const struct diff_options *options = l->load->options;
	struct report_options *to = &l->plan.options;
	char **words;
	int r = words_of(l, &words, err);

	*to = options->report;
	/* Request CSV, whose keys are plain, without marks. */
	to->csv = true;
	to->json = false;
	to->by = keys_of(l->load);
	to->inlined = l->load->to->options.is_tree && !to->no_inline;
	to->threshold = NULL;
	if (!r)
		r = report_plan_make(&l->plan, words, err);
	words_free(words);
	if (!r)
		r = read_outline(l, err);
	if (r)
		return r;
	/* The intervals are computed from numbers of samples; periods are only a denominator. */
	l->plan.profile.values = false;
	l->plan.profile.periods = l->load->per == RUN_PER_EVENT;
	l->plan.keys.keys.at[keys_find(&l->plan.keys, KEY_TIME)].width_ns = l->width_ns;
	return 0;
}

/* Copies a fact about the machine to the comparison; 0: unknown. */
static uint32_t copy_fact(const struct loading *l, const char *text)
{
	return text ? strtab_add(&l->load->to->strings, text) : 0;
}

static int load_profile(struct loading *l, struct err *err)
{
	const struct run_source source = {
		.to = l->load->to,
		.side = l->side,
		.name = l->name,
		.profile = &l->read.profile,
		.per = l->load->per,
		.per_event = l->load->per_event,
		.work = l->load->work[l->side],
		.length_ns = l->outline.last_ns - l->outline.first_ns,
		.width_ns = l->width_ns,
	};
	struct compare_run *run;
	struct run_facts *facts;
	int r = run_add_profile(&source, &run, err);

	if (r)
		return r;
	facts = &run->facts;
	facts->hostname = copy_fact(l, l->outline.hostname);
	facts->os_release = copy_fact(l, l->outline.os_release);
	facts->cpu_desc = copy_fact(l, l->outline.cpu_desc);
	facts->start_ns = recording_start_ns(report_source_archive(l->name),
					     &l->plan.sources, &l->outline);
	if (facts->hostname == STRTAB_FAILED || facts->os_release == STRTAB_FAILED ||
	    facts->cpu_desc == STRTAB_FAILED)
		return load_no_memory(err);
	return 0;
}

/* Frees a plan, but not the lists of its options, which belong to the options of the command. */
static void load_plan_done(struct report_plan *plan)
{
	struct report_options *o = &plan->options;

	o->sort = o->ratios = o->merge = (struct word_list){ 0 };
	o->exclude_symbols = o->include_symbols = (struct word_list){ 0 };
	report_plan_done(plan);
}

static int load_run(struct diff_load *load, enum compare_side side, const char *name,
		    struct err *err)
{
	struct loading l = { .load = load, .side = side, .name = name };
	int r = load_make_plan(&l, err);

	if (!r)
		r = report_read_all(&l.read, &l.plan, err);
	report_progress_end();
	load->incomplete |= report_warn_of_damage(&l.read);
	if (!r) {
		report_warn_of_losses(&l.read);
		load->is_private |= report_read_is_private(&l.read, &l.plan);
		r = load_profile(&l, err);
	}
	recording_outline_done(&l.outline);
	profile_done(&l.read.profile);
	load_plan_done(&l.plan);
	return r ? err_prefix(err, "'%s'", name) : 0;
}

int diff_load_all(struct diff_load *load, struct err *err)
{
	const struct sorted_sides *sides = load->sides;
	int r = 0;

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; !r && i < sides->runs[side].nr; i++)
			r = load_run(load, side, sides->runs[side].at[i], err);
	return r;
}
