/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/name_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/hash.h"

int name_pool_init(struct name_pool *p)
{
	*p = (struct name_pool){ 0 };
	if (name_pool_get(p, "") == 0)
		return 0;
	name_pool_done(p);
	return -ENOMEM;
}

void name_pool_done(struct name_pool *p)
{
	for (size_t i = 0; i < p->names.nr; i++)
		free(p->names.at[i].text);
	vec_done(&p->names);
	vec_done(&p->unused);
	map_done(&p->by_hash);
}

static uint64_t name_pool_hash(const char *text)
{
	return hash_bytes(text, strlen(text), 0);
}

/* Returns the number of the string with this hash. If the pool lacks it, returns NAME_POOL_NONE,
 * and stores in *ret_probe the first free position of the hash's list. */
static uint32_t name_pool_find(const struct name_pool *p, const char *text,
			       uint64_t hash, uint64_t *ret_probe)
{
	uint64_t probe = 0;
	uint32_t name;

	while ((name = map_get(&p->by_hash, hash, probe)) != MAP_NONE &&
	       strcmp(p->names.at[name].text, text) != 0)
		probe++;
	*ret_probe = probe;
	return name;
}

/* Adds a name that is not in the pool. `probe` is the first probe number without an entry for
 * `hash`. Takes ownership of `text`. Returns the name, or NAME_POOL_NONE if memory is short;
 * nothing has changed then. */
static uint32_t name_pool_add(struct name_pool *p, char *text, uint64_t hash,
			      uint64_t probe)
{
	uint32_t name =
		p->unused.nr ? p->unused.at[p->unused.nr - 1] : (uint32_t)p->names.nr;

	if (!text || !vec_grow(&p->names) || map_set(&p->by_hash, hash, probe, name)) {
		free(text);
		return NAME_POOL_NONE;
	}
	if (name == p->names.nr)
		p->names.nr++;
	else
		p->unused.nr--;
	p->text_bytes += strlen(text) + 1;
	p->names.at[name] = (struct pooled_name){ .text = text,
						  .refs = 1,
						  .number = NAME_POOL_NONE };
	return name;
}

uint32_t name_pool_get(struct name_pool *p, const char *text)
{
	uint64_t hash = name_pool_hash(text);
	uint64_t probe;
	uint32_t name = name_pool_find(p, text, hash, &probe);

	return name == NAME_POOL_NONE ? name_pool_add(p, strdup(text), hash, probe)
				      : name_pool_share(p, name);
}

uint32_t name_pool_share(struct name_pool *p, uint32_t name)
{
	if (name != NAME_POOL_NONE)
		p->names.at[name].refs++;
	return name;
}

void name_pool_put(struct name_pool *p, uint32_t name)
{
	struct pooled_name *n = name == NAME_POOL_NONE ? NULL : &p->names.at[name];

	if (!n || --n->refs)
		return;
	map_remove_from_list(&p->by_hash, name_pool_hash(n->text), name);
	p->text_bytes -= strlen(n->text) + 1;
	free(n->text);
	n->text = NULL;
	/* If this fails, the number is not reused. */
	(void)vec_push(&p->unused, name);
}

const char *name_pool_text(const struct name_pool *p, uint32_t name)
{
	return name == NAME_POOL_NONE ? "" : p->names.at[name].text;
}

size_t name_pool_count(const struct name_pool *p)
{
	return p->by_hash.nr;
}
