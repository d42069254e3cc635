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
	/* Number of the dict within the walk. Use it, not the pointer `dict`, to recognize a
	 * dict: a later one can have the same address. */
	unsigned int part;
	uint32_t number; /* index of the image in the dict */
	const struct image *image;
	const char *name; /* as perf shows it: a path, "[kernel.kallsyms]", "[ext4]" */
};

/* Receives an image. Returns 0, or a negative errno to end the walk, which then returns it. */
typedef int (*source_image_fn)(void *ctx, const struct source_image *at);

/* Finds recordings like report_sources_find(), for commands that do not select binaries by name.
 * An argument without a colon must be a recording: a missing file, or one of another kind, is an
 * error. */
int source_images_find(const char *session_dir, char *const *words, struct spec *spec,
		       struct report_sources *sources, struct err *err);
/* Calls `fn` for each image that can have a build-id (file, kernel, module, vdso) and that
 * occurs in the stack of a sample. Walks session by session, and within one in the order of the
 * first occurrence. Returns 0, 1 if a source was incomplete, or a negative errno. */
int source_images_walk(const struct report_sources *sources, source_image_fn fn,
		       void *ctx, struct err *err);
