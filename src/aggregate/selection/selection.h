/* selection.h - what a profile specification asks for in one source.
 * Layer: aggregate.  Not thread safe.  Names are compared once an image, at its first use,
 * CPUs when it is made: asking is a look-up. */
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
	SELECTION_CPUS = 1024, /* beyond these it takes longer */
	SELECTION_NARROW = 4,  /* columns of sample_batch */
	SELECTION_WIDE = 2
};

/* Where the samples go that selection_keep_times() keeps. */
struct selection_columns {
	size_t room;
	uint32_t *kept; /* positions in the batch */
	uint32_t *narrow[SELECTION_NARROW];
	uint64_t *wide[SELECTION_WIDE];
};

struct selection {
	const struct spec *spec; /* NULL: everything is asked for */
	const struct dict *dict;
	const char *vmlinux; /* "" if none */
	bool images;         /* it asks for images at all */
	unsigned int kernel; /* spec_image_bits() of the kernel as an application */
	unsigned int *bits;  /* by image; SELECTION_UNSET: not worked out */
	size_t nr_bits;
	struct buf text;
	bool cpus;                              /* it asks for CPUs: */
	uint64_t cpu_bits[SELECTION_CPUS / 64]; /* of the first ones */
	VEC(struct time_range) times;           /* none: it does not ask for times */
	bool times_known; /* false: it asks for shares of an unknown span */
	struct selection_columns columns;
};

/* What is passed outlives the selection; the dict may grow. */
void selection_init(struct selection *s, const struct spec *spec,
		    const struct dict *dict, const char *vmlinux);
void selection_done(struct selection *s);
/* Says what times the samples of the source have: needed before times are asked for.  0 or
 * -ENOMEM. */
int selection_set_times(struct selection *s, const struct session_span *session);
/* Leaves only the samples whose time is asked for; the batch has its times.  Its columns are
 * borrowed from the selection until the next call.  0 or -ENOMEM. */
int selection_keep_times(struct selection *s, struct sample_batch *batch);
/* NULL is not fine, all 0 is. */
void selection_columns_done(struct selection_columns *c);
bool selection_wants_event(const struct selection *s, const struct event_desc *event);
bool selection_wants_thread(const struct selection *s, const struct thread *thread);
/* A sample in `image` of a process whose main binary is the image `app`, each a number of
 * the dict or DICT_NONE; `kernel_app`: the kernel is the application.  An application that
 * is not known is the image itself.  1, 0, or -ENOMEM; *ret_top as of spec_wants_image(). */
int selection_wants_image(struct selection *s, uint32_t app, bool kernel_app,
			  uint32_t image, bool *ret_top);

/* Is the CPU of a sample asked for?  DICT_NONE: it is not known. */
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
