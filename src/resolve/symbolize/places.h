/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places.h - getters of struct naming_places.
 * Layer: resolve, only for this directory. */
#pragma once
#include <stdbool.h>

#include "resolve/symbolize/naming.h"

struct debuginfod;
struct file_index;

/* Return "" if unset. */
const char *naming_places_root(const struct naming_places *p);
const char *naming_places_vmlinux(const struct naming_places *p);
const char *naming_places_guest_kallsyms(const struct naming_places *p);
const char *naming_places_guest_vmlinux(const struct naming_places *p);
const char *naming_places_debug_dir(const struct naming_places *p);
const char *naming_places_cache_dir(const struct naming_places *p);
const struct naming_trace *naming_places_trace(const struct naming_places *p);
/* Returns whether the root is an archive, so that no files of this machine are used. */
bool naming_places_archive(const struct naming_places *p);
/* Returns the index of the image path; NULL if none exists or out of memory. */
const struct file_index *naming_places_index(struct naming_places *p);
/* Returns NULL if servers must not be used. */
struct debuginfod *naming_places_debuginfod(const struct naming_places *p);
/* Warns about the result of the search for an image, once per name; if `p` is NULL, each time.
 * `name` is the image's path. `by_age`: its build-id is unknown. */
void naming_places_warn(struct naming_places *p, const char *name,
			enum naming_status status, bool by_age);
