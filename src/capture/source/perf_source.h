/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_source.h - reads the kernel's perf events as a stream of raw records.
 * Layer: capture.  Each CPU has two rings, one for the samples and one for the side band (mmap,
 * comm, fork, exit ...), so that a flood of samples never causes the loss of a mapping
 * (docs/decisions/0003).  All times are CLOCK_MONOTONIC. */
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
		tids; /* threads to record, including their children; NULL: all tasks on all
                       * CPUs */
	size_t nr_tids;
	bool on_exec;   /* sampling begins when the only tid calls exec */
	bool no_kernel; /* only sample user space */
	/* Request mapping records with device and inode instead of a build-id. If a per-CPU
	 * recording requests build-ids, some kernels corrupt the same mapping record for per-task
	 * recordings that did not request them (decode/record.c, is_left_over_bit()): perf record
	 * 6.1 crashes on it. */
	bool no_build_ids;
	bool chains; /* record kernel call chains, and user call chains by frame pointers */
	/* If user_stack_bytes is not 0, samples contain these registers (a bit mask in perf's
	 * numbering) and this many bytes from the top of the user stack instead of user call
	 * chains. If the rings have to be small, fewer bytes are copied. */
	uint64_t user_regs;
	uint32_t user_stack_bytes;
	size_t ring_pages; /* data pages of each CPU's sample ring; 0: default */
};

enum perf_source_ring {
	PERF_SOURCE_SIDE_BAND,
	PERF_SOURCE_SAMPLES,
	PERF_SOURCE_NAMESPACES, /* drained together with the side band, before it */
	PERF_SOURCE_RING_COUNT
};

/* Opens all events, with the side band enabled and the samples disabled. Omits what an older
 * kernel does not support, newest features first.
 * Returns 0, or a negative errno with a message for the user in *err: -EACCES / -EPERM without
 * permission (the message names the setting), -ENOENT / -EOPNOTSUPP for an event that this
 * machine lacks, -EBUSY, -EMFILE, -ESRCH (the task is gone), -ENOSYS or another. */
int perf_source_open(const struct perf_source_config *config,
		     struct perf_source **ret_source, struct err *err);
void perf_source_close(struct perf_source *s); /* accepts NULL */

/* Return the attrs that describe the records and their number: first the attrs of the events in
 * their order, then that of the side band. */
size_t perf_source_nr_attrs(const struct perf_source *s);
const struct perf_event_attr *perf_source_attr(const struct perf_source *s, size_t i);
/* Returns the kernel's ids of attr `i`, one per descriptor. */
const uint64_t *perf_source_ids(const struct perf_source *s, size_t i, size_t *ret_nr);

struct perf_source_rings {
	size_t nr_cpus;
	size_t nr_fds;
	/* Size of each CPU's ring; 0: the source has no ring of this kind. */
	size_t bytes[PERF_SOURCE_RING_COUNT];
};
void perf_source_rings(const struct perf_source *s,
		       struct perf_source_rings *ret_rings);

/* Enables or disables sampling. Returns 0 or a negative errno. */
int perf_source_enable(struct perf_source *s, bool on);
/* Returns a file descriptor that becomes readable when a ring has received much data since the
 * last wakeup. */
int perf_source_poll_fd(const struct perf_source *s);
/* Returns whether a ring contains much data now; after a wakeup it can already be empty again. */
bool perf_source_has_much(struct perf_source *s);
/* Returns a file descriptor that becomes readable when a process starts or enters other
 * namespaces; -1 if the kernel does not report this to us (CAP_PERFMON). */
int perf_source_namespaces_fd(const struct perf_source *s);

/* Receives each record. A negative return value stops the drain, which returns it. */
typedef int (*perf_source_fn)(void *ctx, const void *record, size_t len);
/* Passes each record that was in the rings of a kind when the call began to `fn`, CPU by CPU, and
 * frees the space in the rings. Returns 0 or the result of `fn`. */
int perf_source_drain(struct perf_source *s, enum perf_source_ring kind,
		      perf_source_fn fn, void *ctx);
/* Like perf_source_drain(), for the samples. `end` is called before the space of a CPU's ring is
 * freed, even after an error. Until then the records stay valid, except for those of event groups
 * (struct event_request, `leads`), which are only valid during the call. */
typedef int (*perf_source_end_fn)(void *ctx);
int perf_source_drain_samples(struct perf_source *s, perf_source_fn fn,
			      perf_source_end_fn end, void *ctx);
/* Empties the sample rings, and returns how many samples they contained. */
uint64_t perf_source_drop_samples(struct perf_source *s);
/* Returns true if this side-band record reports that a kernel module was loaded, whose sections
 * and symbols can now be read. Such records require that the kernel reports namespaces to us
 * and that tracefs is readable. *ret_name is borrowed from the record. */
bool perf_source_module_event(const struct perf_source *s, const void *record,
			      size_t len, const char **ret_name, uint64_t *ret_time_ns);
/* Stores how many samples did not fit into the rings so far, as counted by the kernel
 * (PERF_FORMAT_LOST). Returns 0, or -EOPNOTSUPP on kernels before 6.0. */
int perf_source_lost(const struct perf_source *s, uint64_t *ret_lost);

/* Stores how long an attr was enabled and how long it had a counter, summed over all CPUs and tasks
 * that can be read. Compare only ratios of attrs: when a task moves between CPUs, both values
 * become smaller, in the same proportion for all attrs. The side band, the last attr, needs no
 * counter. */
void perf_source_times(const struct perf_source *s, size_t attr,
		       uint64_t *ret_enabled_ns, uint64_t *ret_running_ns);

/* Stores how long this CPU was recorded. A CPU that goes offline loses our events, so its value no
 * longer changes, even after it is online again. The query interrupts the CPU. Returns false if it
 * cannot be read. */
bool perf_source_cpu_time(const struct perf_source *s, int cpu,
			  uint64_t *ret_enabled_ns);
