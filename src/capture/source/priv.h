/* priv.h - what perf_source.c (opens, drains) and source/read.c (tells) share.
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
	uint32_t cpu; /* index of the CPU whose ring it writes to */
	enum perf_source_ring kind;
	bool follows; /* another one of its group, which is enabled for it */
	bool untimed; /* counts for the machine, not for those who are watched */
};

struct perf_source {
	VEC(struct perf_event_attr) attrs; /* the side band's is the last one */
	VEC(struct perf_event_attr) told;  /* what their records are like outside */
	struct group_split split;          /* of groups that are read as one */
	VEC(struct event_fd) fds;
	VEC(uint64_t) * ids;                        /* per attr */
	struct ring *rings[PERF_SOURCE_RING_COUNT]; /* per CPU of `cpus` */
	struct cpu_list cpus;
	/* Of the records of namespaces alone, which are read as the side band's. */
	struct perf_event_attr namespaces;
	bool has_namespaces;
	struct tracepoint
		module_load; /* in the same rings, if there is a descriptor of it */
	int epoll_fds
		[PERF_SOURCE_RING_COUNT]; /* that of the samples is the side band's, too */
};
