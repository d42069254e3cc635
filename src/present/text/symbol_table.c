/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/text/symbol_table.h"

#include <errno.h>

#include "aggregate/profile/profile.h"
#include "present/lines/options.h"

int symbol_table_keys(const struct profile *p, const struct present_options *o,
		      struct symbol_keys *keys)
{
	/* The profile has addresses only if functions of the same name are kept apart. */
	bool addresses = o->details || o->show_vma;
	int image = keys_find(p->options.keys, KEY_IMAGE);
	int app = keys_find(p->options.keys, KEY_APP);
	int symbol = keys_find(p->options.keys, KEY_SYMBOL);
	int address = keys_find(p->options.keys, KEY_ADDRESS);
	int line = keys_find(p->options.keys, KEY_FUNCTION_LINE);
	int detail_line = keys_find(p->options.keys, KEY_LINE);

	if (o->debug_info && (line < 0 || (o->details && detail_line < 0)))
		return -EINVAL;
	if (image < 0 || app < 0 || symbol < 0 || (o->details && address < 0) ||
	    (addresses && !p->options.functions_apart))
		return -EINVAL;
	*keys = (struct symbol_keys){
		.image = (size_t)image,
		.app = (size_t)app,
		.symbol = (size_t)symbol,
		.address = o->details ? (size_t)address : 0,
		.line = o->debug_info ? (size_t)line : 0,
		.detail_line = o->debug_info && o->details ? (size_t)detail_line : 0,
	};
	return 0;
}

/* Chooses the image column if there are several images, or if an image is not the application;
 * and the application column if there are several applications. */
static int symbol_table_choose_names(struct text_table *t,
				     const struct symbol_keys *keys)
{
	const struct profile *p = t->p;
	const struct line *first = t->lines.all.at;
	bool show_image = false;
	bool show_app = false;

	for (size_t i = 0; i < t->lines.all.nr; i++) {
		uint32_t group = t->lines.all.at[i].group;
		uint64_t image = profile_value(p, group, keys->image);
		uint64_t app = profile_value(p, group, keys->app);

		show_image |= image != app;
		show_app |= app != profile_value(p, first->group, keys->app);
	}
	if (show_image && text_table_choose(t, "image", keys->image))
		return -ENOMEM;
	if (show_app && text_table_choose(t, "app", keys->app))
		return -ENOMEM;
	return text_table_choose(t, "symbol", keys->symbol);
}

/* Returns 16 if a function of the report needs that many digits, otherwise 8. */
static unsigned int vma_digits(const struct text_table *t,
			       const struct symbol_keys *keys)
{
	const struct profile *p = t->p;

	for (size_t i = 0; i < t->lines.all.nr; i++) {
		uint64_t f = profile_value(p, t->lines.all.at[i].group, keys->symbol);

		if (p->functions.at[f].vma > UINT32_MAX)
			return 16;
	}
	return 8;
}

int symbol_table_choose(struct text_table *t, const struct symbol_keys *keys)
{
	if (t->options->show_vma || t->options->details) {
		t->vma_digits = vma_digits(t, keys);
		if (text_table_choose(t, "vma", keys->symbol))
			return -ENOMEM;
	}
	if (text_table_choose_counts(t) ||
	    (t->options->debug_info && text_table_choose(t, "linenr", keys->line)))
		return -ENOMEM;
	return symbol_table_choose_names(t, keys);
}
