/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - shared by perf_source.c, which opens and drains, and read.c, which answers queries.
 * Layer: capture. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "capture/events/tracepoint.h"
#include "capture/source/group_split.h"
#include "capture/source/perf_source.h"
#include "capture/source/ring.h"
#include "capture/system/cpus.h"

/* One opened perf event. */
struct event_fd {
	int fd;
	uint32_t attr;
	uint32_t cpu; /* index of the CPU to whose ring it writes */
	enum perf_source_ring kind;
	bool follows; /* a member of a group; it is enabled through the leader */
	bool untimed; /* counts for the whole machine, not for the recorded tasks */
};

struct perf_source {
	VEC(struct perf_event_attr) attrs; /* the last one is for the side band */
	/* the attrs that describe the records passed to the caller */
	VEC(struct perf_event_attr) reported_attrs;
	struct group_split split; /* state of groups that are read together */
	VEC(struct event_fd) fds;
	VEC(uint64_t) * ids;                        /* the kernel's ids of each attr */
	struct ring *rings[PERF_SOURCE_RING_COUNT]; /* one per CPU of `cpus` */
	struct cpu_list cpus;
	/* The attr for namespace records. These records have the same format as those of the side
	 * band. */
	struct perf_event_attr namespaces;
	bool has_namespaces;
	/* The tracepoint module_load. Its samples are in the namespace rings. */
	struct tracepoint module_load;
	/* Side-band and sample descriptors are both in the epoll of PERF_SOURCE_SAMPLES. */
	int epoll_fds[PERF_SOURCE_RING_COUNT];
};
