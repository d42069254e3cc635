/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places.h - what naming.c asks of struct naming_places.
 * Layer: resolve, for naming.c alone. */
#pragma once
#include <stdbool.h>

#include "resolve/symbolize/naming.h"

struct debuginfod;
struct file_index;

/* "" if there is none. */
const char *naming_places_root(const struct naming_places *p);
const char *naming_places_vmlinux(const struct naming_places *p);
const char *naming_places_guest_kallsyms(const struct naming_places *p);
const char *naming_places_guest_vmlinux(const struct naming_places *p);
const char *naming_places_debug_dir(const struct naming_places *p);
const char *naming_places_cache_dir(const struct naming_places *p);
const struct naming_trace *naming_places_trace(const struct naming_places *p);
/* Whether its root is an archive, so that nothing of this machine counts. */
bool naming_places_archive(const struct naming_places *p);
/* The files below the image path, NULL if it was not given or memory is short. */
const struct file_index *naming_places_index(struct naming_places *p);
/* NULL if no servers are to be asked. */
struct debuginfod *naming_places_debuginfod(const struct naming_places *p);
/* Warns of what came of looking for an image, once for each name: `p` may be NULL, which
 * warns each time.  `name`: the image's path.  `by_age`: no build-id is known of it. */
void naming_places_warn(struct naming_places *p, const char *name,
			enum naming_status status, bool by_age);
