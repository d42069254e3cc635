/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/selection/symbol.h"

#include <errno.h>

#include "aggregate/selection/symbol_filter.h"
#include "format/session/dict.h"
#include "resolve/symbolize/naming.h"

enum {
	UNKNOWN, /* not checked yet */
	WANTED,
	NOT_WANTED
};

void selection_symbols_init(struct selection_symbols *s, struct naming *naming)
{
	*s = (struct selection_symbols){ .naming = naming };
}

void selection_symbols_done(struct selection_symbols *s)
{
	vec_done(&s->by_frame);
}

static uint8_t selection_symbol_ask(const struct selection_symbols *s,
				    const struct selection *of, uint32_t number)
{
	const struct frame *frame = &of->dict->frames.at[number];
	const struct symbol *symbol =
		naming_find(s->naming, frame->image, frame->offset, NULL);

	const struct symtab *tab =
		symbol ? naming_symtab(s->naming, frame->image) : NULL;

	if (!symbol)
		return NOT_WANTED;
	return (tab ? symbol_filter_wants_symbol(NULL, of->spec, tab, symbol)
		    : symbol_filter_wants(NULL, of->spec, symbol->name))
		       ? WANTED
		       : NOT_WANTED;
}

int selection_wants_symbol(struct selection_symbols *s, const struct selection *of,
			   uint32_t stack)
{
	const struct dict *d = of->dict;
	uint32_t frame = stack < d->stacks.nr ? d->stacks.at[stack].frame : DICT_NONE;

	if (frame >= d->frames.nr)
		return 0;
	while (s->by_frame.nr <= frame)
		if (!vec_push(&s->by_frame, UNKNOWN))
			return -ENOMEM;
	if (s->by_frame.at[frame] == UNKNOWN)
		s->by_frame.at[frame] = selection_symbol_ask(s, of, frame);
	return s->by_frame.at[frame] == WANTED;
}
