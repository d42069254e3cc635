/* SPDX-License-Identifier: GPL-2.0-or-later */
/* notes.h - makes the notes before a comparison: differences between the recordings, and
 * limits of the data.
 * Layer: present. */
#pragma once
#include "base/containers/vec.h"

struct comparison;

struct diff_notes {
	VEC(char *) texts;
};

/* Makes the notes of a comparison, after comparison_finish(). Returns 0 or -ENOMEM; call
 * diff_notes_done() in any case. */
int diff_notes_make(const struct comparison *c, struct diff_notes *ret_notes);
void diff_notes_done(struct diff_notes *n);
