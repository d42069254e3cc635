/* SPDX-License-Identifier: GPL-2.0-or-later */
/* containers.h - which processes see other files than we do: those in other mount namespaces, as
 * the kernel tells (PERF_RECORD_NAMESPACES).
 * Layer: record. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "decode/record.h"

struct containers {
	uint64_t own; /* inode of our mount namespace, 0: not known */
	/* That of process 1 if it has our root directory: a service has a namespace of its own, in which paths lead
	 * to the same files.  0: it is ours, or another. */
	uint64_t host;
	struct map inside; /* pids in containers -> 0 */
	size_t max_inside; /* so many are looked at before more are added */
	struct map known;  /* (inode, 0): mount namespaces met so far */
};

/* Looks up our own namespace, and that of process 1. */
void containers_init(struct containers *c);
void containers_done(struct containers *c);
/* Takes a NAMESPACES record.  Whether its mount namespace is another than ours, and new. */
bool containers_take(struct containers *c, const struct record_namespaces *n);
/* Whether the process was last told to be in another mount namespace than ours. */
bool containers_has(const struct containers *c, int32_t pid);
