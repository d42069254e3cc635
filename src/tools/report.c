/* report.c - `oprofile report`, called opreport: where the time of a session went. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile.h"
#include "base/err.h"
#include "format/session.h"
#include "present/percent.h"
#include "tools/command.h"
#include "tools/pager.h"
#include "tools/progress.h"
#include "tools/report_plan.h"
#include "tools/report_progress.h"

enum {
	STATUS_INCOMPLETE = 3,
	BIG_TABLE = 4 << 20 /* bytes */
};

extern const struct command command_report;

/* One run: what was asked for, and what came of it. */
struct report {
	struct report_plan plan;
	struct profile profile;
	size_t nr_unreadable; /* segments that could not be opened */
	struct report_progress progress;
};

static int read_session(struct report *r, const struct report_session *session,
			struct err *err)
{
	struct session_span span = { 0 };
	char **paths;
	size_t nr;
	int status;

	if (session->perf_data)
		return profile_read_perf_data(&r->profile, session->dir, session->name,
					      err);
	status = session_list(session->dir, &paths, &nr, err);
	if (status)
		return status;
	if (spec_has_shares(&r->plan.spec) && session_span_read(paths, nr, &span))
		status = err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !status && i < nr; i++) {
		status = profile_read_segment(&r->profile, paths[i], session->dir,
					      session->name, &span, err);
		/* One bad segment does not take the others with it. */
		if (status && status != -ENOMEM && status != -ERANGE && nr > 1) {
			command_warning("%s", err->text);
			r->nr_unreadable++;
			status = 0;
		}
		report_progress_file(&r->progress, paths[i]);
		if (r->plan.verbose & VERBOSE_FILES) {
			progress_hide();
			fprintf(stderr, "%s\n", paths[i]);
		}
	}
	session_list_free(paths, nr);
	return status;
}

static int read_all(struct report *r, struct err *err)
{
	const struct report_sources *sources = &r->plan.sources;

	report_progress_begin(&r->progress, sources, &r->plan.profile);
	if (profile_init(&r->profile, &r->plan.profile))
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < sources->sessions.nr; i++) {
		const struct report_session *session = &sources->sessions.at[i];
		int status = read_session(r, session, err);

		if (status)
			return status;
		if (session->perf_data)
			report_progress_file(&r->progress, session->dir);
	}
	profile_finish(&r->profile);
	if (r->profile.samples)
		return 0;
	if (r->profile.input.samples_read)
		return err_set(
			err, -ENOENT,
			"error: no sample files found: profile specification too "
			"strict ?");
	return err_set(
		err, -ENOENT,
		"No sample found: Please specify a session containing sample data "
		"(%s has no sample)",
		sources->sessions.at[0].dir);
}

/* Losses that OProfile warns of too: more than 0.01 %. */
static void warn_of_losses(const struct profile_input *in)
{
	const struct session_totals *t = &in->totals;
	double lost = percent_of(t->lost, t->lost + t->samples);

	if (lost > 0.01)
		command_warning("Lost samples detected! The kernel lost %" PRIu64
				" of %" PRIu64
				" samples (%.2f %%). Lowering the sampling "
				"rate may reduce or eliminate lost samples.",
				t->lost, t->lost + t->samples, lost);
	if (t->lost_records)
		command_warning("%" PRIu64
				" records on processes and mappings were lost: "
				"some samples may stand under a wrong name",
				t->lost_records);
	if (t->throttled)
		command_warning("Some of the events were throttled %" PRIu64
				" times: the kernel took fewer samples than asked for. "
				"Decrease the sampling rate.",
				t->throttled);
}

/* The same of perf.data files. */
static bool warn_of_file_damage(const struct profile_input *in)
{
	const struct perf_input_damage *d = &in->file_damage;

	if (!d->cut_bytes && !d->missing_bytes && !d->bad_bytes && !d->bad_features &&
	    !in->nr_interrupted && !in->nr_malformed)
		return false;
	command_warning("the input is incomplete: %s%" PRIu64 " bytes missing, %" PRIu64
			" of a record cut off, %" PRIu64 " damaged, %" PRIu64
			" header features unreadable, %" PRIu64
			" records malformed; %" PRIu64 " samples read",
			in->nr_interrupted ? "the recording was interrupted; " : "",
			d->missing_bytes, d->cut_bytes, d->bad_bytes, d->bad_features,
			in->nr_malformed, in->samples_read);
	return true;
}

