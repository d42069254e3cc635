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
	/* Inode of the mount namespace of process 1, if that process has the same root directory as
	 * ours. A daemon can have a private mount namespace in which the same paths lead to the
	 * same files, so processes in this namespace are not in a container. 0: process 1 has our
	 * namespace or another root directory. */
	uint64_t host;
	struct map inside; /* set of the pids in containers; the values are unused */
	/* above this number of pids, those of ended processes are dropped */
	size_t max_inside;
	struct map known; /* (inode, 0): mount namespaces seen so far */
};

/* Looks up our own namespace, and that of process 1. */
void containers_init(struct containers *c);
void containers_done(struct containers *c);
/* Notes from a NAMESPACES record whether its process is in a container. Returns whether the mount
 * namespace of the record is that of a container and was not seen before. */
bool containers_take(struct containers *c, const struct record_namespaces *n);
/* Returns whether the process is in a container: its last NAMESPACES record had another mount
 * namespace than ours. */
bool containers_has(const struct containers *c, int32_t pid);
