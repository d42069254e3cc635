/* report.c - `oprofile report`, called opreport: where the time of a session went. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/classes.h"
#include "aggregate/profile.h"
#include "base/err.h"
#include "base/parse.h"
#include "format/session.h"
#include "present/percent.h"
#include "present/writers.h"
#include "resolve/naming.h"
#include "tools/command.h"
#include "tools/report_options.h"
#include "tools/report_source.h"

enum {
	STATUS_INCOMPLETE = 3
};

extern const struct command command_report;

/* One run: what was asked for, and what came of it. */
struct report {
	struct report_options options;
	struct present_options present;
	const struct writer *writer;
	struct key_list keys;
	struct spec spec;
	struct report_sources sources;
	struct profile profile;
	struct naming_places *places;
	size_t nr_unreadable; /* segments that could not be opened */
};

static int choose_threshold(struct report *r, struct err *err)
{
	const char *text = r->options.threshold;

	if (!text)
		return 0;
	if (!parse_double(text, &r->present.threshold) || r->present.threshold > 100)
		return err_set(err, -EINVAL,
			       "illegal threshold value: %s allowed range: [0-100]",
			       text);
	return 0;
}

/* The form of the report and the keys it groups by. */
static int choose_form(struct report *r, struct err *err)
{
	const struct report_options *o = &r->options;
	const char *form = o->symbols ? "symbols" : o->by ? "table" : "summary";
	const char *keys = o->symbols ? "app,image,symbol" : "app,image";

	if (o->csv && o->json)
		return err_set(err, -EINVAL, "--csv and --json: give one of them");
	if (o->symbols && o->by)
		return err_set(
			err, -EINVAL,
			"--symbols and --by: give one of them (--by image,symbol)");
	if (o->csv)
		form = "csv";
	else if (o->json)
		form = "json";
	r->writer = writer_find(form);
	r->present.kept = KEEP_UNIT_MASK;
	r->present.reverse = o->reverse;
	r->present.long_names = o->long_names;
	r->present.no_header = o->no_header;
	r->present.quality = o->quality;
	return keys_parse(&r->keys, o->by ? o->by : keys, err);
}

static int read_session(struct report *r, const struct report_session *session,
			struct err *err)
{
	uint64_t start_ns = 0;
	char **paths;
	size_t nr;
	int status = session_list(session->dir, &paths, &nr, err);

	if (status)
		return status;
	for (size_t i = 0; i < nr; i++) {
		if (!status)
			status = profile_read_segment(&r->profile, paths[i],
						      session->dir, session->name,
						      &start_ns, err);
		/* One bad segment does not take the others with it. */
		if (status && status != -ENOMEM && status != -ERANGE && nr > 1) {
			command_warning("%s", err->text);
			r->nr_unreadable++;
			status = 0;
		}
		free(paths[i]);
	}
	free(paths);
	return status;
}

static int read_all(struct report *r, struct err *err)
{
	const struct report_options *o = &r->options;
	struct profile_options options = {
		.keys = &r->keys,
		.spec = &r->spec,
		.names = o->by || o->csv || o->json ? NAMES_PERF : NAMES_OPROFILE,
		.functions_apart = o->symbols && !o->csv && !o->json,
		.periods = o->csv || o->json,
		.quality = o->quality,
	};

	if (naming_places_new(&(const struct naming_options){ 0 }, &r->places))
		return err_set(err, -ENOMEM, "out of memory");
	options.places = r->places;
	if (profile_init(&r->profile, &options))
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < r->sources.sessions.nr; i++) {
		int status = read_session(r, &r->sources.sessions.at[i], err);

		if (status)
			return status;
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
		r->sources.sessions.at[0].dir);
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
	int status = r->writer->write(out, &r->profile, &r->present, err);

	if (status)
		return status;
	errno = 0;
	if (fflush(out) || ferror(out))
		return err_sys(err, errno ? -errno : -EIO, "%s: cannot write", name);
	return 0;
}

static int write_report(struct report *r, struct err *err)
{
	const char *path = r->options.output_file;
	int status;
	FILE *out;

	if (!path) {
		status = write_to(r, stdout, "standard output", err);
		/* Said here: main need not say it again. */
		if (status)
			clearerr(stdout);
		return status;
	}
	out = fopen(path, "we");
	if (!out)
		return err_set(err, -errno, "Couldn't open \"%s\" for writing.", path);
	status = write_to(r, out, path, err);
	if (fclose(out) && !status)
		status = err_sys(err, -errno, "%s: cannot write", path);
	return status;
}

/* perf's options are words of the specification in other dress. */
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

static int prepare(struct report *r, char *const *words, struct err *err)
{
	int status = choose_threshold(r, err);

	if (!status)
		status = choose_form(r, err);
	if (!status)
		status = add_option_word(&r->spec, "lib-image", r->options.dsos, err);
	if (!status)
		status = add_option_word(&r->spec, "comm", r->options.comms, err);
	if (!status)
		status = report_sources_find(r->options.session_dir, words, &r->spec,
					     &r->sources, err);
	if (r->sources.samples_dir)
		fprintf(stderr, "Using %s/ for samples directory.\n",
			r->sources.samples_dir);
	return status;
}

static int make_report(struct report *r, char *const *words)
{
	struct err err = { 0 };
	bool incomplete;
	int status = prepare(r, words, &err);

	if (!status)
		status = read_all(r, &err);
	incomplete = r->profile.nr_keys && warn_of_damage(r);
	if (!status) {
		warn_of_losses(&r->profile.input);
		status = write_report(r, &err);
	}
	if (status) {
		command_error("%s", err.text);
		return 1;
	}
	if (r->options.strict && command_nr_warnings())
		return 1;
	return incomplete ? STATUS_INCOMPLETE : 0;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct report r = { 0 };
	int first;
	int status;

	status = command_options(self, OPTIONS_PERMUTE, argc, argv, &r.options, &first);
	if (status >= 0)
		return status;
	status = make_report(&r, argv + first);
	profile_done(&r.profile);
	naming_places_free(r.places);
	report_sources_done(&r.sources);
	spec_done(&r.spec);
	keys_done(&r.keys);
	return status;
}

const struct command command_report = {
	.name = "report",
	.classic = "opreport",
	.summary = "show where the time of a recording went",
	.usage = "[options] [SESSION-DIR | profile specification...]",
	.notes = "A word is a directory with a session, an image pattern, or one of "
		 "image:LIST image-exclude:LIST lib-image:LIST lib-image-exclude:LIST "
		 "session:LIST session-exclude:LIST event:LIST count:LIST "
		 "unit-mask:LIST comm:LIST tgid:LIST tid:LIST cpu:LIST.\n"
		 "Examples:\n"
		 "  opreport\n"
		 "  opreport --symbols --threshold 1\n"
		 "  opreport -l image:/usr/bin/make\n"
		 "  opreport --by comm,image --csv",
	.options = report_rows,
	.run = run,
};
