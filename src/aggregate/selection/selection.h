/* SPDX-License-Identifier: GPL-2.0-or-later */
/* selection.h - applies a profile specification to a source.
 * Layer: aggregate.  Not thread safe.  Names are matched once per image, at its first use, and
 * CPUs when the selection is made; each query is then a look-up. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate/selection/spec.h"
#include "base/buf.h"
#include "base/containers/vec.h"

struct dict;
struct event_desc;
struct sample_batch;
struct thread;

enum {
	SELECTION_CPUS = 1024, /* look-ups of CPUs with higher numbers are slower */
	SELECTION_NARROW = 4,  /* columns of sample_batch */
	SELECTION_WIDE = 2
};

/* The columns of the samples that selection_keep_times() keeps. */
struct selection_columns {
	size_t room;
	uint32_t *kept; /* indices in the batch */
	uint32_t *narrow[SELECTION_NARROW];
	uint64_t *wide[SELECTION_WIDE];
};

struct selection {
	const struct spec *spec; /* NULL: everything is selected */
	const struct dict *dict;
	const char *vmlinux; /* "" if none */
	bool images;         /* the specification has images */
	unsigned int kernel; /* spec_image_bits() of the kernel as an application */
	unsigned int *bits;  /* by image; SELECTION_UNSET: not computed */
	size_t nr_bits;
	struct buf text;
	bool cpus;                              /* the specification has CPUs */
	uint64_t cpu_bits[SELECTION_CPUS / 64]; /* one bit per CPU: it is selected */
	VEC(struct time_range) times;           /* empty: no restriction */
	bool times_known; /* false: percentages of an unknown span are needed */
	struct selection_columns columns;
};

/* Initializes a selection. The arguments must outlive it; the dict can grow. */
void selection_init(struct selection *s, const struct spec *spec,
		    const struct dict *dict, const char *vmlinux);
void selection_done(struct selection *s);
/* Sets the time span of the source's samples; call it before any query about times.  Returns 0
 * or -ENOMEM. */
int selection_set_times(struct selection *s, const struct session_span *session);
/* Reduces the batch, which must have times, to the samples in the selected times. If this drops any
 * sample, the columns of the batch then belong to the selection and are valid until the next call.
 * Returns 0 or -ENOMEM. */
int selection_keep_times(struct selection *s, struct sample_batch *batch);
/* Frees the memory of `c`, which must not be NULL, but can be all 0. */
void selection_columns_done(struct selection_columns *c);
bool selection_wants_event(const struct selection *s, const struct event_desc *event);
bool selection_wants_thread(const struct selection *s, const struct thread *thread);
/* Returns 1 if the specification selects a sample in `image` of a process whose main binary is
 * the image `app` (each a number of the dict or DICT_NONE), 0 if not, or -ENOMEM.  `kernel_app`:
 * the kernel is the application.  If the application is unknown, it is the image itself.
 * *ret_top is as for spec_wants_image().  selection_match_image() is for specifications with
 * images. */
int selection_match_image(struct selection *s, uint32_t app, bool kernel_app,
			  uint32_t image, bool *ret_top);
static inline int selection_wants_image(struct selection *s, uint32_t app,
					bool kernel_app, uint32_t image, bool *ret_top)
{
	if (s->images)
		return selection_match_image(s, app, kernel_app, image, ret_top);
	*ret_top = false;
	return 1;
}

/* Returns true if the CPU is selected.  DICT_NONE: unknown. */
static inline bool selection_wants_cpu(const struct selection *s, uint32_t cpu)
{
	if (!s->cpus)
		return true;
	if (cpu < SELECTION_CPUS)
		return s->cpu_bits[cpu / 64] >> cpu % 64 & 1;
	return spec_wants_cpu(s->spec, (int32_t)cpu);
}

static inline bool selection_wants_time(const struct selection *s, uint64_t time_ns)
{
	for (size_t i = 0; i < s->times.nr; i++) {
		if (time_ns >= s->times.at[i].from_ns && time_ns < s->times.at[i].to_ns)
			return true;
	}
	return !s->times.nr;
}
