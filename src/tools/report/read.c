/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/report/read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregate/profile/call_graph.h"
#include "aggregate/read/profile_feed.h"
#include "base/containers/closest_match.h"
#include "base/containers/huge.h"
#include "base/err.h"
#include "base/saturate.h"
#include "capture/events/events.h"
#include "present/lines/percent.h"
#include "present/lines/screen.h"
#include "record/keep/copy_rule.h"
#include "recordings/no_match.h"
#include "recordings/profile_reading.h"
#include "tools/cli/command.h"
#include "tools/cli/progress.h"
#include "tools/report/plan.h"

static void report_read_begin(void *ctx)
{
	struct report_read *r = ctx;

	r->progress.done = 0;
}

static void report_read_file(void *ctx, const char *path)
{
	struct report_read *r = ctx;

	report_progress_file(&r->progress, path);
	if (r->says_files) {
		progress_hide();
		screen_print_line(stderr, "%s", path);
	}
}

static void report_read_warn(void *ctx, const char *text)
{
	(void)ctx;
	command_warning("%s", text);
}

static int read_sources(struct report_read *r, struct report_plan *plan,
			struct err *err)
{
	struct profile_reading reading = {
		.sources = &plan->sources,
		.options = &plan->profile,
		.begin = report_read_begin,
		.file_done = report_read_file,
		.warn = report_read_warn,
		.ctx = r,
	};
	int status;

	r->says_files = plan->verbose & VERBOSE_FILES;
	status = profile_reading_run(&reading, &r->profile, err);
	r->nr_unreadable = reading.nr_unreadable;
	return status;
}

/* Adds descriptions to events without one, because a perf.data contains only their names. */
static void describe_events(struct profile *p)
{
	for (size_t i = 0; i < p->events.nr; i++) {
		struct profile_event *e = &p->events.at[i];
		const char *about = events_about(strtab_get(&p->strings, e->name));
		uint32_t text = STRTAB_FAILED;

		if (about && !*strtab_get(&p->strings, e->about))
			text = strtab_add(&p->strings, about);
		if (text != STRTAB_FAILED)
			e->about = text;
	}
}

/* Sets the error message for a function `word` of -i or symbol: that does not exist, with the
 * closest matches among the functions of `p`, which was read without these restrictions. */
static void no_function(struct profile *p, const char *word, struct err *err)
{
	struct closest_matches close;
	char text[CLOSEST_TEXT_MAX];

	closest_matches_init(&close, word, strlen(word));
	for (uint32_t i = 0; i < p->functions.nr; i++) {
		closest_matches_try(&close,
				    strtab_get(&p->strings, p->functions.at[i].raw));
		closest_matches_try(&close, profile_function_name(p, i));
	}
	closest_matches_text(&close, text);
	err_set(err, -ENOENT,
		"error: no sample files found: profile specification too strict ? No function matches '%s'%s",
		word, text);
}

/* Call if no samples were selected. Reads the recordings again without the restrictions to
 * functions. If there are samples then, a function does not exist: sets that message and returns
 * true. */
static bool is_no_function(struct report_plan *plan, struct err *err)
{
	const struct spec spec = plan->spec;
	const struct symbol_filter *symbols = plan->profile.symbols;
	const char *word = symbols && symbols->included.nr ? symbols->included.at[0]
			   : spec.lists[SPEC_SYMBOL].values.nr
				   ? spec.lists[SPEC_SYMBOL].values.at[0]
				   : NULL;
	struct report_read all = { 0 };
	struct err ignored = { 0 };
	bool found;

	if (!word)
		return false;
	plan->profile.symbols = NULL;
	plan->spec.lists[SPEC_SYMBOL] = (struct spec_list){ 0 };
	plan->spec.lists[SPEC_SYMBOL_EXCLUDE] = (struct spec_list){ 0 };
	found = !read_sources(&all, plan, &ignored) && all.profile.samples;
	if (found)
		no_function(&all.profile, word, err);
	profile_done(&all.profile);
	plan->spec = spec;
	plan->profile.symbols = symbols;
	return found;
}

static int report_no_match(struct report_plan *plan, struct err *err)
{
	return is_no_function(plan, err)
		       ? err->code
		       : no_match_error(&plan->sources, &plan->spec, err);
}

