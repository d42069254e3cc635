/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decide.h - decides whether the command fails (--fail-above).
 * Layer: tools. */
#pragma once
#include <stdbool.h>

struct diff_view;
struct history_view;

/* Returns whether a row, or the total if rates are compared, became significantly slower by at
 * least `limit` percentage points. Prints the decision and its reason as one line to standard
 * error. */
bool diff_decide(const struct diff_view *v, double limit);
/* Returns whether a function became significantly slower by at least `limit` percentage points in
 * the series, and no later change of it followed. Prints the decision and its reason as one line to
 * standard error. */
bool diff_decide_history(const struct history_view *v, double limit);
