/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff.h - the arguments of a differential profile, `COMMON... { SPEC... } { SPEC... }`.
 * Layer: tools. */
#pragma once
#include <stdbool.h>

#include "base/containers/vec.h"

struct err;
struct report_options;

/* Arguments of both sides, each with the common ones first, and NULL-terminated. */
struct diff_words {
	VEC(char *) before;
	VEC(char *) after;
};

/* Returns whether one of the arguments is "{", "}" or "{}". */
bool diff_words_any(char *const *words);
/* Splits the arguments, which it borrows. Returns 1; 0 if both sides are empty, which means an
 * ordinary report of the common arguments, stored in words->after; or -EINVAL or -ENOMEM with a
 * message in *err. Call diff_words_done() in any case. */
int diff_words_split(struct diff_words *words, char *const *all, struct err *err);
void diff_words_done(struct diff_words *words);
/* Checks the options. Returns 0, or -EINVAL with a message in *err if an option cannot be used for
 * a differential profile. */
int diff_check_options(const struct report_options *o, struct err *err);
