/* SPDX-License-Identifier: GPL-2.0-or-later */
/* containers.h - tracks processes in other mount namespaces (PERF_RECORD_NAMESPACES), whose paths
 * can lead to other files.
 * Layer: record. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "decode/record.h"

struct containers {
	uint64_t own; /* inode of our mount namespace, 0: unknown */
	/* The mount namespace of process 1 if it has our root directory: a service has a private
	 * namespace, in which the same paths lead to the same files.  0: the same as ours, or has
	 * another root. */
	uint64_t host;
	struct map inside; /* pids in containers -> 0 */
	size_t max_inside; /* when there are more pids, those of ended processes are dropped */
	struct map known; /* (inode, 0): mount namespaces seen so far */
};

/* Looks up our own namespace, and that of process 1. */
void containers_init(struct containers *c);
void containers_done(struct containers *c);
/* Processes a NAMESPACES record.  Returns whether its mount namespace differs from ours and is
 * new. */
bool containers_take(struct containers *c, const struct record_namespaces *n);
/* Returns whether the process is in a container: its last NAMESPACES record had another mount
 * namespace than ours. */
bool containers_has(const struct containers *c, int32_t pid);
