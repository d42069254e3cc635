/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.c - `oprofile report`, called opreport: shows where the time of a session was spent. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "base/files/output.h"
#include "present/lines/ratio.h"
#include "present/lines/screen.h"
#include "present/text/write_diff.h"
#include "tools/cli/command.h"
#include "tools/cli/mistaken_word.h"
#include "tools/cli/pager.h"
#include "tools/report/diff.h"
#include "tools/report/hints.h"
#include "tools/report/out.h"
#include "tools/report/plan.h"
#include "tools/report/read.h"
#include "tools/report/report.h"
#include "tools/report/xml.h"

enum {
	STATUS_INCOMPLETE = 3
};

extern const struct command command_report;

/* A run of the command: the request and its result. */
struct report {
	struct report_plan plan;
	struct report_read read;
	struct report_xml xml;
	struct report
		*before; /* the first side of a differential profile; NULL: none */
};

static int report_write_form(struct report *r, FILE *out, struct err *err)
{
	const struct report_options *o = &r->plan.options;
	const struct diff_sides sides = { r->before ? &r->before->read.profile : NULL,
					  &r->read.profile };

	if (!r->before)
		return r->plan.writer->write(out, &r->read.profile, &r->plan.present,
					     err);
	return write_diff(out, &sides,
			  o->csv    ? DIFF_CSV
			  : o->json ? DIFF_JSON
				    : DIFF_TEXT,
			  &r->plan.present, err);
}

static int report_write_to(struct report *r, FILE *out, const char *name,
			   struct err *err)
{
	int status = report_write_form(r, out, err);

	if (status)
		return status;
	if (fflush(out) || ferror(out))
		return err_sys(err, output_failure(out), "cannot write '%s'", name);
	return 0;
}

struct report_writing {
	struct report *report;
	struct err *err;
};

static int write_to_stdout(FILE *out, void *ctx)
{
	const struct report_writing *w = ctx;

	return report_write_to(w->report, out, "standard output", w->err);
}

static int write_report(struct report *r, struct err *err)
{
	const char *path = r->plan.options.output_file;
	int status;
	struct err why = { 0 };
	struct report_out out;

	if (!path) {
		struct report_writing w = { r, err };

		status = pager_run(&r->plan.options.terminal, &r->plan.present.screen,
				   write_to_stdout, &w);
		if (!status)
			return 0;
		/* Reported here, so clear the error to keep main from reporting it again. */
		clearerr(stdout);
		return *err->text ? status
				  : err_sys(err, status,
					    "cannot write to the standard output");
	}
	status = report_out_open(&out, path, &why);
	if (status) {
		(void)report_out_close(&out, EXPORT_DROPPED, NULL);
		return status == -EPERM
			       ? err_set(err, status, "%s", why.text)
			       : err_set(err, status,
					 "Couldn't open \"%s\" for writing.", path);
	}
	status = report_write_to(r, out.file, path, err);
	if (status)
		(void)report_out_close(&out, EXPORT_DROPPED, NULL);
	else
		status = report_out_close(
			&out,
			report_out_end(report_read_is_private(&r->read, &r->plan) ||
				       (r->before &&
					report_read_is_private(&r->before->read,
							       &r->before->plan))),
			err);
	return status;
}

/* Prints to standard error what --verbose requests. */
static void say_more(const struct report *r)
{
	const struct profile *p = &r->read.profile;
	const struct profile_input *in = &p->input;

	if (r->plan.verbose & VERBOSE_STATS)
		fprintf(stderr,
			"%" PRIu32 " segments, %" PRIu64 " samples read, %" PRIu64
			" selected, %zu groups\n",
			in->nr_segments, in->samples_read, p->samples, p->groups.nr);
	if (!(r->plan.verbose & VERBOSE_IMAGES))
		return;
	for (size_t i = 0; i < p->images.nr; i++) {
		const char *from = strtab_get(&p->strings, p->images.at[i].from);

		screen_print_line(stderr, "%s: %s%s",
				  strtab_get(&p->strings, p->images.at[i].name),
				  *from ? "symbols from " : "no symbols", from);
	}
}

