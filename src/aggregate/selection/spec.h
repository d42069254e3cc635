/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spec.h - profile specifications: arguments that select the samples of a report
 * (`image:/usr/bin/t comm:make /lib/x86_64-linux-gnu/libc.so.6`).
 * Layer: aggregate.  Filled once from the command line, then read-only.
 * An argument is `tag:value[,value...]` or a bare image pattern; a comma in a value is written
 * `\,`.  The values of an argument are alternatives; arguments with different tags all restrict
 * the samples; of several arguments with the same tag the last one counts.  Patterns are
 * fnmatch(3) globs without flags, so `*` matches `/`; a literal name always matches itself. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "aggregate/selection/spec_time.h"
#include "base/containers/vec.h"

struct err;

enum spec_tag {
	SPEC_ANY_IMAGE,         /* bare argument: the application or the image hit */
	SPEC_IMAGE,             /* the application; also the kernel or module hit */
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
	SPEC_SYMBOL,         /* the function, mangled or as shown */
	SPEC_SYMBOL_EXCLUDE, /* not the function */
	SPEC_TIME,
	SPEC_COUNT
};

struct spec_list {
	VEC(char *) values;    /* empty: no restriction */
	VEC(uint64_t) numbers; /* values of a numeric tag; -1 as UINT64_MAX */
	const char *text;      /* the argument, NULL: not given */
};

struct spec {
	struct spec_list lists[SPEC_COUNT];
	VEC(struct spec_span) spans; /* the values of SPEC_TIME */
	VEC(char *) words;           /* the arguments with a tag */
};

/* All names that can select an image; unused ones are NULL. */
struct image_names {
	const char *names[4];
	bool kernel; /* the kernel or a module */
};

/* Adds an argument.  Returns 0, -EINVAL with a one-line message, or -ENOMEM. */
int spec_add(struct spec *spec, const char *word, struct err *err);
/* Makes image names that are absolute paths also select the file that they lead to by symbolic
 * links: in the directory tree `root` (NULL or "": none) if they exist there, else on this
 * machine.  The path of a module's file also selects the module.  Returns false if out of memory. */
bool spec_follow_links(struct spec *spec, const char *root);
void spec_done(struct spec *spec);
/* Returns the COLUMN_... of session.h that are needed to select samples, in addition to
 * COLUMN_EVENT. */
unsigned int spec_columns(const struct spec *spec);
/* Each returns true if the specification selects this event, thread, cgroup, CPU (-1: unknown)
 * or session. */
bool spec_wants_event(const struct spec *spec, const char *name, uint64_t count,
		      uint64_t unit_mask);
bool spec_wants_thread(const struct spec *spec, int32_t tgid, int32_t tid,
		       const char *comm);
bool spec_has_cgroups(const struct spec *spec);
bool spec_wants_cgroup(const struct spec *spec, const char *path);
bool spec_wants_cpu(const struct spec *spec, int64_t cpu);
bool spec_wants_session(const struct spec *spec, const char *name);
/* Return true if the specification restricts functions, and if it selects this one.  `raw` is
 * its name in the symbol table, `shown` the demangled name or NULL. */
bool spec_has_symbols(const struct spec *spec);
bool spec_wants_symbol(const struct spec *spec, const char *raw, const char *shown);
/* Returns true if the argument `tag`, SPEC_SYMBOL or SPEC_SYMBOL_EXCLUDE, was given and contains
 * the function. */
bool spec_has_symbol(const struct spec *spec, enum spec_tag tag, const char *raw,
		     const char *shown);
/* Returns true if percentages of a session's time are needed, so that a source must first know
 * when its samples begin and end. */
bool spec_has_shares(const struct spec *spec);
/* Returns whether the specification selects images. */
bool spec_has_images(const struct spec *spec);
/* Matches an image, once for all its samples. Returns bits that represent the tags with a matching
 * pattern. */
unsigned int spec_image_bits(const struct spec *spec, const struct image_names *image);
/* Returns true if the specification selects a sample in an image with the bits `image` of a
 * process whose main binary has the bits `app`.  *ret_top: a kernel or module was selected by
 * its own name, and is shown at the top level instead of below the application. */
bool spec_wants_image(const struct spec *spec, unsigned int app, unsigned int image,
		      bool *ret_top);
