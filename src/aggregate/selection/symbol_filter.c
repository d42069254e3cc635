/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/selection/symbol_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/selection/spec.h"
#include "base/comma.h"
#include "resolve/symbols/demangle.h"
#include "resolve/symbols/symtab.h"

/* Adds a name to the included or excluded functions. Takes ownership of `value`. Returns 0 or
 * -ENOMEM. */
static int symbol_filter_add(struct symbol_filter *f, bool exclude, char *value)
{
	bool added;

	if (!value)
		return -ENOMEM;
	added = exclude ? vec_push(&f->excluded, value) : vec_push(&f->included, value);
	if (added)
		return 0;
	free(value);
	return -ENOMEM;
}

static int symbol_filter_add_list(struct symbol_filter *f, bool exclude,
				  const char *list)
{
	int r = 0;

	while (!r && list)
		r = symbol_filter_add(f, exclude, comma_next(&list));
	return r;
}

int symbol_filter_exclude(struct symbol_filter *f, const char *list)
{
	return symbol_filter_add_list(f, true, list);
}

int symbol_filter_include(struct symbol_filter *f, const char *list)
{
	return symbol_filter_add_list(f, false, list);
}

void symbol_filter_done(struct symbol_filter *f)
{
	for (size_t i = 0; i < f->excluded.nr; i++)
		free(f->excluded.at[i]);
	for (size_t i = 0; i < f->included.nr; i++)
		free(f->included.at[i]);
	vec_done(&f->excluded);
	vec_done(&f->included);
}

bool symbol_filter_filters(const struct symbol_filter *f, const struct spec *spec)
{
	return (f && (f->excluded.nr || f->included.nr)) ||
	       (spec && spec_has_symbols(spec));
}

/* Returns whether a listed name selects `name`: "read" also selects "read@@V1". */
static bool symbol_filter_is_meant(const char *listed, const char *name)
{
	size_t len = strlen(listed);

	if (strncmp(listed, name, len) != 0)
		return false;
	return !name[len] || (name[len] == '@' && strcmp(name + len, "@plt") != 0);
}

static bool symbol_filter_is_listed(char *const *names, size_t nr, const char *raw,
				    const char *shown)
{
	for (size_t i = 0; i < nr; i++) {
		if (symbol_filter_is_meant(names[i], raw) ||
		    (shown && symbol_filter_is_meant(names[i], shown)))
			return true;
	}
	return false;
}

/* The lists that contain a name, as bits. */
enum {
	IN_INCLUDED = 1,
	IN_EXCLUDED = 2,
	IN_SPEC = 4,
	IN_SPEC_EXCLUDE = 8
};

static unsigned int lists_of(const struct symbol_filter *f, const struct spec *spec,
			     const char *raw)
{
	char *shown = demangle(raw);
	unsigned int bits = 0;

	if (f && symbol_filter_is_listed(f->included.at, f->included.nr, raw, shown))
		bits |= IN_INCLUDED;
	if (f && symbol_filter_is_listed(f->excluded.at, f->excluded.nr, raw, shown))
		bits |= IN_EXCLUDED;
	if (spec && spec_has_symbol(spec, SPEC_SYMBOL, raw, shown))
		bits |= IN_SPEC;
	if (spec && spec_has_symbol(spec, SPEC_SYMBOL_EXCLUDE, raw, shown))
		bits |= IN_SPEC_EXCLUDE;
	free(shown);
	return bits;
}

static bool bits_want(const struct symbol_filter *f, const struct spec *spec,
		      unsigned int bits)
{
	if (bits & (IN_EXCLUDED | IN_SPEC_EXCLUDE))
		return false;
	return (!f || !f->included.nr || bits & IN_INCLUDED) &&
	       (!spec || !spec->lists[SPEC_SYMBOL].values.nr || bits & IN_SPEC);
}

bool symbol_filter_wants(const struct symbol_filter *f, const struct spec *spec,
			 const char *raw)
{
	return bits_want(f, spec, lists_of(f, spec, raw));
}

bool symbol_filter_wants_symbol(const struct symbol_filter *f, const struct spec *spec,
				const struct symtab *tab, const struct symbol *symbol)
{
	unsigned int bits = lists_of(f, spec, symbol->name);
	const char *other;

	for (size_t i = 0; (other = symtab_alias(tab, symbol, i)); i++)
		bits |= lists_of(f, spec, other);
	return bits_want(f, spec, bits);
}
