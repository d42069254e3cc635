/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_filter.h - filters the samples of `oprofile script` by its arguments.
 * Layer: recordings.  Not thread-safe. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "aggregate/selection/selection.h"
#include "aggregate/selection/session_span.h"
#include "aggregate/selection/symbol.h"
#include "format/session/session.h"

struct err;
struct naming;

struct script_filter {
	struct selection selection;
	struct selection_symbols symbols;
	bool on;          /* the specification filters samples */
	bool ask_symbols; /* the specification filters by function */
	uint64_t skipped; /* samples that were filtered out */
};

/* Returns whether a specification filters by anything except sessions. */
bool script_filter_needed(const struct spec *spec);
/* Initializes a filter. Everything is borrowed and must outlive it; the dict may grow. */
void script_filter_init(struct script_filter *f, const struct spec *spec,
			const struct dict *dict, struct naming *naming,
			const char *vmlinux);
void script_filter_done(struct script_filter *f);
/* Sets the time span of the source's samples; call it before the first sample is filtered.
 * Returns 0, or -ENODATA with a message in *err. */
int script_filter_times(struct script_filter *f, const struct session_span *span,
			struct err *err);
/* Returns 1 if the sample is wanted, 0 if not, or -ENOMEM. */
int script_filter_wants(struct script_filter *f, const struct sample *sample);
