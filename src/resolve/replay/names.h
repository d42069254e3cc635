/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.h - names of programs, files and cgroups. The side band has many; the dict only gets
 * the names that samples refer to.
 * Layer: resolve. `number` of a pooled name is its string in the dict, if it has one. */
#pragma once
#include "base/containers/name_pool.h"
#include "format/session/dict.h"

/* Returns the name's string in the dict, added at the first call; DICT_NONE if memory is short,
 * and for NAME_POOL_NONE. */
static inline uint32_t names_string(struct name_pool *names, struct dict *dict,
				    uint32_t name)
{
	struct pooled_name *n;

	if (name == NAME_POOL_NONE)
		return DICT_NONE;
	n = &names->names.at[name];
	if (n->number == NAME_POOL_NONE)
		n->number = dict_string(dict, n->text);
	return n->number;
}
