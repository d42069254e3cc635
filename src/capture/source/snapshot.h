/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot.h - describes what exists when a recording begins, as the perf records that the kernel
 * would have written: kernel, modules, BPF programs, processes, threads, executable mappings.
 * Layer: capture. Not thread safe. One struct snapshot can be used for several calls.
 *
 * The time of a record is taken before the files are read. So everything that the kernel reports
 * with a later time is newer than the snapshot, and everything it reported earlier is already in
 * it. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct err;
struct proc_module;
struct snapshot;

struct snapshot_config {
	/* sample_type of the attr that describes these records (with sample_id_all). */
	uint64_t sample_type;
	uint64_t id;     /* written for PERF_SAMPLE_ID and PERF_SAMPLE_IDENTIFIER */
	clockid_t clock; /* clock of the records' times */
	/* Time (CLOCK_MONOTONIC) at which snapshot_all() stops; 0: never. */
	uint64_t deadline_ns;
	/* Receives one whole record, in native byte order and 8-aligned, valid during the call.
	 * A negative return value stops the snapshot, which returns it. */
	int (*sink)(void *ctx, const void *record, size_t len);
	void *ctx;
};

struct snapshot_stats {
	uint32_t processes; /* number of processes in the records */
	uint32_t threads;
	uint32_t mappings;
	uint32_t skipped;    /* processes omitted because the deadline was reached */
	uint32_t unreadable; /* processes whose maps this user cannot read */
	uint32_t bad_lines;  /* lines of maps that could not be parsed */
};

/* Copies `config`. Returns 0 or -ENOMEM. */
int snapshot_new(const struct snapshot_config *config, struct snapshot **ret_snapshot);
void snapshot_free(struct snapshot *s); /* accepts NULL */

/* Adds all processes of /proc: for each process a FORK (with misc FORK_EXEC, so that it does not
 * inherit the parent's mappings), a COMM for every thread, and an MMAP2 for every executable
 * mapping, the one of the main binary first. Paths are relative to the root directory of the
 * process, as in the kernel's own records. Adds to *stats. Processes that end meanwhile are not an
 * error. Returns 0, the result of the sink, or another negative errno. */
int snapshot_all(struct snapshot *s, struct snapshot_stats *stats, struct err *err);
/* Like snapshot_all(), for one process (`pid` can be any of its threads), without a deadline.
 * Returns -ESRCH if it does not exist, or -EACCES if its maps cannot be read: its FORK and COMM
 * have then been written. */
int snapshot_process(struct snapshot *s, pid_t pid, struct snapshot_stats *stats,
		     struct err *err);
/* Adds the kernel's text ("[kernel.kallsyms]_text", pgoff = its address) and its modules
 * ("[name]") as MMAP records of pid -1 and time 0, and BPF programs (bpf_programs.h) as
 * KSYMBOL. Returns 0, -EACCES if kallsyms hides the addresses (nothing was written then), or
 * the result of the sink. */
int snapshot_kernel(struct snapshot *s, struct err *err);
/* Like snapshot_kernel(), for one module that was loaded at `time_ns` or later. */
int snapshot_module(struct snapshot *s, const struct proc_module *module,
		    uint64_t time_ns);

/* Adds a CGROUP record for cgroup `id`, in which process `pid` was seen. Returns 0, the result
 * of the sink, -ENOENT (it is gone) or another negative errno. */
int snapshot_cgroup(struct snapshot *s, uint64_t id, pid_t pid);
/* Like snapshot_cgroup(), for the current cgroup of process `pid`, whose id is stored in *ret_id.
 * For recordings whose samples do not contain cgroups. */
int snapshot_process_cgroup(struct snapshot *s, pid_t pid, uint64_t *ret_id);

/* Returns the address range of the kernel's text, from /proc/kallsyms; the result is cached.
 * Returns 0, -EACCES if the addresses are hidden, or another negative errno. */
int snapshot_kernel_text(uint64_t *ret_start, uint64_t *ret_end);
