/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff.c - `oprofile diff`: compares recordings, and decides which differences are real. */
#include "present/diff/diff.h"
#include "present/diff/history.h"
#include "present/diff/notes.h"
#include "present/export/flame_diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/files/output.h"
#include "base/parse.h"
#include "compare/comparison.h"
#include "compare/history.h"
#include "tools/cli/command.h"
#include "tools/cli/pager.h"
#include "tools/diff/decide.h"
#include "tools/diff/load.h"
#include "tools/diff/options.h"
#include "tools/diff/sides.h"
#include "tools/report/out.h"

enum {
	STATUS_REGRESSION = 1,
	STATUS_UNUSABLE = 2,
	STATUS_INCOMPLETE = 3
};

enum {
	EXPONENT_MAX = 30
};

static const double usual_threshold = 0.5;
static const double usual_confidence = 95;
static const double discovery_rate = 0.05;
/* Smaller nodes of a call tree are counted in their callers. */
static const double least_share = 0.0001;

extern const struct command command_diff;

struct diff {
	struct diff_options options;
	struct sorted_sides sides;
	struct diff_load load;
	struct comparison comparison;
	struct history history; /* only with --history */
	struct diff_notes notes;
	struct diff_view view;
	char *unit;        /* memory of the unit of --work and of view.unit */
	double fail_above; /* negative: not given */
};

typedef int diff_writer(FILE *out, const struct diff_view *v);
typedef int history_writer(FILE *out, const struct history_view *v);

/* Parses a percentage, which can end with '%'.  NULL: leaves *ret_value unchanged. */
static int parse_percent(const char *option, const char *text, double *ret_value,
			 struct err *err)
{
	char copy[32];
	size_t len = text ? strlen(text) : 0;
	bool valid = len && len < sizeof(copy);

	if (!text)
		return 0;
	if (valid) {
		memcpy(copy, text, len + 1);
		if (copy[len - 1] == '%')
			copy[len - 1] = '\0';
		valid = parse_double(copy, ret_value) && *ret_value <= 100;
	}
	return valid ? 0
		     : err_set(err, -EINVAL, "%s=%s: expected a number from 0 to 100",
			       option, text);
}

static int choose_by(const struct diff *d, enum diff_by *ret_by, struct err *err)
{
	static const struct {
		const char *name;
		enum diff_by by;
	} rows[] = {
		{ "symbol", DIFF_BY_SYMBOL }, { "sym", DIFF_BY_SYMBOL },
		{ "image", DIFF_BY_IMAGE },   { "dso", DIFF_BY_IMAGE },
		{ "line", DIFF_BY_LINE },     { "srcline", DIFF_BY_LINE },
		{ "stack", DIFF_BY_STACK },
	};
	const char *name = d->options.by ? d->options.by : "symbol";

	if (d->options.tree || d->options.flamegraph) {
		*ret_by = DIFF_BY_TREE;
		return 0;
	}
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (!strcmp(rows[i].name, name)) {
			*ret_by = rows[i].by;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "--by=%s: expected symbol, image, line or stack",
		       name);
}

/* Sets the unit of the comparison to `text`; `detail` explains it or is "". */
static int set_unit(struct diff *d, const char *text, const char *detail,
		    struct err *err)
{
	if (asprintf(&d->unit, "samples per %s%s%s%s, in percent of the %s's total",
		     text, *detail ? " (" : "", detail, *detail ? ")" : "",
		     d->options.history ? "first recording" : "base") < 0) {
		d->unit = NULL;
		return err_set(err, -ENOMEM, "out of memory");
	}
	d->view.unit = d->unit;
	return 0;
}

/* Parses one number of --work, up to a comma or blank; it can have an exponent: 1.5e6. Returns
 * false if it is not a positive number. */
static bool parse_amount(const char **text, double *ret_amount)
{
	char copy[32];
	size_t len = strcspn(*text, ", ");
	uint64_t exponent = 0;
	char *e;

	if (!len || len >= sizeof(copy))
		return false;
	memcpy(copy, *text, len);
	copy[len] = '\0';
	*text += len;
	e = strchr(copy, 'e');
	if (e)
		*e++ = '\0';
	if (!parse_double(copy, ret_amount) || *ret_amount <= 0)
		return false;
	if (e && !parse_u64_max(e, EXPONENT_MAX, &exponent))
		return false;
	while (exponent--)
		*ret_amount *= 10;
	return true;
}

