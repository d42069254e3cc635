/* SPDX-License-Identifier: GPL-2.0-or-later */
/* images.h - the binaries that were hit in recordings, of whatever kind these are.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>

#include "format/session/dict.h"
#include "format/session/session.h"
#include "recordings/sources.h"

struct err;

/* An image of one recording.  All is borrowed, and good during the call. */
struct source_image {
	const struct dict *dict;
	const struct session_info *info;
	const char *session_dir; /* "" of a perf.data */
	const char *recorded_in; /* segment or perf.data: for naming_recorded_in() */
	unsigned int part; /* counts the dicts of a walk, whose addresses may repeat */
	uint32_t number;   /* in the dict */
	const struct image *image;
	const char *name; /* as perf shows it: a path, "[kernel.kallsyms]", "[ext4]" */
};

/* A negative errno ends the walk with it. */
typedef int (*source_image_fn)(void *ctx, const struct source_image *at);

/* report_sources_find() for commands whose words are recordings and nothing else: one that
 * does not exist, or is none, is an error. */
int source_images_find(const char *session_dir, char *const *words, struct spec *spec,
		       struct report_sources *sources, struct err *err);
/* Calls `fn` for each image that can have a build-id (file, kernel, module, vdso) and was hit,
 * in the leaf or a caller, session by session in the order of their first hits.
 * 0, 1 (a source was incomplete), or a negative errno. */
int source_images_walk(const struct report_sources *sources, source_image_fn fn,
		       void *ctx, struct err *err);
