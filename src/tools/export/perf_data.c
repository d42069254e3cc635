/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_data.c - `oprofile export perf-data`: writes sessions and recordings as one perf.data.
 * A perf.data among the sources is first converted to a segment (import/file.h), so that its
 * samples are sorted and filtered like those of sessions.  The output is written in a temporary
 * directory and renamed when it is complete. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregate/read/sample_merge.h"
#include "aggregate/selection/spec.h"
#include "archive/read/open.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/output.h"
#include "base/files/scratch.h"
#include "format/perfdata/data.h"
#include "format/perfdata/input.h"
#include "import/file.h"
#include "present/lines/screen.h"
#include "recordings/sources.h"
#include "resolve/symbolize/naming.h"
#include "resolve/unresolve/unresolve.h"
#include "tools/cli/command.h"
#include "tools/export/export.h"

enum {
	/* Number of samples in a round; readers sort at least this many samples. */
	ROUND_SAMPLES = 1 << 14
};

struct perf_data_export {
	struct export_run *run;
	const char *output;
	char *target;        /* path of the output file, with links resolved */
	struct scratch *dir; /* temporary directory for the output */
	char *making;        /* output file in that directory */
	/* Where binaries are searched to evaluate symbol:. */
	struct naming_locations *locations;
	struct sample_merge *merge;
	struct unresolve *unresolve;
	struct perf_data_writer *writer;
	struct err write_err;
	uint64_t sample_types; /* sample_type bits of all perf.data files */
	uint64_t nr_samples;
	uint64_t not_asked_for;
	uint64_t first_ns, last_ns;
};

/* ---- output file ---- */

static int check_output(const struct perf_data_export *e, struct err *err)
{
	struct stat st;

	if (!*e->output || !strcmp(e->output, "-"))
		return err_set(
			err, -EINVAL,
			"--output-file: a perf.data file cannot be written to the standard output");
	if (stat(e->output, &st))
		return 0;
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s is not a regular file", e->output);
	if (!e->run->options->output)
		return err_set(
			err, -EEXIST,
			"%s already exists: give another name with --output-file",
			e->output);
	return 0;
}

