/* SPDX-License-Identifier: GPL-2.0-or-later */
/* procs.h - processes and threads over time: for each pid and tid, its instances with their
 * names and mappings.
 * Layer: resolve. A reused pid is a new instance; all lookups have a time. Changes must be in
 * the order of time (the time of an older one is replaced with the newest known time). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/name_pool.h"
#include "base/containers/vec.h"
#include "resolve/space/space.h"

/* The state of a process from `time_ns` to the next version. */
struct proc_version {
	uint64_t time_ns;
	struct space_node *root;
	uint64_t generation; /* different for each `root`; a fork child shares it */
	/* Entry of the main binary in the image table, which counts it as a mapping; or
	 * PROC_NO_APP. */
	uint32_t app;
	bool exec; /* starts with an exec: do not merge it with the previous version */
};

struct process {
	int32_t pid;
	bool kernel;      /* a kernel thread or idle task */
	bool has_history; /* the process is in `history`, so that it is pruned */
	/* Number of mappings added since the space was last counted. */
	uint32_t nr_maps;
	/* How many mappings must be added before the space is counted again. */
	uint32_t renewal_maps;
	uint64_t start_ns;  /* 0: before the recording */
	uint64_t end_ns;    /* UINT64_MAX while it runs */
	uint32_t nr_live;   /* number of its threads that have not exited */
	uint32_t nr_states; /* number of thread instances that refer to it */
	/* Image table entry for unmapped memory; created when needed. */
	uint32_t unmapped;
	uint64_t instance; /* unique number */
	int64_t user;      /* real user id, or that of its parent; -1: unknown */
	bool is_user_read; /* `user` was read since its last exec; see process_user() */
	bool has_lost_maps; /* see procs_lose_maps() */
	/* Id of the cgroup, if samples do not contain one; 0: unknown. */
	uint64_t cgroup;
	bool cgroup_asked;
	VEC(struct proc_version) versions; /* never empty */
	struct process *older;             /* the previous process with this pid */
};

struct comm_version {
	uint64_t time_ns;
	/* Name in procs.names, with a reference; PROC_NO_COMM: unknown. */
	uint32_t comm;
};

struct proc_thread {
	int32_t tid;
	bool has_history;
	uint64_t start_ns;
	uint64_t end_ns;
	struct process *process;
	VEC(struct comm_version) comms; /* never empty */
	/* String of the dict for PROC_NO_COMM; or PROC_NO_COMM: not used yet. */
	uint32_t number_comm;
	struct proc_thread *older;
	/* The dict thread of the last sample, and its components. */
	uint32_t last_thread;
	uint32_t last_app;
	uint32_t last_comm;
	uint32_t last_cgroup;
};

enum {
	PROC_NO_APP = 0xffffffff,
	PROC_NO_USER = 0xffffffff,
	PROC_NO_COMM = NAME_POOL_NONE
};

struct procs {
	struct space_pool pool;
	struct name_pool *names; /* of comms; borrowed */
	VEC(struct process *) by_slot;
	VEC(struct proc_thread *) threads_by_slot;
	VEC(struct process *) history; /* to prune when the frontier advances */
	VEC(struct proc_thread *) thread_history;
	struct map pid_slot; /* pid -> by_slot */
	struct map tid_slot;
	uint64_t last_generation;
	uint64_t last_instance;
	uint64_t changes; /* incremented when a thread instance is added or removed */
	/* Number of versions of processes and threads that are not the newest. */
	uint64_t nr_old;
	bool is_bounded; /* see procs_bound() */
};

void procs_init(struct procs *p, struct name_pool *names);
/* Limits the memory: from now on, a thread or process with very many changes loses its own oldest
 * versions, and procs_prune() keeps at most 65536 old versions in total. Older samples then get the
 * oldest remaining version. */
void procs_bound(struct procs *p);
void procs_done(struct procs *p);

/* Return the instance at `time_ns` (the oldest one if all are later), or NULL. */
struct process *procs_find(const struct procs *p, int32_t pid, uint64_t time_ns);
struct proc_thread *procs_find_thread(const struct procs *p, int32_t tid,
				      uint64_t time_ns);
/* Adds an instance with an empty space. `start_ns` 0: it existed before the recording. Returns
 * NULL if out of memory. */
struct process *procs_new(struct procs *p, int32_t pid, uint64_t start_ns);
/* Adds an instance that shares the mappings of `parent` at `time_ns`. Returns NULL if out of
 * memory. */
struct process *procs_fork(struct procs *p, struct process *parent, int32_t pid,
			   uint64_t time_ns);
/* Adds a thread of `process` with the name `comm` (or PROC_NO_COMM), to which it takes a
 * reference. Returns NULL if out of memory. */
struct proc_thread *procs_new_thread(struct procs *p, struct process *process,
				     int32_t tid, uint64_t start_ns, uint32_t comm);
/* Change the mappings of a process from `time_ns` on. procs_clear() drops all mappings, because
 * unmapping is not recorded. Return 0 or -ENOMEM. */
int procs_clear(struct procs *p, struct process *process, uint64_t time_ns);
int procs_map(struct procs *p, struct process *process, uint64_t time_ns,
	      const struct mapping *m);
int procs_unmap(struct procs *p, struct process *process, uint64_t time_ns,
		uint64_t start, uint64_t end);
/* Drops the mappings of all versions, and ignores new ones until the next exec. */
void procs_lose_maps(struct procs *p, struct process *process);
/* Begins another program: drops the mappings and the main binary. Returns 0 or -ENOMEM. */
int procs_exec(struct procs *p, struct process *process, uint64_t time_ns);
/* Sets the name of a thread; takes a reference to `comm`. Returns 0 or -ENOMEM. */
int procs_set_comm(struct procs *p, struct proc_thread *thread, uint64_t time_ns,
		   uint32_t comm);
/* Sets the main binary of the newest version. */
void procs_set_app(struct procs *p, struct process *process, uint32_t app);
/* Ends a thread. The exit of its last thread also ends the process. Does nothing if the thread
 * has ended already. */
void procs_exit(struct procs *p, struct proc_thread *thread, uint64_t time_ns);
/* Returns the version at `time_ns`; the oldest one if all are later. process_at() is faster if
 * that is the newest version. */
const struct proc_version *process_old(const struct process *process, uint64_t time_ns);
/* Returns the user of a process, or PROC_NO_USER. `read_user` returns the real user id of a
 * running process, or -1. Once it has succeeded, it is not called again for this process before
 * its next exec, so that a flood of samples does not cost much. */
uint32_t process_user(struct process *process,
		      int64_t (*read_user)(void *ctx, int32_t pid), void *ctx);
/* Returns the newest version of a process, which is valid until the process changes or
 * procs_prune() is called. */
static inline const struct proc_version *process_newest(const struct process *process)
{
	return &process->versions.at[process->versions.nr - 1];
}
static inline const struct proc_version *process_at(const struct process *process,
						    uint64_t time_ns)
{
	const struct proc_version *last = process_newest(process);

	return last->time_ns <= time_ns ? last : process_old(process, time_ns);
}
/* Returns the main binary at that time; between an exec and the mapping of the new binary, the
 * new one. */
uint32_t process_app_at(const struct process *process, uint64_t time_ns);
/* Returns the name that the thread had at a time, in procs.names (borrowed), or PROC_NO_COMM. */
uint32_t thread_comm_at(const struct proc_thread *thread, uint64_t time_ns);
/* Removes instances that ended, and versions that were replaced, long enough before `time_ns`. */
void procs_prune(struct procs *p, uint64_t time_ns);
