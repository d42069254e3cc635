/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/call_focus.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/containers/closest_match.h"
#include "base/err.h"

/* Returns whether `shown` is `name`, possibly followed by parameters or " (inlined)". */
static bool call_focus_is_name(const char *shown, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(shown, name, len) &&
	       (!shown[len] || shown[len] == '(' || !strcmp(shown + len, " (inlined)"));
}

static bool call_focus_is_meant(struct profile *p, uint32_t function, const char *name)
{
	const char *raw = strtab_get(&p->strings, p->functions.at[function].raw);
	const char *shown = profile_function_name(p, function);

	if (!shown)
		shown = raw;
	return call_focus_is_name(raw, name) || call_focus_is_name(shown, name) ||
	       !fnmatch(name, raw, 0) || !fnmatch(name, shown, 0);
}

static int none_found(struct profile *p, const char *name, struct err *err)
{
	struct closest_match near = { .word = name };

	for (uint32_t i = 0; i < p->functions.nr; i++) {
		const char *shown = profile_function_name(p, i);

		if (shown)
			closest_match_try(&near, shown);
	}
	if (near.best)
		return err_set(
			err, -ENOENT,
			"--focus: no call stack contains a function '%s': did you mean '%s'?",
			name, near.best);
	return err_set(err, -ENOENT, "--focus: no call stack contains a function '%s'",
		       name);
}

int call_focus_find(struct profile *p, const char *name, uint8_t **ret, struct err *err)
{
	uint8_t *is = calloc(p->functions.nr + 1, sizeof(*is));
	bool any = false;

	if (!is)
		return err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < p->functions.nr; i++) {
		is[i] = call_focus_is_meant(p, i, name);
		any |= is[i];
	}
	if (!any) {
		free(is);
		return none_found(p, name, err);
	}
	*ret = is;
	return 0;
}
