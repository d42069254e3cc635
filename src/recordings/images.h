/* SPDX-License-Identifier: GPL-2.0-or-later */
/* images.h - walks the binaries with hits in recordings of any format.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>

#include "format/session/dict.h"
#include "format/session/session.h"
#include "recordings/sources.h"

struct err;

/* An image of a recording.  All fields are borrowed and valid during the call. */
struct source_image {
	const struct dict *dict;
	const struct session_info *info;
	const char *session_dir; /* "" for a perf.data */
	const char *recorded_in; /* segment or perf.data, for naming_recorded_in() */
	unsigned int
		part; /* number of the dict within the walk; addresses in different dicts can
                            * repeat */
	uint32_t number; /* in the dict */
	const struct image *image;
	const char *name; /* as perf shows it: a path, "[kernel.kallsyms]", "[ext4]" */
};

/* A negative errno ends the walk and becomes its result. */
typedef int (*source_image_fn)(void *ctx, const struct source_image *at);

/* Finds recordings like report_sources_find(), for commands whose arguments must be recordings: an
 * argument that does not exist, or is not a recording, is an error. */
int source_images_find(const char *session_dir, char *const *words, struct spec *spec,
		       struct report_sources *sources, struct err *err);
/* Calls `fn` for each image that can have a build-id (file, kernel, module, vdso) and has hits,
 * in a leaf or a caller, session by session in the order of their first hits.
 * Returns 0, 1 (a source was incomplete), or a negative errno. */
int source_images_walk(const struct report_sources *sources, source_image_fn fn,
		       void *ctx, struct err *err);
