/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.h - how often code ran, of the sources of an export: for afdo and bolt.
 * Layer: tools. */
#pragma once

struct code_counts;
struct err;
struct export_run;
struct naming;

/* Gets what one source has: the images are those of `naming`'s dict.  0, or a negative errno with a
 * line. */
struct dict;
typedef int (*export_code_fn)(void *ctx, const struct code_counts *counts,
			      const struct dict *dict, struct naming *naming,
			      struct err *err);

/* Reads each source that the run has, and calls `fn` for each segment and perf.data.  Branch stacks are
 * read where they are: a session has none.  What is incomplete is said, and noted in the run.  0, or a
 * negative errno with a line (-ENODATA: no sample is asked for). */
int export_code_read(struct export_run *run, export_code_fn fn, void *ctx,
		     struct err *err);
