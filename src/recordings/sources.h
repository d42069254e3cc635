/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sources.h - which sessions the words of a report's command line mean.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "aggregate/selection/spec.h"
#include "base/containers/vec.h"
#include "base/files/trust.h"

struct archive;
struct err;
struct scratch;

struct report_session {
	char *dir;  /* holds the segment files; of a perf.data its path */
	char *name; /* as the user wrote it: "current" */
	enum trust trust;
	bool perf_data; /* a file or directory of perf's, or "-", or another tool's */
};

struct report_sources {
	enum trust trust; /* set by the caller: whose recordings are read */
	VEC(struct report_session) sessions;
	VEC(int) holds; /* of sessions that may be recorded meanwhile: session_hold() */
	bool is_private; /* any that not every user can read: for export_out_end() */
	struct archive *archive; /* whose sessions these are; NULL: none was named */
	struct scratch
		*made; /* sessions that profiles of other tools became; NULL: none */
	char *samples_dir; /* DIR/samples when it was looked up by default, else NULL */
};

/* Whose recordings a command reads: with --force also those of other users. */
enum trust report_trust(bool force);
/* Whether it is a profile of another tool (import/foreign.h): after report_sources_sort(), as
 * report_sources_find() makes sessions of these. */
bool report_session_is_foreign(const struct report_session *s);
/* What --threads TEXT says; of NULL, the default, 0.  0, or -EINVAL with a line. */
int report_threads(const char *text, unsigned int *ret_nr, struct err *err);
/* Whether a word means a source, and not an image: also if that cannot be found out, because of an
 * error that report_sources_find() reports. */
bool report_source_is(const char *word);
/* Whether it names an archive, whether there is one or not. */
bool report_source_is_archive(const char *word);
/* Its path; the word itself if that is none. */
const char *report_source_archive(const char *word);
/* All of these take `sources` zeroed, except for its member `trust`.
 * Sorts words into sources (a directory with a session, a perf.data, "-") and the profile
 * specification, and looks the sessions up: below `session_dir`, else ./oprofile_data, else /var/lib/oprofile.
 * `archive:PATH` (or a file NAME.oparchive) is opened first; the sessions are then those in
 * it.  A session is in the result once, however often it is named.
 * 0, or a negative errno with a one-line reason; both results are then freed as usual. */
int report_sources_find(const char *session_dir, char *const *words, struct spec *spec,
			struct report_sources *sources, struct err *err);
/* Only the words: those that are sources, and the rest as the specification.  Likewise. */
int report_sources_sort(char *const *words, struct spec *spec,
			struct report_sources *sources, struct err *err);
/* The SESSION_... flags of session.h that any of the sessions was recorded with: known before
 * anything else is read of them.  Damaged segments add none.  0, or a negative errno with a line. */
int report_sources_flags(const struct report_sources *sources, uint32_t *ret_flags,
			 struct err *err);
void report_sources_done(struct report_sources *sources);
