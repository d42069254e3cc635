/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.h - counts how often code ran, over all sources of an export; for afdo and bolt.
 * Layer: tools. */
#pragma once

struct code_counts;
struct err;
struct export_run;
struct naming;

/* Receives the counts of one source; the images are those of `naming`'s dict.  Returns 0, or a
 * negative errno with a message in *err. */
struct dict;
typedef int (*export_code_fn)(void *ctx, const struct code_counts *counts,
			      const struct dict *dict, struct naming *naming,
			      struct err *err);

/* Reads each source of the run, and calls `fn` for each segment and perf.data.  Reads branch
 * stacks if there are any; sessions have none.  Warns about incomplete input, and records that in
 * the run. Returns 0, or a negative errno with a message in *err (-ENODATA: no sample is
 * selected). */
int export_code_read(struct export_run *run, export_code_fn fn, void *ctx,
		     struct err *err);
