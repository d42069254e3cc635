/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reading.h - reads a recording of a model again, for answers that its columns do not contain.
 * Layer: view. */
#pragma once
#include "aggregate/profile/profile.h"
#include "view/model_priv.h"
#include "view/params.h"

struct err;

/* What to read, and the result. The caller sets the members before the result. */
struct view_reading {
	struct view_model *m;
	size_t side;
	const struct view_params
		*params; /* the selection, without `through` and `text` */
	const char *keys;
	bool first_event;               /* unless `params` has an event */
	const char *image, *symbol;     /* only of this function; NULL: all */
	struct profile_options options; /* in addition to those of the model */
	/* The result. */
	struct key_list list;
	struct spec spec;
	struct profile profile;
};

/* Returns 0, or a negative errno with a message in *err; call view_reading_done() in any case. */
int view_reading_run(struct view_reading *r, struct err *err);
void view_reading_done(struct view_reading *r);