int report_read_all(struct report_read *r, struct report_plan *plan, struct err *err)
{
	const struct report_sources *sources = &plan->sources;
	int status;

	huge_heap();
	report_progress_begin(&r->progress, sources, &plan->profile);
	status = read_sources(r, plan, err);
	if (status)
		return status;
	describe_events(&r->profile);
	profile_finish(&r->profile);
	if (plan->nr_keys && r->profile.samples) {
		if (profile_fold_blocks(&r->profile, plan->nr_keys))
			return err_set(err, -ENOMEM, "out of memory");
		keys_truncate(&plan->keys, plan->nr_keys);
	}
	if (plan->profile.call_graph && !plan->options.tree &&
	    call_graph_make(&r->profile))
		return err_set(err, -ENOMEM, "out of memory");
	if (r->profile.samples)
		return 0;
	if (r->profile.input.samples_read)
		return report_no_match(plan, err);
	return err_set(
		err, -ENOENT,
		"No sample found: Please specify a session containing sample data (%s has no sample)",
		sources->sessions.at[0].dir);
}

static bool report_read_is_private_file(const struct profile *p, uint32_t path)
{
	const char *name = strtab_get(&p->strings, path);

	return *name == '/' && copy_rule_is_private(name);
}

bool report_read_is_private(const struct report_read *r, const struct report_plan *plan)
{
	const struct profile *p = &r->profile;
	bool is_private = plan->sources.is_private;

	/* Files of an archive need no check, because the archive itself was checked. */
	for (size_t i = 0; !plan->sources.archive && !is_private && i < p->images.nr;
	     i++)
		is_private = report_read_is_private_file(p, p->images.at[i].from) ||
			     report_read_is_private_file(p, p->images.at[i].binary);
	return is_private;
}

void report_warn_of_losses(const struct report_read *r)
{
	const struct profile_input *in = &r->profile.input;
	const struct session_totals *t = &in->totals;
	double lost = percent_of(t->lost, saturating_add(t->lost, t->samples));

	if (lost > 0.01)
		command_warning(
			"Lost samples detected! The kernel lost %" PRIu64 " of %" PRIu64
			" samples (%.2f %%). Lowering the sampling rate may reduce or eliminate lost samples.",
			t->lost, saturating_add(t->lost, t->samples), lost);
	if (t->dropped)
		command_warning(
			"%" PRIu64
			" samples were dropped during the recording: memory was short, or the disk was full",
			t->dropped);
	if (t->lost_records)
		command_warning("%" PRIu64
				" records on processes and mappings were lost: "
				"some samples can have wrong names",
				t->lost_records);
	if (t->throttled)
		command_warning("Some of the events were throttled %" PRIu64
				" times: the kernel took fewer samples than requested. "
				"Decrease the sampling rate.",
				t->throttled);
}

/* Prints one line with numbers and returns true if some perf.data file could not be read
 * completely. */
static bool warn_of_file_damage(const struct profile_input *in)
{
	const struct perf_input_damage *d = &in->file_damage;

	if (!d->cut_bytes && !d->missing_bytes && !d->bad_bytes && !d->bad_features &&
	    !d->missing_files && !in->nr_interrupted && !in->nr_malformed)
		return false;
	command_warning("the input is incomplete: %s%s%" PRIu64
			" bytes missing, %" PRIu64 " of a record cut off, %" PRIu64
			" damaged, %" PRIu64 " header features unreadable, %" PRIu64
			" records malformed; %" PRIu64 " samples read",
			in->nr_interrupted ? "the recording was interrupted; " : "",
			perf_input_files_text(d).text, d->missing_bytes, d->cut_bytes,
			d->bad_bytes, d->bad_features, in->nr_malformed,
			in->samples_read);
	return true;
}

/* Prints one line with numbers and returns true if some session could not be read completely. */
static bool warn_of_session_damage(const struct report_read *r)
{
	const struct profile_input *in = &r->profile.input;
	const struct segment_damage *d = &in->damage;

	/* If only samples are missing, the reader has already warned, with the file name. */
	if (!d->bad_blocks && !d->cut_bytes && !d->bad_samples && !in->nr_unfinished &&
	    !r->nr_unreadable)
		return d->missing_samples;
	command_warning("the input is incomplete: %" PRIu32
			" of %zu segments not finished, %zu unreadable, %" PRIu64
			" blocks damaged, %" PRIu64 " bytes cut off, %" PRIu64
			" samples without their data, %" PRIu64 " missing; %" PRIu64
			" samples read",
			in->nr_unfinished, in->nr_segments + r->nr_unreadable,
			r->nr_unreadable, d->bad_blocks, d->cut_bytes, d->bad_samples,
			d->missing_samples, in->samples_read);
	return true;
}

bool report_warn_of_damage(const struct report_read *r)
{
	const struct profile_input *in = &r->profile.input;
	bool incomplete = r->profile.nr_keys && warn_of_session_damage(r);

	return warn_of_file_damage(in) || incomplete || in->totals.dropped;
}
