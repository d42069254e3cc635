/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/event_cookies.h"

#include <stdlib.h>
#include <string.h>

#include "base/containers/hash.h"

static bool event_cookies_is_same(const struct event_binary *b, const char *path,
				  const struct image *image)
{
	if (strcmp(b->path, path) != 0 || b->build_id.len != image->build_id.len)
		return false;
	if (b->build_id.len)
		return !memcmp(b->build_id.bytes, image->build_id.bytes,
			       b->build_id.len);
	return b->dev == image->dev && b->inode == image->inode;
}

static uint64_t event_cookies_identity(const char *path, const struct image *image)
{
	uint64_t what = image->build_id.len ? hash_bytes(image->build_id.bytes,
							 image->build_id.len, 0)
					    : hash_pair(image->dev, image->inode);

	return hash_pair(hash_bytes(path, strlen(path), 0), what);
}

static uint64_t event_cookies_add(struct event_cookies *c, const char *path,
				  const struct image *image, uint64_t key,
				  uint64_t probe)
{
	uint32_t number = (uint32_t)c->binaries.nr;
	char *copy;

	if (number >= EVENT_COOKIES_MAX || !vec_grow(&c->binaries))
		return EVENT_INVALID_COOKIE;
	copy = strdup(path);
	if (!copy || map_set(&c->by, key, probe, number)) {
		free(copy);
		return EVENT_INVALID_COOKIE;
	}
	c->binaries.at[c->binaries.nr++] =
		(struct event_binary){ .path = copy,
				       .build_id = image->build_id,
				       .dev = image->dev,
				       .inode = image->inode };
	return c->first + c->binaries.nr;
}

uint64_t event_cookie(struct event_cookies *c, const char *path,
		      const struct image *image)
{
	uint64_t key = event_cookies_identity(path, image);

	for (uint64_t probe = 0;; probe++) {
		uint32_t at = map_get(&c->by, key, probe);

		if (at == MAP_NONE)
			return event_cookies_add(c, path, image, key, probe);
		if (event_cookies_is_same(&c->binaries.at[at], path, image))
			return c->first + at + 1;
	}
}

const struct event_binary *event_cookie_find(const struct event_cookies *c,
					     uint64_t cookie)
{
	if (cookie <= c->first || cookie - c->first > c->binaries.nr)
		return NULL;
	return &c->binaries.at[cookie - c->first - 1];
}

void event_cookies_tidy(struct event_cookies *c)
{
	uint64_t next = c->first + c->binaries.nr;

	if (c->binaries.nr < EVENT_COOKIES_MAX / 2)
		return;
	event_cookies_done(c);
	*c = (struct event_cookies){ .first = next };
}

void event_cookies_done(struct event_cookies *c)
{
	for (size_t i = 0; i < c->binaries.nr; i++)
		free(c->binaries.at[i].path);
	vec_done(&c->binaries);
	map_done(&c->by);
}
