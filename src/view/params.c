/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/params.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/parse.h"

const char *view_params_get(const struct view_params *p, const char *name)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(p->at[i].name, name))
			return p->at[i].value;
	return NULL;
}

int view_params_u64(const struct view_params *p, const char *name, uint64_t *value,
		    struct err *err)
{
	const char *text = view_params_get(p, name);

	if (!text || parse_u64(text, value))
		return 0;
	return err_set(err, -EINVAL, "%s: invalid number '%s'", name, text);
}

int view_params_share(const struct view_params *p, const char *name, double *value,
		      struct err *err)
{
	const char *text = view_params_get(p, name);

	if (!text || (parse_double(text, value) && *value >= 0 && *value <= 1))
		return 0;
	return err_set(err, -EINVAL,
		       "%s: invalid share '%s': give a number from 0 to 1", name, text);
}
