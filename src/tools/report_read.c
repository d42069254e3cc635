#include "tools/report_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/huge.h"
#include "capture/events.h"
#include "format/session.h"
#include "present/percent.h"
#include "tools/command.h"
#include "tools/progress.h"
#include "tools/report_plan.h"

static int read_session(struct report_read *r, struct report_plan *plan,
			const struct report_session *session, struct err *err)
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
	if (spec_has_shares(&plan->spec) && session_span_read(paths, nr, &span))
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
		if (plan->verbose & VERBOSE_FILES) {
			progress_hide();
			fprintf(stderr, "%s\n", paths[i]);
		}
	}
	session_list_free(paths, nr);
	return status;
}

/* A perf.data has names alone. */
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

int report_read_all(struct report_read *r, struct report_plan *plan, struct err *err)
{
	const struct report_sources *sources = &plan->sources;

	huge_heap();
	report_progress_begin(&r->progress, sources, &plan->profile);
	if (profile_init(&r->profile, &plan->profile))
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < sources->sessions.nr; i++) {
		const struct report_session *session = &sources->sessions.at[i];
		int status = read_session(r, plan, session, err);

		if (status)
			return status;
		if (session->perf_data)
			report_progress_file(&r->progress, session->dir);
	}
	describe_events(&r->profile);
	profile_finish(&r->profile);
	if (plan->profile.call_graph && !plan->options.tree &&
	    call_graph_make(&r->profile))
		return err_set(err, -ENOMEM, "out of memory");
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

void report_warn_of_losses(const struct report_read *r)
{
	const struct profile_input *in = &r->profile.input;
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

/* The same as below of perf.data files. */
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

/* One line with numbers if not all of the input could be read. */
static bool warn_of_session_damage(const struct report_read *r)
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

bool report_warn_of_damage(const struct report_read *r)
{
	bool incomplete = r->profile.nr_keys && warn_of_session_damage(r);

	return warn_of_file_damage(&r->profile.input) || incomplete;
}
