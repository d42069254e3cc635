/* SPDX-License-Identifier: GPL-2.0-or-later */
/* selected.h - reduces the recordings of an archive to the samples that its profile specification
 * selects.
 * Layer: archive. */
#pragma once
#include "recordings/sources.h"

struct archive_request;
struct archive_selected;
struct err;

/* Returns whether the specification selects samples, so that new sessions with only these are
 * needed. */
bool archive_selected_needed(const struct archive_request *request);
/* Creates sessions from the request's recordings (including perf.data files) in a temporary
 * directory.  Call before starting threads (base/files/scratch.h).  Returns 0; 1 if a recording
 * was incomplete, after a warning; or a negative errno with a message in *err if nothing is
 * selected, and for other errors. */
int archive_selected_new(const struct archive_request *request,
			 struct archive_selected **ret_selected, struct err *err);
/* Removes the temporary directory and frees `s`. NULL is allowed. */
void archive_selected_free(struct archive_selected *s);
/* Returns the new sessions, in the order of the request's recordings. */
const struct report_sources *archive_selected_sources(const struct archive_selected *s);
/* Returns the original of file `path` in one of the new sessions (malloc'd): a file of the
 * original session, or the perf.data. NULL if memory is short. */
char *archive_selected_origin(const struct archive_selected *s, const char *path);
