/* priv.h - an annotation while it is made.
 * Layer: present, for annotation*.c alone. */
#pragma once
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "present/annotation/annotation.h"

/* Samples of one line, of one function. */
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
	struct map file_by;  /* string -> file */
	struct map covered;  /* image strings of which some code has lines */
	struct map place_by; /* string "path:12" -> index of places */
	VEC(struct hit) places;
	VEC(struct hit) hits;
	uint64_t *top; /* by function: whether it is one of the top; NULL: all are */
	size_t image_key;
	size_t symbol_key;
	size_t start_key;
	size_t line_key;
	bool no_lines; /* of code alone */
};

/* The number of a file, which is added if it is new; NONE when memory is short. */
uint32_t annotation_file(struct making *m, const char *path, size_t len);
/* Finds out where functions were inlined.  0 or -ENOMEM. */
int annotation_make_sites(struct making *m, const struct annotation_options *options);