static int export_perf_data_make_dir(struct perf_data_export *e, struct err *err)
{
	int r = check_output(e, err);

	if (r)
		return r;
	r = output_target(e->output, &e->target, err);
	if (!r && !e->target)
		r = err_set(err, -EINVAL, "%s is not a regular file", e->output);
	if (!r)
		r = scratch_new_next_to(e->target, &e->dir, err);
	if (r)
		return r;
	if (asprintf(&e->making, "%s/perf.data", scratch_folder(e->dir)) < 0) {
		e->making = NULL;
		return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* ---- input ---- */

static int export_perf_data_add_session(struct perf_data_export *e,
					const struct report_session *from,
					uint32_t number, struct err *err)
{
	char **paths;
	size_t nr;
	int r = session_list(from->dir, &paths, &nr, err);

	if (r)
		return r;
	for (size_t i = 0; !r && i < nr; i++) {
		const struct sample_merge_source source = { .path = paths[i],
							    .session_dir = from->dir,
							    .session = number,
							    .trust = from->trust };

		r = sample_merge_add(e->merge, &source, err);
	}
	session_list_free(paths, nr);
	return r;
}

/* Returns whether the file contains its end time, which is needed to select shares of the total
 * time. */
static bool export_perf_data_knows_times(const struct report_session *s)
{
	struct perf_input *input;
	struct stat st;
	bool knows;

	/* A pipe can only be opened once, and does not contain its end time. */
	if (stat(s->dir, &st) || S_ISFIFO(st.st_mode) ||
	    perf_input_open(s->dir, s->trust, &input, NULL))
		return false;
	knows = perf_input_info(input)->last_ns;
	perf_input_close(input);
	return knows;
}

/* Converts a perf.data to a segment. Selects by time during the conversion if possible, because
 * only then the times have nanoseconds. */
static int export_perf_data_add_perf_data(struct perf_data_export *e,
					  const struct report_session *source,
					  uint32_t number, struct err *err)
{
	const struct spec *spec = e->run->spec;
	struct sample_merge_source made = {
		.session_dir = "",
		.session = number,
		.chosen = !spec_has_symbols(spec) &&
			  (!spec_has_shares(spec) ||
			   export_perf_data_knows_times(source)),
	};
	struct import_request request = { .path = source->dir,
					  .trust = source->trust,
					  .spec = made.chosen ? spec : NULL };
	struct import_result result;
	char *segment;
	int r;

	if (asprintf(&segment, "%s/%" PRIu32, scratch_folder(e->dir), number) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	request.segment = segment;
	r = import_file(&request, &result, err);
	if (!r) {
		e->sample_types |= result.sample_types;
		e->not_asked_for += result.skipped;
		if (import_is_incomplete(&result)) {
			import_say_incomplete(source->name, &result);
			e->run->incomplete = true;
		}
		made.path = segment;
		r = sample_merge_add(e->merge, &made, err);
	}
	free(segment);
	return r;
}

static int add_sources(struct perf_data_export *e, struct err *err)
{
	const struct report_sources *sources = e->run->sources;

	for (uint32_t i = 0; i < sources->sessions.nr; i++) {
		const struct report_session *s = &sources->sessions.at[i];
		int r = s->perf_data ? export_perf_data_add_perf_data(e, s, i, err)
				     : export_perf_data_add_session(e, s, i, err);

		if (r)
			return r;
	}
	return 0;
}

/* ---- warnings ---- */

static const struct not_kept {
	uint64_t sample_types;
	const char *what;
} not_kept[] = {
	{ PERF_SAMPLE_BRANCH_STACK, "branch stacks" },
	{ PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR |
		  PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE,
	  "data addresses" },
	{ PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, "weights" },
	{ PERF_SAMPLE_TRANSACTION, "transactions" },
	{ PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR, "registers" },
	{ PERF_SAMPLE_STACK_USER, "copies of stacks" },
	{ PERF_SAMPLE_RAW, "raw data (the fields of tracepoints)" },
	{ PERF_SAMPLE_READ, "values of counters" },
	{ PERF_SAMPLE_AUX, "hardware traces" },
};

static void say_not_kept(const struct perf_data_export *e)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < COUNT_OF(not_kept); i++) {
		if (!(not_kept[i].sample_types & e->sample_types))
			continue;
		if (text.len)
			buf_put(&text, ", ", 2);
		buf_put(&text, not_kept[i].what, strlen(not_kept[i].what));
	}
	if (text.len && !text.failed)
		command_warning("not exported to the perf.data file: %.*s",
				(int)text.len, (char *)text.data);
	buf_done(&text);
}

static void say_merge(struct perf_data_export *e)
{
	const struct sample_merge_info *info = sample_merge_info(e->merge);
	const struct segment_damage *d = &info->damage;

	if (info->nr_machines > 1)
		command_warning(
			"%" PRIu32 " machines (or boots of a machine) in one file: "
			"processes with the same pid are distinguished only by time, as given by each machine's clock",
			info->nr_machines);
	e->run->incomplete |= d->missing_samples;
	if (!d->bad_blocks && !d->cut_bytes && !d->bad_samples && !info->nr_unfinished)
		return;
	/* For a perf.data, the reader has already warned. */
	if (!e->run->incomplete || d->bad_samples)
		command_warning("the recording is incomplete: %" PRIu32 " of %" PRIu32
				" segments unfinished, %" PRIu64
				" blocks damaged, %" PRIu64 " bytes cut off, %" PRIu64
				" samples without their data left out",
				info->nr_unfinished, info->nr_segments, d->bad_blocks,
				d->cut_bytes, d->bad_samples);
	e->run->incomplete = true;
}

/* ---- writing records ---- */

static int write_record(void *ctx, const void *record, size_t len)
{
	struct perf_data_export *e = ctx;

	return perf_data_writer_write(e->writer, record, len, &e->write_err);
}

/* Returns the event's name for perf, which has no event TIMER. */
static const char *export_perf_data_perf_name(const struct dict *d,
					      const struct event_desc *e)
{
	return e->flags & EVENT_TIMER ? "cpu-clock" : dict_str(d, e->name);
}

static int export_perf_data_open_writer(struct perf_data_export *e, struct err *err)
{
	const struct dict *d = sample_merge_dict(e->merge);
	size_t nr = d->events.nr;
	struct perf_event_attr *attrs = calloc(nr + 1, sizeof(*attrs));
	struct perf_data_event *events = calloc(nr + 1, sizeof(*events));
	uint64_t *ids = calloc(nr + 1, sizeof(*ids));
	int r = -ENOMEM;

	for (uint32_t i = 0; attrs && events && ids && i < nr; i++) {
		ids[i] = unresolve_id(i);
		unresolve_attr(d, i, sample_merge_info(e->merge)->cgroups, &attrs[i]);
		events[i] = (struct perf_data_event){
			.attr = &attrs[i],
			.name = export_perf_data_perf_name(d, &d->events.at[i]),
			.ids = &ids[i],
			.nr_ids = 1,
		};
	}
	if (attrs && events && ids)
		r = perf_data_writer_open(e->making, events, nr, &e->writer, err);
	else
		err_set(err, r, "out of memory");
	free(attrs);
	free(events);
	free(ids);
	return r;
}

static int export_perf_data_put_sample(struct perf_data_export *e,
				       const struct sample *s)
{
	int r = unresolve_sample(e->unresolve, s);

	if (r)
		return r;
	if (!e->nr_samples)
		e->first_ns = s->time_ns;
	e->last_ns = s->time_ns;
	return ++e->nr_samples % ROUND_SAMPLES
		       ? 0
		       : perf_data_writer_finished_round(e->writer, &e->write_err);
}

/* Sets the message for an error, unless the writer has already set one. */
static int write_error(const struct perf_data_export *e, int r, struct err *err)
{
	return e->write_err.code
		       ? err_set(err, r, "%s: %s", e->output, e->write_err.text)
		       : err_sys(err, r, "cannot write '%s'", e->output);
}

static int export_perf_data_put_samples(struct perf_data_export *e, struct err *err)
{
	for (;;) {
		struct sample s;
		int r = sample_merge_next(e->merge, &s, err);

		if (r)
			return r < 0 ? r : 0;
		r = export_perf_data_put_sample(e, &s);
		if (r)
			return write_error(e, r, err);
	}
}

static int export_perf_data_put_all(struct perf_data_export *e, struct err *err)
{
	const struct unresolve_ops ops = { .write = write_record, .ctx = e };
	const struct sample_merge_info *info = sample_merge_info(e->merge);
	int r = unresolve_new(sample_merge_dict(e->merge), &ops, info->cgroups,
			      &e->unresolve);

	if (!r)
		r = unresolve_kernel(e->unresolve, sample_merge_machines(e->merge));
	if (r)
		return write_error(e, r, err);
	r = export_perf_data_put_samples(e, err);
	if (!r && info->lost) {
		r = unresolve_lost(e->unresolve, 0, info->lost, e->last_ns);
		if (r)
			return write_error(e, r, err);
	}
	return r;
}

/* ---- header features ---- */

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

static bool export_perf_data_is_kernel(const struct image *image)
{
	return image->kind == IMAGE_KERNEL || image->kind == IMAGE_MODULE;
}

struct export_perf_data_build_ids {
	VEC(struct perf_data_build_id) list;
	VEC(char *) names; /* owns the names of `list` */
};

static void build_ids_done(struct export_perf_data_build_ids *ids)
{
	for (size_t i = 0; i < ids->names.nr; i++)
		free(ids->names.at[i]);
	vec_done(&ids->names);
	vec_done(&ids->list);
}

static int list_build_ids(struct perf_data_export *e,
			  struct export_perf_data_build_ids *ids)
{
	const struct dict *d = sample_merge_dict(e->merge);

	for (uint32_t i = 0; i < d->images.nr; i++) {
		const struct image *image = &d->images.at[i];
		const char *name = unresolve_image_name(e->unresolve, i);
		struct perf_data_build_id row = { .id = image->build_id,
						  .kernel = export_perf_data_is_kernel(
							  image) };
		char *own;

		if (!name || !image->build_id.len)
			continue;
		/* A copy, because it is borrowed only until the next call. */
		own = strdup(name);
		row.path = own;
		if (!own || !vec_push(&ids->names, own)) {
			free(own);
			return -ENOMEM;
		}
		if (!vec_push(&ids->list, row))
			return -ENOMEM;
	}
	return 0;
}

static int export_perf_data_close_writer(struct perf_data_export *e, struct err *err)
{
	const struct session_info *info = &sample_merge_info(e->merge)->first;
	char *command = strdup(info->command);
	struct perf_data_features f = {
		.hostname = known(info->hostname),
		.os_release = known(info->os_release),
		.version = OPROFILE_VERSION,
		.arch = known(info->machine),
		.cpu_desc = known(info->cpu_desc),
		.nr_cpus_available = info->nr_cpus_online,
		.nr_cpus_online = info->nr_cpus_online,
		.command = &command,
		.nr_command = command && *command,
		.first_ns = e->first_ns,
		.last_ns = e->last_ns,
		.clock_id = info->clock_id,
		.clock_wall_ns = info->start_wall_ns,
		.clock_ns = info->start_ns,
	};
	struct export_perf_data_build_ids ids = { 0 };
	int r = list_build_ids(e, &ids);

	f.build_ids = ids.list.at;
	f.nr_build_ids = ids.list.nr;
	if (!r && command) {
		r = perf_data_writer_close(e->writer, &f, &e->write_err);
		e->writer = NULL;
	} else {
		r = -ENOMEM;
	}
	build_ids_done(&ids);
	free(command);
	return r ? write_error(e, r, err) : 0;
}

/* ---- the export ---- */

static int open_positions(struct perf_data_export *e, struct err *err)
{
	struct location_options from = e->run->options->locations;

	from.archive = archive_folder(e->run->sources->archive);
	return locations_make(&from, &e->locations, err);
}

/* Explains why there are no samples: not selected, or none in the input. */
static int no_samples(struct perf_data_export *e, struct err *err)
{
	uint64_t skipped = e->not_asked_for + sample_merge_skipped(e->merge);

	say_merge(e);
	if (!skipped)
		return err_set(err, -ENODATA, "there is no sample to export");
	return err_set(err, -ENODATA,
		       "none of the %" PRIu64
		       " samples is selected: profile specification too strict ?",
		       skipped);
}

static int export_perf_data_make(struct perf_data_export *e, struct err *err)
{
	int r = open_positions(e, err);

	if (r)
		return r;
	r = sample_merge_new(e->run->spec, e->locations, &e->merge);
	if (r)
		return err_set(err, r, "out of memory");
	r = add_sources(e, err);
	if (!r)
		r = export_perf_data_open_writer(e, err);
	if (!r)
		r = export_perf_data_put_all(e, err);
	if (!r && !e->nr_samples)
		r = no_samples(e, err);
	if (!r)
		r = export_perf_data_close_writer(e, err);
	if (!r && (r = io_rename(e->making, e->target)))
		err_sys(err, r, "cannot write '%s'", e->output);
	return r;
}

static void clean_up(struct perf_data_export *e)
{
	const struct perf_data_features none = { .clock_id = -1 };

	if (e->writer)
		(void)perf_data_writer_close(e->writer, &none, NULL);
	unresolve_free(e->unresolve);
	sample_merge_free(e->merge);
	naming_locations_free(e->locations);
	scratch_free(e->dir);
	free(e->making);
	free(e->target);
}

int export_perf_data(struct export_run *run, struct err *err)
{
	struct perf_data_export e = {
		.run = run,
		.output = run->options->output ? run->options->output : "perf.data",
	};
	int r;

	r = export_perf_data_make_dir(&e, err);
	if (!r)
		r = export_perf_data_make(&e, err);
	if (!r) {
		say_merge(&e);
		say_not_kept(&e);
	}
	if (!r && run->options->verbose)
		screen_print_line(stderr,
				  "%s: %" PRIu64 " samples, %" PRIu64 " not selected",
				  e.output, e.nr_samples,
				  e.not_asked_for + sample_merge_skipped(e.merge));
	clean_up(&e);
	return r;
}
