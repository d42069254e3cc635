/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - the state of an annotation while it is built.
 * Layer: present, only for annotation.c and sites.c. */
#pragma once
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "present/annotation/annotation.h"

/* The samples of one group, with their line and function. */
struct hit {
	uint32_t file; /* NONE: without a line */
	uint32_t line;
	uint32_t function;
	uint32_t group; /* line of a->groups */
};

enum {
	NONE = 0xffffffff
};

struct making {
	struct annotation *a;
	struct map file_by; /* string -> file */
	struct map covered; /* image strings of the images in which some code has source
				 * lines */
	struct map position_by; /* string "path:12" -> index of positions */
	VEC(struct hit) positions;
	VEC(struct hit) hits;
	uint64_t *
		top; /* by function: 1 if `top` includes it; NULL: all functions are shown */
	size_t image_key;
	size_t symbol_key;
	size_t start_key;
	size_t line_key;
	bool no_lines; /* the profile has no lines: annotate only instructions */
};

/* Returns the number of a file, adding it if it is new; NONE if memory is short. */
uint32_t annotation_file(struct making *m, const char *path, size_t len);
/* Finds the inlined call sites.  Returns 0 or -ENOMEM. */
int annotation_make_sites(struct making *m, const struct annotation_options *options);
