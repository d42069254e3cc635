/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_cookies.h - numbers that identify binaries in the event stream, like the kernel's
 * dcookies.
 * Layer: daemon.  Single-threaded.  A number is never reused for another binary. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "format/session/dict.h"

enum {
	EVENT_COOKIES_MAX = 65536
};

/* ~0: returned for binaries beyond EVENT_COOKIES_MAX, whose locations cannot be reported. */
#define EVENT_INVALID_COOKIE UINT64_MAX

struct event_binary {
	char *path;
	struct build_id build_id;
	uint64_t dev, inode; /* if there is no build-id */
};

/* Zero-initialized means empty. */
struct event_cookies {
	VEC(struct event_binary) binaries;
	struct map by;  /* hash of the identity -> binary */
	uint64_t first; /* binaries.at[i] has the number first + i + 1 */
};

/* Returns the number of the binary at `path`, which `image` of a dict describes. Assigns a new
 * number to a new binary; returns EVENT_INVALID_COOKIE if there are too many or memory is short. */
uint64_t event_cookie(struct event_cookies *c, const char *path,
		      const struct image *image);
/* Returns the binary with this number; NULL if it is unknown or was dropped. */
const struct event_binary *event_cookie_find(const struct event_cookies *c,
					     uint64_t cookie);
/* Drops all entries if the table is half full.  Call it while there are no readers, because
 * readers know the old numbers. */
void event_cookies_tidy(struct event_cookies *c);
void event_cookies_done(struct event_cookies *c);