static int choose_work(struct diff *d, struct err *err)
{
	const char *text = d->options.work;
	double *work = d->load.work;
	bool valid = parse_amount(&text, &work[SIDE_BASE]);

	work[SIDE_NEW] = work[SIDE_BASE];
	if (valid && *text == ',') {
		text++;
		valid = parse_amount(&text, &work[SIDE_NEW]);
	}
	if (!valid || (*text && *text != ' '))
		return err_set(
			err, -EINVAL,
			"--work=%s: expected a number of units, or two, such as '1e6 requests' or '1e6,2e6'",
			d->options.work);
	text += strspn(text, " ");
	d->load.per = RUN_PER_WORK;
	return set_unit(d, "unit of work", text, err);
}

static int choose_per(struct diff *d, struct err *err)
{
	const char *per = d->options.per;

	if (d->options.work)
		return choose_work(d, err);
	d->view.unit = d->options.history ? "percent of all samples of the recording"
					  : "percent of all samples of the side";
	if (!per || !strcmp(per, "total"))
		return 0;
	if (!strcmp(per, "wall")) {
		d->load.per = RUN_PER_WALL;
		return set_unit(d, "second", "", err);
	}
	d->load.per = RUN_PER_EVENT;
	d->load.per_event = per;
	return set_unit(d, "event", per, err);
}

static int choose_view(struct diff *d, struct err *err)
{
	const struct report_options *o = &d->options.report;
	struct diff_view *v = &d->view;
	int r;

	v->comparison = &d->comparison;
	v->long_names = o->long_names || o->csv || o->json || d->options.flamegraph;
	v->no_header = o->no_header;
	v->threshold = usual_threshold;
	if (o->csv || o->json || d->options.flamegraph)
		v->threshold = v->by == DIFF_BY_TREE ? 100 * least_share : 0;
	r = parse_percent("--threshold", o->threshold, &v->threshold, err);
	d->comparison.options.least_share = fmin(least_share, v->threshold / 100);
	return r ? r : terminal_screen(&o->terminal, !o->output_file, &v->screen, err);
}

static int choose_comparison(struct diff *d, struct err *err)
{
	struct comparison_options options = { .discovery = discovery_rate };
	double confidence = usual_confidence;
	int r = choose_by(d, &d->view.by, err);

	d->fail_above = -1;
	if (!r)
		r = parse_percent("--confidence", d->options.confidence, &confidence,
				  err);
	if (!r && (confidence < 50 || confidence >= 100))
		r = err_set(err, -EINVAL,
			    "--confidence=%s: expected 50 to less than 100",
			    d->options.confidence);
	if (!r)
		r = parse_percent("--min-effect", d->options.min_effect,
				  &options.least_change, err);
	if (!r)
		r = parse_percent("--fail-above", d->options.fail_above, &d->fail_above,
				  err);
	if (!r)
		r = choose_per(d, err);
	options.confidence = confidence / 100;
	options.is_rate = d->load.per != RUN_PER_TOTAL;
	options.by_image = d->view.by == DIFF_BY_IMAGE;
	options.is_tree = d->view.by == DIFF_BY_TREE;
	if (!r && comparison_init(&d->comparison, &options))
		r = err_set(err, -ENOMEM, "out of memory");
	return r;
}

static diff_writer *writer_of(const struct diff *d)
{
	return d->options.report.csv    ? write_diff_csv
	       : d->options.report.json ? write_diff_json
	       : d->options.markdown    ? write_diff_markdown
	       : d->options.flamegraph  ? write_diff_flamegraph
	       : d->options.tree        ? write_diff_tree
					: write_diff_text;
}

static history_writer *history_writer_of(const struct diff *d)
{
	return d->options.report.csv    ? write_history_csv
	       : d->options.report.json ? write_history_json
					: write_history_text;
}

static struct history_view history_view_of(const struct diff *d)
{
	return (struct history_view){ d->view, &d->history };
}

static int diff_write_to(FILE *out, void *ctx)
{
	const struct diff *d = ctx;
	const struct history_view history = history_view_of(d);

	return d->options.history ? history_writer_of(d)(out, &history)
				  : writer_of(d)(out, &d->view);
}

