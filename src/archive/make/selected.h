/* SPDX-License-Identifier: GPL-2.0-or-later */
/* selected.h - the recordings of an archive with the samples of its profile specification
 * only.
 * Layer: archive. */
#pragma once
#include "recordings/sources.h"

struct archive_request;
struct archive_selected;
struct err;

/* Whether the specification selects among samples, and not only sessions. */
bool archive_selected_needed(const struct archive_request *request);
/* Makes sessions of the request's recordings, a perf.data too, in a temporary directory.
 * To be called before there are threads (base/files/scratch.h).  0; 1: a recording was incomplete, as a
 * warning said; or a negative errno with a line: nothing is selected, ... */
int archive_selected_new(const struct archive_request *request,
			 struct archive_selected **ret_selected, struct err *err);
/* The directory goes.  NULL is fine. */
void archive_selected_free(struct archive_selected *s);
/* The sessions, in the order of the request's. */
const struct report_sources *archive_selected_sources(const struct archive_selected *s);
/* Where the file `path` of one of them comes from, malloc'd: a file of the session, or the
 * perf.data.  NULL when memory is short. */
char *archive_selected_origin(const struct archive_selected *s, const char *path);
