/* SPDX-License-Identifier: GPL-2.0-or-later */
/* locations.h - configures the search for binaries from the options --root, --image-path,
 * --vmlinux, --debuginfod-timeout and from the environment.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>

struct err;
struct naming_locations;
struct naming_trace;

/* `image_path`: comma-separated directories. `archive`: the directory of an archive; then the
 * search, including the image path, stays below that directory. Each pointer may be NULL. */
struct location_options {
	const char *root;
	const char *image_path;
	const char *vmlinux;
	const char *guest_kallsyms;
	const char *guest_vmlinux;
	const char *archive;
	const char *debuginfod_timeout;
	const struct naming_trace *trace;
	bool accept_changed; /* use binaries that were rebuilt since the recording */
	bool no_cache; /* neither read nor write unwind tables in the user's cache */
};

int locations_make(const struct location_options *from,
		   struct naming_locations **ret_locations, struct err *err);
