/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sources.h - finds the sessions that the arguments of a report name.
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
	char *dir;  /* directory of the segments; for a perf.data, its path */
	char *name; /* as the user wrote it, for example "current" */
	enum trust trust;
	bool perf_data; /* perf's file or directory, "-", or another tool's file */
};

struct report_sources {
	enum trust trust; /* set by the caller: whose recordings may be read */
	/* Set by the caller: the directory of --root, where symbolic links in names of images are
	 * followed; NULL: none.  For an archive, this is the archive. */
	const char *root;
	VEC(struct report_session) sessions;
	VEC(int) holds; /* session_hold() of sessions that may still be recording */
	/* not every user can read all recordings, so output must be private */
	bool is_private;
	struct archive
		*archive; /* contains these sessions; NULL: the user named no archive */
	struct scratch
		*made; /* sessions converted from other tools' profiles; NULL: none */
	char *samples_dir; /* DIR/samples if it was found by default, else NULL */
};

/* Returns the trust with which a command reads recordings: with --force, also those of other
 * users. */
enum trust report_trust(bool force);
/* Returns whether the source is a profile of another tool (import/foreign.h). Use it only after
 * report_sources_sort(): report_sources_find() converts such profiles into sessions. */
bool report_session_is_foreign(const struct report_session *s);
/* Returns whether the argument `word` named this session. A merged session yields one session
 * per part, with the name WORD/LABEL; these also match. */
bool report_session_is_of(const struct report_session *s, const char *word);
/* Parses the argument of --threads; NULL, the default, gives 0.  Returns 0, or -EINVAL with a
 * message in *err. */
int report_threads(const char *text, unsigned int *ret_nr, struct err *err);
/* Returns whether a word names a source and not an image.  Also returns true if an error prevents
 * the check; report_sources_find() then reports the error. */
bool report_source_is(const char *word);
/* Returns whether the word names an archive, even one that does not exist. */
bool report_source_is_archive(const char *word);
/* Returns the path of the archive, or the word itself if it does not name one. */
const char *report_source_archive(const char *word);
/* report_sources_find() and report_sources_sort() require `sources` to be zeroed, except for its
 * members `trust` and `root`.
 * Sorts words into sources (a directory with a session, a perf.data, "-") and the profile
 * specification, and finds the sessions: below `session_dir`, or else ./oprofile_data, or else
 * /var/lib/oprofile. If a word is `archive:PATH` (or a file NAME.oparchive), opens the archive
 * first and finds the sessions in it. A session occurs in the result once, even if it is named
 * twice.
 * Returns 0, or a negative errno with a message in *err; free both results in any case. */
int report_sources_find(const char *session_dir, char *const *words, struct spec *spec,
			struct report_sources *sources, struct err *err);
/* Sorts the words like report_sources_find(), but does not search for sessions that no word
 * names, and does not convert other tools' profiles. */
int report_sources_sort(char *const *words, struct spec *spec,
			struct report_sources *sources, struct err *err);
/* Combines the SESSION_... flags (session.h) of the first readable segment of each session, for
 * decisions that precede the reading of samples. Ignores damaged segments. Returns 0, or a
 * negative errno with a message in *err. */
int report_sources_flags(const struct report_sources *sources, uint32_t *ret_flags,
			 struct err *err);
void report_sources_done(struct report_sources *sources);
