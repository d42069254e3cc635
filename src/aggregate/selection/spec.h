/* spec.h - profile specifications: the words that say which samples a report is about
 * (`image:/usr/bin/t comm:make /lib/x86_64-linux-gnu/libc.so.6`).
 * Layer: aggregate.  Filled once from the command line, then read-only.
 *
 * A word is `tag:value[,value...]` or a bare image pattern; a comma in a value is written
 * `\,`.  Values of one word are alternatives, words of different tags restrict each other,
 * and of several words of one tag the last one counts.  Patterns are fnmatch(3) globs
 * without flags, so `*` crosses `/`; a name spelled out always matches itself. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "aggregate/selection/spec_time.h"
#include "base/containers/vec.h"

struct err;

enum spec_tag {
	SPEC_ANY_IMAGE,         /* bare words: the application or the image hit */
	SPEC_IMAGE,             /* the application; of kernel and modules either */
	SPEC_IMAGE_EXCLUDE,     /* neither the application nor the image hit */
	SPEC_LIB_IMAGE,         /* the image hit */
	SPEC_LIB_IMAGE_EXCLUDE, /* not the image hit */
	SPEC_SESSION,
	SPEC_SESSION_EXCLUDE,
	SPEC_EVENT,
	SPEC_EVENT_COUNT,
	SPEC_UNIT_MASK,
	SPEC_COMM,
	SPEC_TGID,
	SPEC_TID,
	SPEC_CPU,
	SPEC_CGROUP,
	SPEC_SYMBOL,         /* the function, mangled or as it is shown */
	SPEC_SYMBOL_EXCLUDE, /* not the function */
	SPEC_TIME,
	SPEC_COUNT
};

struct spec_list {
	VEC(char *) values;    /* none: no restriction */
	VEC(uint64_t) numbers; /* of a tag with numbers: the values; -1 as UINT64_MAX */
	const char *text;      /* the word as given, NULL: not given */
};

struct spec {
	struct spec_list lists[SPEC_COUNT];
	VEC(struct spec_span) spans; /* the values of SPEC_TIME */
	VEC(char *) words;           /* with a tag, as given */
};

/* All names by which one image may be asked for; unused ones are NULL. */
struct image_names {
	const char *names[4];
	bool kernel; /* the kernel or a module */
};

/* Adds one word.  0, -EINVAL with a one-line reason, or -ENOMEM. */
int spec_add(struct spec *spec, const char *word, struct err *err);
void spec_done(struct spec *spec);
/* COLUMN_... of session.h without which it cannot be told which samples are asked for,
 * besides COLUMN_EVENT. */
unsigned int spec_columns(const struct spec *spec);
/* Does the specification ask for this event, thread, cgroup, CPU (-1: unknown),
 * session? */
bool spec_wants_event(const struct spec *spec, const char *name, uint64_t count,
		      uint64_t unit_mask);
bool spec_wants_thread(const struct spec *spec, int32_t tgid, int32_t tid,
		       const char *comm);
bool spec_has_cgroups(const struct spec *spec);
bool spec_wants_cgroup(const struct spec *spec, const char *path);
bool spec_wants_cpu(const struct spec *spec, int64_t cpu);
bool spec_wants_session(const struct spec *spec, const char *name);
/* Does it restrict functions, and does it ask for this one?  `raw` is its name in the symbol
 * table, `shown` the demangled one or NULL. */
bool spec_has_symbols(const struct spec *spec);
bool spec_wants_symbol(const struct spec *spec, const char *raw, const char *shown);
/* Whether it asks for shares of a session's time, so that a source needs to know first when
 * its samples begin and end. */
bool spec_has_shares(const struct spec *spec);
/* Images are matched once each, to bits that tell the tags with a pattern for them. */
bool spec_has_images(const struct spec *spec);
unsigned int spec_image_bits(const struct spec *spec, const struct image_names *image);
/* Does it ask for a sample in an image with the bits `image` of a process whose main binary
 * has the bits `app`?  *ret_top: the image was asked for in its own right as kernel or
 * module, and stands at the top level instead of below the application. */
bool spec_wants_image(const struct spec *spec, unsigned int app, unsigned int image,
		      bool *ret_top);
