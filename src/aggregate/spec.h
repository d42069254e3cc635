/* spec.h - profile specifications: the words that say which samples a report is about
 * (`image:/usr/bin/t comm:make /lib/x86_64-linux-gnu/libc.so.6`).
 * Layer: aggregate.  Filled once from the command line, then read-only.
 *
 * A word is `tag:value[,value...]` or a bare image pattern; a comma in a value is written
 * `\,`.  Patterns are fnmatch(3) globs without flags, so `*` crosses `/`. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct err;

enum spec_tag {
	SPEC_ANY_IMAGE, /* bare words: the application or the image that was hit */
	SPEC_IMAGE,     /* the application; of kernel and modules either */
	SPEC_SESSION,
	SPEC_EVENT,
	SPEC_COMM,
	SPEC_TID,
	SPEC_COUNT
};

struct spec_list {
	VEC(char *) values; /* none: no restriction */
	char *text;         /* the word as given, NULL: not given */
};

struct spec {
	struct spec_list lists[SPEC_COUNT];
	VEC(int64_t) tids; /* the numbers of SPEC_TID */
};

/* All names by which one image may be asked for; unused ones are NULL. */
struct image_names {
	const char *names[4];
	bool kernel; /* the kernel or a module */
};

/* Adds one word.  0, -EINVAL with a one-line reason, or -ENOMEM. */
int spec_add(struct spec *spec, const char *word, struct err *err);
void spec_done(struct spec *spec);
/* Does the specification ask for this event, command, thread? */
bool spec_wants_event(const struct spec *spec, const char *name);
bool spec_wants_comm(const struct spec *spec, const char *comm);
bool spec_wants_tid(const struct spec *spec, int32_t tid);
bool spec_has_images(const struct spec *spec);
/* Does it ask for a sample in `image` of a process whose main binary is `app` (NULL if that
 * is unknown)?  *ret_top: the image was asked for in its own right as kernel or module, and
 * stands at the top level instead of below the application. */
bool spec_wants_image(const struct spec *spec, const struct image_names *app,
		      const struct image_names *image, bool *ret_top);
