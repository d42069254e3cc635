/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/selected.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/make/collect.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/path.h"
#include "base/files/scratch.h"
#include "base/log.h"
#include "format/perfdata/input.h"
#include "import/file.h"
#include "recordings/no_match.h"
#include "recordings/sample_filter.h"
#include "recordings/session_select.h"
#include "resolve/symbolize/naming.h"

enum {
	DIR_MODE = 0700
};

struct archive_selected {
	const struct archive_request *request;
	struct scratch *scratch;
	struct report_sources sources;
	struct naming_locations *locations;
	uint64_t samples, skipped;
	bool incomplete;
};

bool archive_selected_needed(const struct archive_request *request)
{
	return !request->for_perf && script_filter_needed(request->spec);
}

void archive_selected_free(struct archive_selected *s)
{
	if (!s)
		return;
	report_sources_done(&s->sources);
	naming_locations_free(s->locations);
	scratch_free(s->scratch);
	free(s);
}

const struct report_sources *archive_selected_sources(const struct archive_selected *s)
{
	return &s->sources;
}

/* Creates the directory SCRATCH/NUMBER/NAME and returns its path, or NULL with a message in
 * *err. */
static char *archive_selected_make_dir(const struct archive_selected *s, size_t number,
				       const char *name, struct err *err)
{
	char *dir;
	int r;

	if (asprintf(&dir, "%s/%zu/%s", scratch_folder(s->scratch), number, name) < 0) {
		err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	r = io_make_dirs(dir, DIR_MODE);
	if (!r)
		return dir;
	err_sys(err, r, "cannot create '%s'", dir);
	free(dir);
	return NULL;
}

/* ---- a session ---- */

static void say_incomplete(const char *name, const struct session_select_result *result)
{
	const struct segment_damage *d = &result->damage;

	log_say(LOG_WARNING,
		"%s is incomplete: %" PRIu32 " segments not finished, %" PRIu64
		" blocks damaged, %" PRIu64 " bytes cut off, %" PRIu64
		" samples without their data, %" PRIu64
		" missing; the archive has the rest",
		name, result->nr_unfinished, d->bad_blocks, d->cut_bytes,
		d->bad_samples, d->missing_samples);
}

static int select_session(struct archive_selected *s, const struct report_session *from,
			  const char *to, const struct spec *spec, struct err *err)
{
	const struct session_select_request request = { .from = from->dir,
							.trust = from->trust,
							.to = to,
							.spec = spec,
							.locations = s->locations };
	struct session_select_result result = { 0 };
	const struct segment_damage *d = &result.damage;
	int r = session_select(&request, &result, err);

	if (r)
		return r;
	s->samples += result.samples;
	s->skipped += result.skipped;
	if (segment_damage_any(d)) {
		say_incomplete(from->name, &result);
		s->incomplete = true;
	}
	return 0;
}

/* ---- a perf.data ---- */

/* Returns whether the file contains its end time, which is needed to select shares of the total
 * time. */
static bool archive_selected_knows_times(const struct report_session *from)
{
	struct perf_input *input;
	bool knows;

	if (perf_input_open(from->dir, from->trust, &input, NULL))
		return false;
	knows = perf_input_info(input)->last_ns;
	perf_input_close(input);
	return knows;
}

/* Converts a perf.data file to a first segment, which contains all names. This step has times in
 * nanoseconds, so it also selects samples by time, unless the selection needs an end time that
 * the file lacks. Stores in *ret_rest the specification for the second step, which applies the
 * remaining filters and drops names that are not used. *ret_rest borrows from the request's
 * specification. */
static int select_times(struct archive_selected *s, const struct report_session *from,
			const char *dir, struct spec *ret_rest, struct err *err)
{
	const struct spec *spec = s->request->spec;
	struct spec times = { .lists[SPEC_TIME] = spec->lists[SPEC_TIME],
			      .spans = spec->spans };
	struct import_request request = { .path = from->dir,
					  .trust = from->trust,
					  .jit_dir = dir,
					  .locations = s->locations };
	struct import_result result = { 0 };
	char *segment;
	int r;

	*ret_rest = *spec;
	if (spec->spans.nr &&
	    (!spec_has_shares(spec) || archive_selected_knows_times(from))) {
		request.spec = &times;
		ret_rest->lists[SPEC_TIME] = (struct spec_list){ 0 };
		memset(&ret_rest->spans, 0, sizeof(ret_rest->spans));
	}
	if (asprintf(&segment, "%s/segment-000001", dir) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	request.segment = segment;
	r = import_file(&request, &result, err);
	free(segment);
	if (r)
		return r;
	s->skipped += result.skipped;
	if (import_is_incomplete(&result)) {
		import_say_incomplete(from->name, &result);
		s->incomplete = true;
	}
	return 0;
}

/* Gives the new segment the permissions of the recording. */
static void archive_selected_copy_mode(const char *from, const char *dir)
{
	struct stat st;
	char *segment;

	if (stat(from, &st) || !S_ISREG(st.st_mode) ||
	    asprintf(&segment, "%s/segment-000001", dir) < 0)
		return;
	(void)io_set_mode(segment, st.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO));
	free(segment);
}

static int select_perf_data(struct archive_selected *s,
			    const struct report_session *from, size_t number,
			    const char *to, struct err *err)
{
	char *whole = archive_selected_make_dir(s, number, "whole", err);
	struct spec rest;
	int r;

	if (!whole)
		return err->code;
	r = select_times(s, from, whole, &rest, err);
	if (!r) {
		const struct report_session made = { .dir = whole, .name = from->name };

		archive_selected_copy_mode(from->dir, whole);
		/* A warning has already reported an incomplete recording. */
		r = select_session(s, &made, to, &rest, err);
	}
	(void)io_remove_tree(whole);
	free(whole);
	return r;
}

/* ---- all recordings ---- */

static int select_one(struct archive_selected *s, size_t number, struct err *err)
{
	const struct report_session *from = &s->request->sources->sessions.at[number];
	/* A session that was selected by name keeps its name in the archive. */
	const char *base = from->perf_data ? "recording" : path_base(from->dir);
	struct report_session made = { .dir = archive_selected_make_dir(s, number, base,
									err),
				       .name = strdup(from->name) };

	if (!made.dir || !made.name || !vec_push(&s->sources.sessions, made)) {
		int r = made.dir ? err_set(err, -ENOMEM, "out of memory") : err->code;

		free(made.dir);
		free(made.name);
		return r;
	}
	return from->perf_data
		       ? select_perf_data(s, from, number, made.dir, err)
		       : select_session(s, from, made.dir, s->request->spec, err);
}

static int select_all(struct archive_selected *s, struct err *err)
{
	struct location_options locations = s->request->locations;
	int r = scratch_new("oparchive", &s->scratch, err);

	locations.trace = NULL;
	if (!r)
		r = locations_make(&locations, &s->locations, err);
	for (size_t i = 0; !r && i < s->request->sources->sessions.nr; i++)
		r = select_one(s, i, err);
	if (!r && !s->samples && s->skipped)
		r = no_match_error(s->request->sources, s->request->spec, err);
	return r ? r : s->incomplete;
}

int archive_selected_new(const struct archive_request *request,
			 struct archive_selected **ret_selected, struct err *err)
{
	struct archive_selected *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_set(err, -ENOMEM, "out of memory");
	s->request = request;
	r = select_all(s, err);
	if (r < 0)
		archive_selected_free(s);
	else
		*ret_selected = s;
	return r;
}

char *archive_selected_origin(const struct archive_selected *s, const char *path)
{
	const struct report_sources *from = s->request->sources;
	char *origin;

	for (size_t i = 0; i < s->sources.sessions.nr; i++) {
		const char *dir = s->sources.sessions.at[i].dir;
		size_t len = strlen(dir);

		if (strncmp(path, dir, len) != 0 || path[len] != '/')
			continue;
		if (from->sessions.at[i].perf_data)
			return strdup(from->sessions.at[i].dir);
		return asprintf(&origin, "%s%s", from->sessions.at[i].dir, path + len) <
				       0
			       ? NULL
			       : origin;
	}
	return strdup(path);
}
