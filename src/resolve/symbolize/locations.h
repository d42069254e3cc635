/* SPDX-License-Identifier: GPL-2.0-or-later */
/* locations.h - getters of struct naming_locations.
 * Layer: resolve, only for this directory. */
#pragma once
#include <stdbool.h>

#include "resolve/symbolize/naming.h"

struct debuginfod;
struct file_index;

/* Return the paths that the options name; "" if unset. */
const char *naming_locations_root(const struct naming_locations *p);
const char *naming_locations_vmlinux(const struct naming_locations *p);
const char *naming_locations_guest_kallsyms(const struct naming_locations *p);
const char *naming_locations_guest_vmlinux(const struct naming_locations *p);
const char *naming_locations_debug_dir(const struct naming_locations *p);
const char *naming_locations_cache_dir(const struct naming_locations *p);
/* Returns the function that is called for each step of a search; NULL if none was set. */
const struct naming_trace *naming_locations_trace(const struct naming_locations *p);
/* Returns whether binaries that were changed since the recording are used. */
bool naming_locations_accept_changed(const struct naming_locations *p);
/* Returns whether the root is an archive, so that no files of this machine are used. */
bool naming_locations_archive(const struct naming_locations *p);
/* Returns the index of the image path; NULL if none exists or out of memory. */
const struct file_index *naming_locations_index(struct naming_locations *p);
/* Returns the debuginfod servers, borrowed; NULL if they must not be used. */
struct debuginfod *naming_locations_debuginfod(const struct naming_locations *p);
/* Warns about the result of the search for an image, once per name; if `p` is NULL, each time.
 * `name` is the image's path. `by_age`: its build-id is unknown, so the modification
 * time of the file was compared. */
void naming_locations_warn(struct naming_locations *p, const char *name,
			   enum naming_status status, bool by_age);
