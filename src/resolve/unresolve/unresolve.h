/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unresolve.h - the reverse of the resolver: converts samples back to the records that perf
 * would have written, with the other records that map them to the same images and offsets.
 * Layer: resolve. Not thread-safe.
 *
 * A session does not contain the addresses of mappings. Each binary is assigned its own
 * addresses, the same in all processes, which no program uses (FILE_AREA in maps.c). The
 * kernel, modules, JIT code and unmapped memory keep their addresses. Mappings, names of
 * threads and cgroups are written just before the first sample that needs them, so that
 * successive processes with the same pid are not mixed. Records are in native byte order. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"
#include "format/session/session.h"

struct unresolve;

struct unresolve_ops {
	/* Receives one record. A negative errno ends the call that made the record. */
	int (*write)(void *ctx, const void *record, size_t len);
	void *ctx;
};

/* `d` can grow while samples are written; `d` and `ops` must outlive the object. `cgroups`:
 * samples contain cgroups. Returns 0 or -ENOMEM. */
int unresolve_new(const struct dict *d, const struct unresolve_ops *ops, bool cgroups,
		  struct unresolve **ret_unresolve);
void unresolve_free(struct unresolve *u); /* accepts NULL */
/* Return the attr of the dict's event number `event`, and the id of its records. */
void unresolve_attr(const struct dict *d, uint32_t event, bool cgroups,
		    struct perf_event_attr *ret_attr);
uint64_t unresolve_id(uint32_t event);
/* Writes the addresses of the kernel and its modules (the images in the dict so far). Images of
 * another machine with overlapping addresses are moved: `machines` has a machine number for
 * each image of the dict. Call it once, before the samples. Returns 0 or an errno of write(). */
int unresolve_kernel(struct unresolve *u, const uint32_t *machines);
/* Writes a sample, whose indices are those of the dict, after the records that it needs.
 * Samples must be in the order of time. Returns 0, -EINVAL (event, thread or stack is not in
 * the dict), -ENOMEM, or an errno of write(). */
int unresolve_sample(struct unresolve *u, const struct sample *sample);
/* Writes that the kernel lost samples. Returns 0 or an errno of write(). */
int unresolve_lost(struct unresolve *u, uint32_t event, uint64_t lost,
		   uint64_t time_ns);
/* Returns perf's name of an image, such as "[ext4]" for the module ext4; NULL: the image has no
 * file. Valid until the next call. */
const char *unresolve_image_name(struct unresolve *u, uint32_t image);
