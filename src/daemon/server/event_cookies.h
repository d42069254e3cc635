/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_cookies.h - numbers for the binaries in the stream of events, as the kernel's dcookies
 * were, and what they stand for.
 * Layer: daemon.  Single-threaded.  A number is never given to another binary. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "format/session/dict.h"

enum {
	EVENT_COOKIES_MAX = 65536
};

/* ~0: the binary has no number, since there are too many; a place in it cannot be told. */
#define EVENT_INVALID_COOKIE UINT64_MAX

struct event_binary {
	char *path;
	struct build_id build_id;
	uint64_t dev, inode; /* where there is no build-id */
};

/* All zero is empty. */
struct event_cookies {
	VEC(struct event_binary) binaries;
	struct map by;  /* hash of the identity -> binary */
	uint64_t first; /* the number of the first one, less 1 */
};

/* The number of the binary `path` that an image of a dict is. */
uint64_t event_cookie(struct event_cookies *c, const char *path,
		      const struct image *image);
/* The binary that a number stands for; NULL: none, or it is forgotten. */
const struct event_binary *event_cookie_find(const struct event_cookies *c,
					     uint64_t cookie);
/* Forgets what there is if it is half full: nobody reads who could know it. */
void event_cookies_tidy(struct event_cookies *c);
void event_cookies_done(struct event_cookies *c);