/* Plans the report and reads its recordings. */
static int report_prepare(struct report *r, char *const *words, struct err *err)
{
	int status;

	r->plan.fold_unnamed = true;
	status = report_plan_make(&r->plan, words, err);

	if (r->plan.sources.samples_dir)
		screen_print_line(stderr, "Using %s/ for samples directory.",
				  r->plan.sources.samples_dir);
	if (!status)
		status = report_read_all(&r->read, &r->plan, err);
	report_progress_end();
	return status;
}

/* Plans the report and reads its recordings; for a differential profile, does this for both
 * sides. */
static int report_prepare_sides(struct report *r, char *const *all, struct err *err)
{
	struct diff_words words = { 0 };
	int status;

	if (!r->before)
		return report_prepare(r, all, err);
	status = diff_words_split(&words, all, err);
	if (!status)
		r->before = NULL;
	if (status > 0)
		status = diff_check_options(&r->plan.options, err);
	if (!status && r->before)
		status = report_prepare(r->before, words.before.at, err);
	if (!status)
		status = report_prepare(r, words.after.at, err);
	diff_words_done(&words);
	return status;
}

static int make_report(struct report *r, char *const *words)
{
	struct err err = { 0 };
	bool incomplete;
	int status = report_prepare_sides(r, words, &err);

	incomplete = report_warn_of_damage(&r->read);
	if (r->before)
		incomplete |= report_warn_of_damage(&r->before->read);
	if (!status) {
		report_warn_of_losses(&r->read);
		say_more(r);
		status = ratios_check(&r->read.profile, r->plan.present.ratios,
				      r->plan.present.nr_ratios, &err);
	}
	if (!status && r->plan.options.xml &&
	    report_xml_make(&r->xml, &r->plan, &r->read.profile))
		status = err_set(&err, -ENOMEM, "out of memory");
	if (!status)
		status = write_report(r, &err);
	if (status) {
		mistaken_word_say(&r->plan.sources, &r->plan.spec, status);
		command_error("%s", err.text);
		return 1;
	}
	if (r->plan.options.strict && command_nr_warnings())
		return 1;
	return incomplete ? STATUS_INCOMPLETE : 0;
}

static void report_done(struct report *r)
{
	report_xml_done(&r->xml);
	profile_done(&r->read.profile);
	report_plan_done(&r->plan);
}

int report_of_quality(const struct report_options *options, char *const *words)
{
	struct report r = { .plan.options = *options };
	int status;

	r.plan.options.by = "image";
	r.plan.options.quality = r.plan.options.quality_alone = true;
	status = make_report(&r, words);
	report_done(&r);
	return status;
}

static int report_run(const struct command *self, int argc, char **argv)
{
	struct report r = { 0 }, before = { 0 };
	int first;
	int status;

	if (report_xml_words(&r.xml, argc, argv)) {
		command_error("out of memory");
		return 1;
	}
	report_hint_words(argc, argv);
	status = command_options(self, OPTIONS_PERMUTE, argc, argv, &r.plan.options,
				 &first);
	if (status > 0)
		report_hint_refused(&r.plan.options);
	if (status >= 0) {
		report_xml_done(&r.xml);
		return status;
	}
	if (diff_words_any(argv + first)) {
		/* Parse the options again for the other side, which has a separate copy. They are
		 * known to be valid. */
		(void)command_options(self, OPTIONS_PERMUTE, argc, argv,
				      &before.plan.options, &first);
		r.before = &before;
	}
	status = make_report(&r, argv + first);
	report_done(&before);
	report_done(&r);
	return status;
}

const struct command command_report = {
	.name = "report",
	.classic = "opreport",
	.summary = "show in which binaries and functions the time went",
	.usage = "[options] [SESSION-DIR | profile specification...]",
	.notes =
		"An argument is a directory with a session, an image pattern, or one of image:LIST image-exclude:LIST lib-image:LIST lib-image-exclude:LIST archive:PATH session:LIST session-exclude:LIST event:LIST count:LIST unit-mask:LIST comm:LIST tgid:LIST tid:LIST cpu:LIST cgroup:LIST symbol:LIST symbol-exclude:LIST time:LIST (10%-20%, 1.5s-3s).\n"
		"Examples:\n"
		"  opreport\n"
		"  opreport --symbols --threshold 1\n"
		"  opreport -l image:/usr/bin/make\n"
		"  opreport --details --exclude-dependent\n"
		"  opreport --by comm,image --csv\n"
		"  opreport -l { session:before } { session:current }",
	.options = report_rows,
	.run = report_run,
};
