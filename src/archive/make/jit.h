/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit.h - finds the maps and dumps of just-in-time compilers for an archive of a recording that
 * has no copies of them, such as a perf.data file.
 * Layer: archive. */
#pragma once
#include <stdbool.h>

struct archive_request;
struct err;
struct report_session;
struct source_image;

/* Called for each file. `from` is a path for opening it, `path` its absolute path in the
 * recording. A negative errno, with a message already stored, ends the search. */
typedef int (*archive_jit_fn)(void *ctx, const char *from, const char *path);

/* Finds the maps /tmp/perf-PID.map of those processes that have hits outside of all files, in
 * the recording that `at` belongs to. Searches below the request's root or archive, if it has
 * one. Skips maps older than the recording, because they belong to other processes. Sets
 * *ret_any to whether there are such hits. Returns 0 or the result of `fn`. */
int archive_jit_maps(const struct archive_request *request,
		     const struct source_image *at, archive_jit_fn fn, void *ctx,
		     bool *ret_any);
/* Finds the jitdump files that processes of the perf.data `from` mapped.  Returns 0, the result
 * of `fn`, or an error of reading the perf.data. */
int archive_jit_dumps(const struct archive_request *request,
		      const struct report_session *from, archive_jit_fn fn, void *ctx,
		      struct err *err);
