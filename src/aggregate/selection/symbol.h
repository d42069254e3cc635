/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol.h - applies symbol: of a profile specification to individual samples, for code that
 * shows or copies samples instead of counting them.
 * Layer: aggregate.  Not thread safe.  Each frame is symbolized once, at its first use. */
#pragma once
#include <stdint.h>

#include "aggregate/selection/selection.h"
#include "base/containers/vec.h"

struct naming;

struct selection_symbols {
	struct naming *naming;
	VEC(uint8_t) by_frame; /* UNKNOWN, WANTED or NOT_WANTED */
};

/* Initializes the object. The symbolizer is not owned and must outlive it. */
void selection_symbols_init(struct selection_symbols *s, struct naming *naming);
void selection_symbols_done(struct selection_symbols *s);
/* Returns 1 if `of` selects the function of this stack's leaf, 0 if not, or -ENOMEM.  The
 * symbolizer must be the one for the dict of `of`. */
int selection_wants_symbol(struct selection_symbols *s, const struct selection *of,
			   uint32_t stack);
