/* selection.h - what a profile specification asks for in one source.
 * Layer: aggregate.  Not thread safe.  Names are compared once an image, at its first use,
 * CPUs when it is made: asking is a look-up. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate/spec.h"
#include "base/buf.h"

struct dict;
struct event_desc;
struct thread;

enum {
	SELECTION_CPUS = 1024 /* beyond these it takes longer */
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
};

/* What is passed outlives the selection; the dict may grow. */
void selection_init(struct selection *s, const struct spec *spec,
		    const struct dict *dict, const char *vmlinux);
void selection_done(struct selection *s);
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