/* One line with numbers if not all of the input could be read. */
static bool warn_of_damage(const struct report *r)
{
	const struct profile_input *in = &r->profile.input;
	const struct segment_damage *d = &in->damage;

	if (!d->bad_blocks && !d->cut_bytes && !d->bad_samples && !in->nr_unfinished &&
	    !r->nr_unreadable)
		return false;
	command_warning(
		"the input is incomplete: %" PRIu32 " of %zu segments not finished, "
		"%zu unreadable, %" PRIu64 " blocks damaged, %" PRIu64
		" bytes cut off, %" PRIu64 " samples without their data; %" PRIu64
		" samples read",
		in->nr_unfinished, in->nr_segments + r->nr_unreadable, r->nr_unreadable,
		d->bad_blocks, d->cut_bytes, d->bad_samples, in->samples_read);
	return true;
}

static int write_to(struct report *r, FILE *out, const char *name, struct err *err)
{
	int status = r->plan.writer->write(out, &r->profile, &r->plan.present, err);

	if (status)
		return status;
	errno = 0;
	if (fflush(out) || ferror(out))
		return err_sys(err, errno ? -errno : -EIO, "%s: cannot write", name);
	return 0;
}

struct writing {
	struct report *report;
	struct err *err;
};

static int write_to_stdout(FILE *out, void *ctx)
{
	const struct writing *w = ctx;

	return write_to(w->report, out, "standard output", w->err);
}

static int write_report(struct report *r, struct err *err)
{
	const char *path = r->plan.options.output_file;
	int status;
	FILE *out;

	if (!path) {
		struct writing w = { r, err };

		status = pager_run(&r->plan.options.terminal, &r->plan.present.screen,
				   write_to_stdout, &w);
		if (!status)
			return 0;
		/* Said here: main need not say it again. */
		clearerr(stdout);
		return *err->text
			       ? status
			       : err_sys(err, status, "standard output: cannot write");
	}
	out = fopen(path, "we");
	if (!out)
		return err_set(err, -errno, "Couldn't open \"%s\" for writing.", path);
	status = write_to(r, out, path, err);
	if (fclose(out) && !status)
		status = err_sys(err, -errno, "%s: cannot write", path);
	return status;
}

/* What --verbose asks for. */
static void say_more(const struct report *r)
{
	const struct profile *p = &r->profile;
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

		fprintf(stderr, "%s: %s%s\n",
			strtab_get(&p->strings, p->images.at[i].name),
			*from ? "symbols from " : "no symbols", from);
	}
}

static int make_report(struct report *r, char *const *words)
{
	struct err err = { 0 };
	bool incomplete;
	int status = report_plan_make(&r->plan, words, &err);

	if (r->plan.sources.samples_dir)
		fprintf(stderr, "Using %s/ for samples directory.\n",
			r->plan.sources.samples_dir);
	if (!status)
		status = read_all(r, &err);
	report_progress_end();
	incomplete = r->profile.nr_keys && warn_of_damage(r);
	incomplete |= warn_of_file_damage(&r->profile.input);
	if (!status) {
		warn_of_losses(&r->profile.input);
		say_more(r);
		status = write_report(r, &err);
	}
	if (status) {
		command_error("%s", err.text);
		return 1;
	}
	if (r->plan.options.strict && command_nr_warnings())
		return 1;
	return incomplete ? STATUS_INCOMPLETE : 0;
}

/* Big tables go back to the system when they are freed: they are of all sizes, so that
 * the C library would keep holes of them. */
static void return_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, BIG_TABLE);
#endif
}

static int run(const struct command *self, int argc, char **argv)
{
	struct report r = { 0 };
	int first;
	int status;

	return_memory();
	status = command_options(self, OPTIONS_PERMUTE, argc, argv, &r.plan.options,
				 &first);
	if (status >= 0)
		return status;
	status = make_report(&r, argv + first);
	profile_done(&r.profile);
	report_plan_done(&r.plan);
	return status;
}

const struct command command_report = {
	.name = "report",
	.classic = "opreport",
	.summary = "show where the time of a recording went",
	.usage = "[options] [SESSION-DIR | profile specification...]",
	.notes = "A word is a directory with a session, an image pattern, or one of "
		 "image:LIST image-exclude:LIST lib-image:LIST lib-image-exclude:LIST "
		 "archive:PATH session:LIST session-exclude:LIST event:LIST count:LIST "
		 "unit-mask:LIST comm:LIST tgid:LIST tid:LIST cpu:LIST symbol:LIST "
		 "symbol-exclude:LIST time:LIST (10%-20%, 1.5s-3s).\n"
		 "Examples:\n"
		 "  opreport\n"
		 "  opreport --symbols --threshold 1\n"
		 "  opreport -l image:/usr/bin/make\n"
		 "  opreport --details --exclude-dependent\n"
		 "  opreport --by comm,image --csv",
	.options = report_rows,
	.run = run,
};
