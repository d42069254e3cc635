/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json_none.c - replaces json_yajl.c in a build without yajl. */
#include <errno.h>

#include "base/err.h"
#include "format/foreign/json_walk.h"

int json_walk(struct foreign_word text, const struct json_walk_paths *paths,
	      json_walk_fn fn, void *ctx, struct err *err)
{
	(void)text;
	(void)paths;
	(void)fn;
	(void)ctx;
	return err_set(
		err, -EOPNOTSUPP,
		"it is a JSON profile, and this build has no JSON parser (yajl)");
}

const char *json_walk_version(void)
{
	return NULL;
}
