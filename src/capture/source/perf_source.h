/* perf_source.h - the kernel's perf events as a stream of raw records.
 * Layer: capture.  Two rings a CPU: one for the samples, one for the side band (mmap, comm,
 * fork, exit ...), so that a flood of samples never loses a mapping
 * (docs/decisions/0003).  All times are CLOCK_MONOTONIC's. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/events/events.h"

struct err;
struct perf_source;

struct perf_source_config {
	const struct event_request *events;
	size_t nr_events;
	const pid_t *
		tids; /* threads to follow with all they start; NULL: every CPU whole */
	size_t nr_tids;
	bool on_exec;   /* sampling begins with the exec of the one tid */
	bool no_kernel; /* only user space is sampled */
	/* Mappings come with device and inode, and no build-id.  A kernel that tells build-ids to
	 * a recording by CPU spoils the record of the same mapping for recordings by task that did
	 * not ask for them (decode/record.c, is_left_over_bit()): perf record 6.1 crashes of it. */
	bool no_build_ids;
	bool chains; /* kernel and frame-pointer user call chains */
	/* Not 0: instead of the user's chains, these registers (as perf numbers them) and so many
	 * bytes from the top of the user's stack, or fewer where rings must be small. */
	uint64_t user_regs;
	uint32_t user_stack_bytes;
	size_t ring_pages; /* data pages of a CPU's sample ring; 0: chosen here */
};

enum perf_source_ring {
	PERF_SOURCE_SIDE_BAND,
	PERF_SOURCE_SAMPLES,
	PERF_SOURCE_NAMESPACES, /* drained with the side band, before it */
	PERF_SOURCE_RING_COUNT
};

/* Opens everything, with the side band running and the samples stopped.  What an older
 * kernel does not know is left out, newest first.
 * 0; -EACCES / -EPERM where rights are missing, with a line that names the setting; -ENOENT
 * / -EOPNOTSUPP for an event this machine does not have; -EBUSY, -EMFILE, -ESRCH (the task
 * is gone), -ENOSYS or another negative errno, each with a line for the user. */
int perf_source_open(const struct perf_source_config *config,
		     struct perf_source **ret_source, struct err *err);
void perf_source_close(struct perf_source *s); /* NULL is fine */

/* The attrs as opened: the events in their order, then the side band's. */
size_t perf_source_nr_attrs(const struct perf_source *s);
const struct perf_event_attr *perf_source_attr(const struct perf_source *s, size_t i);
/* The kernel's ids of attr `i`, one per descriptor. */
const uint64_t *perf_source_ids(const struct perf_source *s, size_t i, size_t *ret_nr);

struct perf_source_rings {
	size_t nr_cpus;
	size_t nr_fds;
	size_t bytes[PERF_SOURCE_RING_COUNT]; /* of each CPU's ring, 0 if it has none */
};
void perf_source_rings(const struct perf_source *s,
		       struct perf_source_rings *ret_rings);

/* 0 or a negative errno. */
int perf_source_enable(struct perf_source *s, bool on);
/* A descriptor that polls readable when much has been written to a ring since the last time. */
int perf_source_poll_fd(const struct perf_source *s);
/* Whether it is time then: a ring may have been emptied meanwhile. */
bool perf_source_has_much(struct perf_source *s);
/* One that polls readable when a process has begun or has gone to other namespaces; -1: the
 * kernel does not tell us (CAP_PERFMON). */
int perf_source_namespaces_fd(const struct perf_source *s);

/* Called with each record; a negative return ends the drain and becomes its result. */
typedef int (*perf_source_fn)(void *ctx, const void *record, size_t len);
/* Gives every record that was in the rings of that kind when the drain began, CPU by CPU,
 * and frees the space.  0 or what `fn` returned. */
int perf_source_drain(struct perf_source *s, enum perf_source_ring kind,
		      perf_source_fn fn, void *ctx);
/* The same of the samples; `end` is called before the space of a CPU's is freed, also after an
 * error: up to then records stay as they are, but for those of groups of events (struct
 * event_request, `leads`), which are made for the call. */
typedef int (*perf_source_end_fn)(void *ctx);
int perf_source_drain_samples(struct perf_source *s, perf_source_fn fn,
			      perf_source_end_fn end, void *ctx);
/* A kernel module that was loaded, of a record of the side band; its sections and symbols can be
 * read from then on.  False: it is another record.  Only where the kernel tells
 * of namespaces, and tracefs can be read.  The name is borrowed from the record. */
bool perf_source_module_event(const struct perf_source *s, const void *record,
			      size_t len, const char **ret_name, uint64_t *ret_time_ns);
/* Samples that found no room so far, as the kernel counts them (PERF_FORMAT_LOST).  0, or
 * -EOPNOTSUPP on kernels before 6.0. */
int perf_source_lost(const struct perf_source *s, uint64_t *ret_lost);

/* How long that attr was to be counted, and how long it had a counter, of all CPUs and
 * tasks together, as far as they can be read.  That a task ran on another CPU lessens both
 * alike in all attrs; the side band, the last one, needs no counter. */
void perf_source_times(const struct perf_source *s, size_t attr,
		       uint64_t *ret_enabled_ns, uint64_t *ret_running_ns);

/* How long that CPU was recorded.  A CPU that goes offline takes our events with it: this stands still
 * from then on, also when it has come back.  Costs an interrupt there; false: it cannot be read. */
bool perf_source_cpu_time(const struct perf_source *s, int cpu,
			  uint64_t *ret_enabled_ns);
