/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit.h - finds what just-in-time compilers told of their code, for the archive of a
 * recording that was made without `operf --archive`, which keeps it itself.
 * Layer: archive. */
#pragma once
#include <stdbool.h>

struct archive_request;
struct err;
struct report_session;
struct source_image;

/* Is told of a file: where it can be opened, and the absolute path that it was recorded by.  A
 * negative errno, with its line, ends the search. */
typedef int (*archive_jit_fn)(void *ctx, const char *from, const char *path);

/* Maps /tmp/perf-PID.map, below the root or archive of the request if it has one, of processes
 * with hits outside of all files in the recording that `at` belongs to; those that are older
 * than the recording are another process's.  `ret_any`: whether there are such hits.
 * 0 or what `fn` said. */
int archive_jit_maps(const struct archive_request *request,
		     const struct source_image *at, archive_jit_fn fn, void *ctx,
		     bool *ret_any);
/* The jitdump files that processes of the perf.data `from` mapped.  0, what `fn` said, or
 * what reading it did. */
int archive_jit_dumps(const struct archive_request *request,
		      const struct report_session *from, archive_jit_fn fn, void *ctx,
		      struct err *err);
