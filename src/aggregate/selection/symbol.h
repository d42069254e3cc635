/* symbol.h - symbol: of a profile specification, asked about samples one by one:
 * for what shows or copies samples instead of counting them.
 * Layer: aggregate.  Not thread safe.  Each frame is named once, at its first use. */
#pragma once
#include <stdint.h>

#include "aggregate/selection/selection.h"
#include "base/containers/vec.h"

struct naming;

struct selection_symbols {
	struct naming *naming;
	VEC(uint8_t) by_frame; /* whether its function is asked for */
};

/* The naming is borrowed and outlives it. */
void selection_symbols_init(struct selection_symbols *s, struct naming *naming);
void selection_symbols_done(struct selection_symbols *s);
/* Does `of`, whose dict the naming names, ask for the function of this stack's leaf?
 * 1, 0 or -ENOMEM. */
int selection_wants_symbol(struct selection_symbols *s, const struct selection *of,
			   uint32_t stack);
