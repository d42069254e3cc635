/* snapshot.h - what exists already when a recording begins, as the perf records that the
 * kernel would have written: kernel, modules, BPF programs, processes, threads, executable mappings.
 * Layer: capture.  Not thread safe; one struct snapshot for many calls keeps its buffers.
 *
 * A record's time is taken before the files it was made from are read.  So whatever the
 * kernel reports later than that time is newer than the snapshot, and what it reported
 * earlier is contained in it. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct err;
struct proc_module;
struct snapshot;

struct snapshot_config {
	uint64_t
		sample_type; /* of the attr that reads these records (sample_id_all is on) */
	uint64_t id;         /* written for PERF_SAMPLE_ID and PERF_SAMPLE_IDENTIFIER */
	clockid_t clock; /* of the session: CLOCK_MONOTONIC */
	uint64_t
		deadline_ns; /* on CLOCK_MONOTONIC; snapshot_all() stops then; 0: never */
	/* Takes one whole record, native byte order, 8-aligned, lent for the call.  A negative
	 * return ends the snapshot and becomes its result. */
	int (*sink)(void *ctx, const void *record, size_t len);
	void *ctx;
};

struct snapshot_stats {
	uint32_t processes; /* described */
	uint32_t threads;
	uint32_t mappings;
	uint32_t skipped;    /* processes left out because the deadline had come */
	uint32_t unreadable; /* processes whose maps this user may not read */
	uint32_t bad_lines;  /* lines of maps that could not be parsed */
};

/* `config` is copied.  0 or -ENOMEM. */
int snapshot_new(const struct snapshot_config *config, struct snapshot **ret_snapshot);
void snapshot_free(struct snapshot *s); /* NULL is fine */

/* All processes of /proc: for each FORK (misc FORK_EXEC: the parent's maps are not
 * inherited, the child's follow), COMM of every thread, MMAP2 of every executable
 * mapping, that of the main binary first, by its path from the process's root on, as the
 * kernel's own records have it.  Adds to *stats.  Processes that end meanwhile are
 * not an error.  0, what the sink returned, or another negative errno. */
int snapshot_all(struct snapshot *s, struct snapshot_stats *stats, struct err *err);
/* The same for one process (any of its threads' ids will do); no deadline applies.
 * -ESRCH if it does not exist (any more), -EACCES if its maps may not be read: its FORK
 * and COMM have then been written. */
int snapshot_process(struct snapshot *s, pid_t pid, struct snapshot_stats *stats,
		     struct err *err);
/* The kernel's text ("[kernel.kallsyms]_text", pgoff = its address) and its modules
 * ("[name]"), as MMAP records of pid -1 and time 0; BPF programs (bpf_programs.h) as KSYMBOL.
 * 0, -EACCES if kallsyms hides the addresses (then nothing was written), or what the sink
 * returned. */
int snapshot_kernel(struct snapshot *s, struct err *err);
/* The same for one module that came at `time_ns` or later. */
int snapshot_module(struct snapshot *s, const struct proc_module *module,
		    uint64_t time_ns);

/* The cgroup with that number, which process `pid` was met in, as a CGROUP record.  0, what the
 * sink returned, -ENOENT (it is gone) or another negative errno. */
int snapshot_cgroup(struct snapshot *s, uint64_t id, pid_t pid);
/* The same for the cgroup that the process is in, where samples do not tell. */
int snapshot_process_cgroup(struct snapshot *s, pid_t pid, uint64_t *ret_id);

/* Where the kernel's text lies, from /proc/kallsyms; asked once, then remembered.
 * 0, -EACCES if the addresses are hidden, or another negative errno. */
int snapshot_kernel_text(uint64_t *ret_start, uint64_t *ret_end);
