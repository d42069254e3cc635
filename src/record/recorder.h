/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recorder.h - one recording: connects capture, decode, resolve and the session's writer.
 * Layer: record. Single-threaded (docs/decisions/0004): a round, once a second or when a ring
 * is getting full, drains the rings up to a time frontier, resolves the samples, and writes
 * them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/events/events.h"
#include "format/session/session.h"

struct copy_list;
struct err;
struct recorder;
struct session_dir;
struct shared_tables;

struct recorder_config {
	const struct event_request *events;
	size_t nr_events;
	const pid_t *pids; /* processes to record; NULL: the whole system */
	size_t nr_pids;
	bool on_exec; /* the only pid is a waiting child: sampling begins with its exec */
	/* Record kernel call chains, and user call chains by frame pointers. */
	bool chains;
	/* Not 0: the number of bytes of the user stack to copy with each sample. The call
	 * chains are unwound from these copies. */
	uint32_t stack_bytes;
	size_t ring_pages; /* data pages of the sample ring of each CPU; 0: the default */
	/* SESSION_... flags that depend on the caller's options */
	uint32_t session_flags;
	const char *vmlinux;   /* "": none */
	const char *perf_data; /* NULL: none */
	char *const *command;  /* command line of this program, stored in the session */
	int nr_command;
	/* this process also makes other recordings: do not count the CPU time that it used
	 * before */
	bool one_of_many;
	bool no_build_ids; /* see struct perf_source_config */
	/* For a recording that always runs: wakes up less often. This can lose the callers of
	 * stacks that are longer than their copies, and files of containers that only live for a
	 * moment. */
	bool patient;
	bool fair; /* limits what the stacks of each user cost (resolver_limit_stacks()) */
	/* Unwind tables that this recording shares with the previous and the next one; outlives
	 * the recorder. NULL: none are shared. */
	struct shared_tables *tables;
	/* Receives the copies that the session needs at the end; the caller makes them.
	 * Outlives the recorder. NULL: recorder_close() makes the copies. */
	struct copy_list *copies;
	struct session_dir *dir; /* outlives the recorder */
	uint32_t max_frames;     /* maximum number of frames per stack; 0: no limit */
	/* Limit in bytes of the memory for the mappings of all processes (resolver_bound()); 0: the
	 * default. */
	uint64_t max_map_bytes;
	/* Returns whether to add a sample to the session. NULL: adds every sample. */
	bool (*is_wanted)(void *ctx, const struct dict *dict,
			  const struct sample *sample);
	/* Called for each added sample, which refers to the recorder's dict. May be NULL. */
	void (*on_sample)(void *ctx, const struct dict *dict,
			  const struct sample *sample);
	/* Called for each forked process, before its samples. May be NULL. */
	void (*on_fork)(void *ctx, int32_t pid, int32_t ppid);
	void *ctx; /* passed to these three callbacks */
};

/* Opens events and files and takes the snapshots; sampling has not begun. Returns 0, or an
 * error of perf_source_open() or of the files, with a message for the user in *err. */
int recorder_open(const struct recorder_config *config, struct recorder **ret_recorder,
		  struct err *err);
/* Enables or disables sampling. If the recorder was opened with on_exec, the exec has already
 * enabled it. Returns 0, or a negative errno with a message in *err. */
int recorder_enable(struct recorder *r, bool on, struct err *err);
/* Ends sampling for good and writes all samples, while the command continues to run. Returns 0,
 * or a negative errno with a message in *err. */
int recorder_stop(struct recorder *r, struct err *err);
/* Returns a file descriptor that becomes readable when a round may be due early. */
int recorder_poll_fd(const struct recorder *r);
/* Returns whether a round is due. `woken`: that file descriptor was readable. */
bool recorder_is_due(struct recorder *r, bool woken);
/* Returns the milliseconds until the next round is due. */
int recorder_timeout_ms(const struct recorder *r);
/* Containers are examined between rounds also. Returns a file descriptor that becomes readable
 * when a container may have started and recorder_attend() should be called; -1 if it must not be
 * polled now, or if the kernel does not report containers. */
int recorder_attend_fd(const struct recorder *r);
/* Returns the milliseconds until recorder_attend() is due or recorder_attend_fd() changes; 0 if
 * it is due; -1 if it is not due before that file descriptor is readable. */
int recorder_attend_ms(const struct recorder *r);
/* Drains the side band: examines new containers, opens files that might soon disappear, and reads
 * the symbols of new modules. Returns 0, or a negative errno with a message in *err. */
int recorder_attend(struct recorder *r, struct err *err);
/* Executes one round: drains the rings and resolves the samples. Writes them to disk only if the
 * interval (normally a second) is over, or if many samples wait. Returns 0, or a negative errno
 * (-ENOSPC ...) with a message in *err; data written before stays valid. */
int recorder_round(struct recorder *r, struct err *err);
/* Executes a round, and writes all samples taken before the call to the segment, so that readers
 * see them. Returns the same as recorder_round(). */
int recorder_dump(struct recorder *r, struct err *err);
/* Returns the totals so far. Until the recording ends, lost samples include only those that the
 * rings reported. */
const struct session_totals *recorder_totals(const struct recorder *r);
/* Returns an array of the number of samples of each CPU, indexed by CPU number, and its length in
 * *ret_nr_cpus. It is valid until the next round. */
const uint64_t *recorder_cpu_samples(const struct recorder *r, size_t *ret_nr_cpus);
/* Frees a recorder whose recording did not begin, and removes its segment. */
void recorder_discard(struct recorder *r); /* accepts NULL */
/* Stops sampling, drains the rings, saves files that will not be found later, writes the totals and
 * frees the recorder. `target_status` is the wait status of the command, or -1. *ret_file_bytes is
 * the size of the segment. Sets *ret_totals also on an error. Returns 0, or a negative errno with a
 * message in *err. */
int recorder_close(struct recorder *r, int target_status,
		   struct session_totals *ret_totals, uint64_t *ret_file_bytes,
		   struct err *err);
