/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/report/read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregate/profile/call_graph.h"
#include "aggregate/read/profile_feed.h"
#include "aggregate/read/read.h"
#include "aggregate/selection/session_span.h"
#include "base/containers/closest_match.h"
#include "base/containers/huge.h"
#include "base/err.h"
#include "capture/events/events.h"
#include "format/session/session.h"
#include "present/lines/percent.h"
#include "present/lines/screen.h"
#include "record/keep/copy_rule.h"
#include "recordings/no_match.h"
#include "tools/cli/command.h"
#include "tools/cli/progress.h"
#include "tools/report/plan.h"

enum {
	RESTARTS_MAX = 5,
	LOOK_US = 100000,
	NR_LOOKS = 30 /* how often to check for the first segment of a new session */
};

/* Returns whether a segment was merged or removed since it was listed; `status` is the result of
 * reading it. */
static bool report_read_is_gone(const struct report_read *r, int status,
				const char *path)
{
	return status == -ENOENT && r->nr_restarts < RESTARTS_MAX &&
	       access(path, F_OK) != 0;
}

/* Returns whether the session was saved or removed while it was read. Then another directory has
 * its name, and some files next to the segments were read from that one. */
static bool is_other(const struct report_read *r, const char *dir,
		     const struct stat *before)
{
	struct stat now;

	return r->nr_restarts < RESTARTS_MAX &&
	       (stat(dir, &now) || now.st_dev != before->st_dev ||
		now.st_ino != before->st_ino);
}

/* Reads the segments of a session. Returns 0, -ESTALE without a message if a listed file no longer
 * exists, so that everything must be read again, or another negative errno with a message. */
static int report_read_segments(struct report_read *r, struct report_plan *plan,
				const struct report_session *session, struct err *err)
{
	struct session_span span = { 0 };
	char **paths;
	size_t nr;
	int status = session_list(session->dir, &paths, &nr, err);

	/* The session existed when the sources were found, so it was replaced: read everything
	 * again. */
	if (status == -ENOENT && r->nr_restarts < RESTARTS_MAX)
		return -ESTALE;
	if (status)
		return status;
	if (spec_has_shares(&plan->spec) &&
	    session_span_read(paths, nr, session->trust, &span))
		status = err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !status && i < nr; i++) {
		status = profile_read_segment(&r->profile, paths[i], session->dir,
					      session->name, &span, err);
		if (report_read_is_gone(r, status, paths[i])) {
			status = -ESTALE;
			break;
		}
		/* Skip one bad segment, but keep the others. */
		if (status && status != -ENOMEM && status != -ERANGE &&
		    status != -EPERM && nr > 1) {
			command_warning("%s", err->text);
			r->nr_unreadable++;
			status = 0;
		}
		report_progress_file(&r->progress, paths[i]);
		if (plan->verbose & VERBOSE_FILES) {
			progress_hide();
			screen_print_line(stderr, "%s", paths[i]);
		}
	}
	session_list_free(paths, nr);
	return status;
}

static int report_read_session(struct report_read *r, struct report_plan *plan,
			       const struct report_session *session, struct err *err)
{
	struct stat before = { 0 };
	int status;

	if (session->perf_data)
		return profile_read_perf_data(&r->profile, session->dir, session->name,
					      err);
	(void)stat(session->dir, &before);
	status = report_read_segments(r, plan, session, err);
	return !status && is_other(r, session->dir, &before) ? -ESTALE : status;
}

static int read_sources(struct report_read *r, struct report_plan *plan,
			struct err *err)
{
	const struct report_sources *sources = &plan->sources;
	int status = 0;

	if (profile_init(&r->profile, &plan->profile))
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !status && i < sources->sessions.nr; i++) {
		const struct report_session *session = &sources->sessions.at[i];

		status = report_read_session(r, plan, session, err);
		if (!status && session->perf_data)
			report_progress_file(&r->progress, session->dir);
	}
	return status;
}

/* Waits for a segment in a session that was just created: after `save` and `reset`, the daemon
 * creates the directory first and the segment a moment later. Returns false if none appears,
 * perhaps because the daemon is not sampling. */
static bool await_session(const char *dir)
{
	char **paths;
	size_t nr;

	for (int i = 0; i < NR_LOOKS; i++) {
		if (!session_list(dir, &paths, &nr, NULL)) {
			session_list_free(paths, nr);
			return true;
		}
		(void)usleep(LOOK_US);
	}
	return false;
}

static void restart_reading(struct report_read *r, const struct report_sources *sources)
{
	profile_done(&r->profile);
	r->nr_unreadable = 0;
	r->progress.done = 0;
	r->nr_restarts++;
	for (size_t i = 0; i < sources->sessions.nr; i++)
		if (!sources->sessions.at[i].perf_data &&
		    !await_session(sources->sessions.at[i].dir))
			r->nr_restarts = RESTARTS_MAX;
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
	while ((status = read_sources(r, plan, err)) == -ESTALE)
		restart_reading(r, sources);
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
	double lost = percent_of(t->lost, t->lost + t->samples);

	if (lost > 0.01)
		command_warning(
			"Lost samples detected! The kernel lost %" PRIu64 " of %" PRIu64
			" samples (%.2f %%). Lowering the sampling rate may reduce or eliminate lost samples.",
			t->lost, t->lost + t->samples, lost);
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