static int write_to_file(struct diff *d, struct err *err)
{
	struct report_out out;
	int r = report_out_open(&out, d->options.report.output_file, err);

	if (!r && diff_write_to(out.file, d))
		r = err_set(err, -ENOMEM, "out of memory");
	if (r) {
		(void)report_out_close(&out, EXPORT_DROPPED, NULL);
		return r;
	}
	return report_out_close(&out, report_out_end(d->load.is_private), err);
}

static int diff_write(struct diff *d, struct err *err)
{
	int r;

	if (d->options.report.output_file)
		return write_to_file(d, err);
	r = pager_run(&d->options.report.terminal, &d->view.screen, diff_write_to, d);
	if (!r)
		return 0;
	/* Reported here, so clear the error to keep main from reporting it again. */
	clearerr(stdout);
	return err_sys(err, r, "cannot write to the standard output");
}

static int diff_write_all(struct diff *d, struct err *err)
{
	const struct history_view history = history_view_of(d);
	int r = diff_write(d, err);

	if (!r && d->options.svg)
		r = write_history_pictures(d->options.svg, d->load.is_private, &history,
					   err);
	return r;
}

static int diff_finish(struct diff *d)
{
	return d->options.history ? history_find(&d->comparison, &d->history)
				  : comparison_finish(&d->comparison);
}

static int compare(struct diff *d, char *const *words, int nr_after, struct err *err)
{
	int r = choose_comparison(d, err);

	if (!r)
		r = choose_view(d, err);
	if (!r)
		r = diff_sides_sort(&d->options, words, nr_after, &d->sides, err);
	if (r)
		return r;
	d->load.options = &d->options;
	d->load.sides = &d->sides;
	d->load.to = &d->comparison;
	r = diff_load_all(&d->load, err);
	if (r)
		return r;
	if (diff_finish(d) || diff_notes_make(&d->comparison, &d->notes))
		return err_set(err, -ENOMEM, "out of memory");
	d->view.notes = (const char *const *)d->notes.texts.at;
	d->view.nr_notes = d->notes.texts.nr;
	return diff_write_all(d, err);
}

static bool diff_has_failed(const struct diff *d)
{
	const struct history_view history = history_view_of(d);

	return d->options.history ? diff_decide_history(&history, d->fail_above)
				  : diff_decide(&d->view, d->fail_above);
}

static int diff_make(struct diff *d, char *const *words, int nr_after)
{
	struct err err = { 0 };

	if (compare(d, words, nr_after, &err)) {
		command_error("%s", err.text);
		return STATUS_UNUSABLE;
	}
	if (d->fail_above >= 0)
		return diff_has_failed(d) ? STATUS_REGRESSION : 0;
	return d->load.incomplete ? STATUS_INCOMPLETE : 0;
}

static void diff_done(struct diff *d)
{
	diff_notes_done(&d->notes);
	history_done(&d->history);
	comparison_done(&d->comparison);
	diff_sides_done(&d->sides);
	vec_done(&d->options.base.values);
	vec_done(&d->options.new.values);
	vec_done(&d->options.report.exclude_symbols.values);
	vec_done(&d->options.report.include_symbols.values);
	free(d->unit);
}

static int diff_run(const struct command *self, int argc, char **argv)
{
	struct diff d = { 0 };
	const int nr_after = diff_sides_nr_after(argc, argv);
	int first;
	int status =
		command_options(self, OPTIONS_PERMUTE, argc, argv, &d.options, &first);

	if (status < 0)
		status = diff_make(&d, argv + first, nr_after);
	diff_done(&d);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "compare recordings, and decide which differences are real",
	.usage = "[options] BASE NEW [specification...]\n"
		 "[options] BASE... -- NEW... [specification...]\n"
		 "[options] --history DIR [specification...]",
	.notes =
		"BASE and NEW are sessions, session:NAME, archives, perf.data files or profiles of other tools. Give several runs of each side: one run does not show how much runs differ. A specification such as comm:make selects samples of both sides (opreport).\n"
		"Exit status: 0 compared; 1 with --fail-above: a significant slowdown of at least that size; 2 a recording or an option is unusable; 3 compared, but a recording is incomplete (not with --fail-above).\n"
		"Examples:\n"
		"  oprofile diff before.data after.data\n"
		"  oprofile diff old1 old2 old3 -- new1 new2 new3\n"
		"  oprofile diff --fail-above 2% --markdown old* -- new*\n"
		"  oprofile diff --history nightly --svg pictures",
	.options = diff_rows,
	.failure_status = STATUS_UNUSABLE,
	.run = diff_run,
};
