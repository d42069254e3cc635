/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile.c - the formats of `oprofile export` that are made from a profile. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "tools/cli/command.h"
#include "tools/cli/mistaken_word.h"
#include "tools/export/export.h"
#include "tools/report/out.h"
#include "tools/report/plan.h"
#include "tools/report/progress.h"
#include "tools/report/read.h"

enum {
	MOST_CELLS = 1000000
};

/* Returns in *ret_keys the keys that --rows selects.  Returns 0 or -EINVAL. */
static int choose_rows(const struct export_run *run, const char **ret_keys,
		       struct err *err)
{
	const struct export_rows *rows = run->format->rows;

	if (!rows)
		return err_set(err, -EINVAL, "--rows is only supported for heatmap");
	for (; rows->word; rows++)
		if (!strcmp(rows->word, run->options->rows)) {
			*ret_keys = rows->keys;
			return 0;
		}
	return err_set(err, -EINVAL, "--rows=%s: expected offset, cpu or thread",
		       run->options->rows);
}

static void export_profile_choose(struct export_run *run, struct report_plan *plan)
{
	const struct export_options *from = run->options;

	plan->options.locations = from->locations;
	plan->options.session_dir = from->session_dir;
	plan->options.force = from->force;
	plan->options.threads = from->threads;
	plan->options.threshold =
		from->threshold ? from->threshold : run->format->threshold;
	plan->options.total_period = run->format->periods;
}

/* Warns about labels that were dropped, in the order in which they are dropped. */
static void warn_of_labels(const struct export_run *run, const struct profile *p)
{
	const char *missing = p->given_up & NEED_PID   ? "tid, cpu or pid"
			      : p->given_up & NEED_CPU ? "tid or cpu"
						       : "tid";

	if (run->format->labels && p->given_up)
		command_warning(
			"more than %u samples differ, so the profile has no labels %s; select fewer samples, such as time:0-10s or comm:NAME, to keep them",
			MOST_CELLS, missing);
}

int export_profile_read(struct export_run *run, struct report_plan *plan,
			struct report_read *read, struct err *err)
{
	int r = 0;

	plan->options.by = run->format->keys;
	export_profile_choose(run, plan);
	if (run->options->rows)
		r = choose_rows(run, &plan->options.by, err);
	if (!r)
		r = report_plan_make(plan, run->words, err);
	plan->profile.inlined = run->options->inlined;
	plan->profile.call_lines = run->format->lines;
	plan->profile.code = run->format->code;
	plan->profile.call_events = run->format->call_events;
	plan->profile.timeline = run->format->timeline;
	plan->profile.give_up = run->format->give_up;
	plan->profile.most_cells = MOST_CELLS;
	if (!r)
		r = report_read_all(read, plan, err);
	report_progress_end();
	mistaken_word_say(&plan->sources, &plan->spec, r);
	if (!r)
		warn_of_labels(run, &read->profile);
	run->incomplete = report_warn_of_damage(read);
	return r;
}

static int export_profile_check(const struct export_run *run, struct err *err)
{
	if (run->options->svg && !run->format->svg)
		return err_set(err, -EINVAL, "--svg is only supported for flamegraph");
	if (run->format->binary && !run->options->output && isatty(STDOUT_FILENO))
		return err_set(
			err, -EINVAL,
			"%s cannot be shown on a terminal: give a file with --output-file",
			run->format->name);
	return 0;
}

static int export_profile_make_it(struct export_run *run, struct report_plan *plan,
				  struct report_read *read, struct report_out *out,
				  struct err *err)
{
	export_write *write = run->options->svg ? run->format->svg : run->format->write;
	const char *output = run->options->output;
	int r = export_profile_check(run, err);

	if (!r)
		r = report_out_open(out, output ? output : run->format->usual, err);
	if (!r)
		r = export_profile_read(run, plan, read, err);
	if (!r && write)
		r = write(out->file, &read->profile, &plan->present, err);
	return r;
}

int export_profile(struct export_run *run, struct err *err)
{
	struct report_plan plan = { 0 };
	struct report_read read = { 0 };
	struct report_out out = { 0 };
	int r, closed;

	r = export_profile_make_it(run, &plan, &read, &out, err);
	closed = report_out_close(
		&out,
		r ? EXPORT_DROPPED
		  : report_out_end(report_read_is_private(&read, &plan)),
		r ? NULL : err);
	if (!r && !closed && run->options->verbose)
		fprintf(stderr, "%" PRIu64 " samples\n", read.profile.samples);
	profile_done(&read.profile);
	report_plan_done(&plan);
	return r ? r : closed;
}
