/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_filter.h - which samples the words of `oprofile script` ask for.
 * Layer: recordings.  Not thread safe. */
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
	bool on;          /* anything is asked for */
	bool ask_symbols; /* functions are */
	uint64_t skipped; /* samples that were not wanted */
};

/* Whether a specification asks for anything but sessions. */
bool script_filter_needed(const struct spec *spec);
/* All is borrowed and outlives the filter; the dict may grow. */
void script_filter_init(struct script_filter *f, const struct spec *spec,
			const struct dict *dict, struct naming *naming,
			const char *vmlinux);
void script_filter_done(struct script_filter *f);
/* When the source's samples are, before the first is asked about.  0, or -ENODATA with a line
 * for the user. */
int script_filter_times(struct script_filter *f, const struct session_span *span,
			struct err *err);
/* 1, 0 or -ENOMEM. */
int script_filter_wants(struct script_filter *f, const struct sample *sample);
