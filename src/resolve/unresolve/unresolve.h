/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unresolve.h - the resolver backwards: interned samples as the records perf would have
 * written, with the side band that leads back to the same images and offsets.
 * Layer: resolve.  Not thread safe.
 *
 * A session does not say where a binary was mapped.  Here each binary gets addresses of its
 * own, the same in all processes, where no program has any (FILE_AREA of the .c); kernel,
 * modules, JIT code and what lies in no mapping keep theirs.  Mappings, names of threads and
 * cgroups are said just before the first sample that needs them, so that two users of one
 * pid never mix.  Records are in native byte order. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"
#include "format/session/session.h"

struct unresolve;

struct unresolve_ops {
	/* Takes one record.  A negative errno ends the call that made it. */
	int (*write)(void *ctx, const void *record, size_t len);
	void *ctx;
};

/* `d` grows while samples are given, and outlives this, as `ops` does.  `cgroups`: samples
 * have them.  0 or -ENOMEM. */
int unresolve_new(const struct dict *d, const struct unresolve_ops *ops, bool cgroups,
		  struct unresolve **ret_unresolve);
void unresolve_free(struct unresolve *u); /* NULL is fine */
/* The attr of the dict's event number `event`, and the id its records have. */
void unresolve_attr(const struct dict *d, uint32_t event, bool cgroups,
		    struct perf_event_attr *ret_attr);
uint64_t unresolve_id(uint32_t event);
/* Says where the kernel and its modules (images of the dict by now) were.  Images of another
 * `machine` that lie in the way are moved: `machines` has a number for each image of the
 * dict.  To be called once, before the samples.  0 or an errno of write(). */
int unresolve_kernel(struct unresolve *u, const uint32_t *machines);
/* Writes a sample whose numbers are the dict's, and before it what it needs.  Samples come
 * in order of time.  0, -EINVAL (its event, thread or stack is not in the dict), -ENOMEM, or
 * an errno of write(). */
int unresolve_sample(struct unresolve *u, const struct sample *sample);
/* That the kernel lost samples.  0 or an errno of write(). */
int unresolve_lost(struct unresolve *u, uint32_t event, uint64_t lost,
		   uint64_t time_ns);
/* What perf calls an image: "[ext4]" for the module ext4.  NULL: nothing that has a file.
 * Borrowed until the next call. */
const char *unresolve_image_name(struct unresolve *u, uint32_t image);
