/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history.h - writes the changes in a series of recordings: as text, CSV, JSON, and as pictures,
 * one for each row that changed.
 * Layer: present.  docs/diff.md describes the columns. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "present/diff/diff.h"

struct err;
struct history;
struct history_change;

struct history_view {
	struct diff_view diff; /* of the comparison that contains the runs */
	const struct history *history;
};

/* Each returns 0 or -ENOMEM.  The caller checks `out` with ferror(). */
int write_history_text(FILE *out, const struct history_view *v);
int write_history_csv(FILE *out, const struct history_view *v);
int write_history_json(FILE *out, const struct history_view *v);
/* Writes NN-SYMBOL.svg for each row that changed, the largest change first, into `dir`, which is
 * created if it is missing.  Returns 0, or a negative errno with a message in *err. */
int write_history_pictures(const char *dir, bool is_private,
			   const struct history_view *v, struct err *err);
/* Returns the file name of a run's recording. */
const char *history_run_name(const struct history_view *v, size_t run);
/* Returns the change in percent of the value before; INFINITY if that is 0. */
double history_relative(const struct history_change *change);
