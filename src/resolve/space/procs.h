/* SPDX-License-Identifier: GPL-2.0-or-later */
/* procs.h - processes and threads over time: who had a pid or tid when, under which name,
 * with what mapped.
 * Layer: resolve.  A pid that is used again is another instance; all lookups take a time.
 * Changes must come in order of time (an older one is taken as of the newest known). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/name_pool.h"
#include "base/containers/vec.h"
#include "resolve/space/space.h"

/* What was true of a process from `time_ns` to the next version. */
struct proc_version {
	uint64_t time_ns;
	struct space_node *root;
	uint64_t generation; /* differs whenever `root` does; a fork child shares it */
	uint32_t
		app; /* entry of the main binary in the image table, which counts it as a mapping;
		       * or PROC_NO_APP */
	bool exec; /* begins with an exec: not to be joined with what was before */
};

struct process {
	int32_t pid;
	bool kernel;        /* a kernel thread or idle */
	bool has_history;   /* in the list of those to prune */
	uint32_t nr_maps;   /* since its space was last counted */
	uint64_t start_ns;  /* 0: before the recording */
	uint64_t end_ns;    /* UINT64_MAX while it lives */
	uint32_t nr_live;   /* its threads that have not exited */
	uint32_t nr_states; /* thread instances that point here */
	uint32_t unmapped;  /* image table entry for what lies in no mapping; lazily */
	uint64_t instance;  /* a number of its own */
	uint64_t cgroup;    /* id, of whose samples do not tell; 0 unknown */
	bool cgroup_asked;
	VEC(struct proc_version) versions; /* never empty */
	struct process *older;             /* who had this pid before */
};

struct comm_version {
	uint64_t time_ns;
	uint32_t
		comm; /* in procs.names, with a reference; PROC_NO_COMM: not known yet */
};

struct proc_thread {
	int32_t tid;
	bool has_history;
	uint64_t start_ns;
	uint64_t end_ns;
	struct process *process;
	VEC(struct comm_version) comms; /* never empty */
	uint32_t
		number_comm; /* string of the dict for PROC_NO_COMM, or that: not met yet */
	struct proc_thread *older;
	/* The dict thread of the last sample, and what it was made of. */
	uint32_t last_thread;
	uint32_t last_app;
	uint32_t last_comm;
	uint32_t last_cgroup;
};

enum {
	PROC_NO_APP = 0xffffffff,
	PROC_NO_COMM = NAME_POOL_NONE
};

struct procs {
	struct space_pool pool;
	struct name_pool *names; /* of comms; borrowed */
	VEC(struct process *) by_slot;
	VEC(struct proc_thread *) threads_by_slot;
	VEC(struct process *) history; /* to look at when the frontier moves */
	VEC(struct proc_thread *) thread_history;
	struct map pid_slot; /* pid -> by_slot */
	struct map tid_slot;
	uint64_t last_generation;
	uint64_t last_instance;
	uint64_t changes; /* grows whenever a thread instance comes or goes */
	uint64_t nr_old; /* versions of processes and threads that are not the newest */
	bool is_bounded; /* see procs_bound() */
};

void procs_init(struct procs *p, struct name_pool *names);
/* From now on one thread or process that changes all the time loses its own oldest versions, and
 * procs_prune() keeps at most 65536 old ones of all: samples that are older than what is left
 * get the oldest version left. */
void procs_bound(struct procs *p);
void procs_done(struct procs *p);

/* The instance at `time_ns` (the oldest known one if all are younger), or NULL. */
struct process *procs_find(const struct procs *p, int32_t pid, uint64_t time_ns);
struct proc_thread *procs_find_thread(const struct procs *p, int32_t tid,
				      uint64_t time_ns);
/* A new instance with an empty space.  `start_ns` 0: it was there before.  NULL: memory. */
struct process *procs_new(struct procs *p, int32_t pid, uint64_t start_ns);
/* A new instance with what `parent` has mapped at `time_ns`; both share it. */
struct process *procs_fork(struct procs *p, struct process *parent, int32_t pid,
			   uint64_t time_ns);
/* A new thread of `process`, named `comm` (or PROC_NO_COMM), to which it takes a reference. */
struct proc_thread *procs_new_thread(struct procs *p, struct process *process,
				     int32_t tid, uint64_t start_ns, uint32_t comm);
/* Forgets what it has mapped, as unmapping is not recorded.  0 or -ENOMEM, also the next four.  procs_set_comm() takes a reference to `comm`. */
int procs_clear(struct procs *p, struct process *process, uint64_t time_ns);
int procs_map(struct procs *p, struct process *process, uint64_t time_ns,
	      const struct mapping *m);
int procs_unmap(struct procs *p, struct process *process, uint64_t time_ns,
		uint64_t start, uint64_t end);
int procs_exec(struct procs *p, struct process *process, uint64_t time_ns);
int procs_set_comm(struct procs *p, struct proc_thread *thread, uint64_t time_ns,
		   uint32_t comm);
/* Sets the main binary of the newest version. */
void procs_set_app(struct procs *p, struct process *process, uint32_t app);
void procs_exit(struct procs *p, struct proc_thread *thread, uint64_t time_ns);
/* The version in force at a time: nearly always the newest. */
const struct proc_version *process_old(const struct process *process, uint64_t time_ns);
/* Good until the process changes, or procs_prune(). */
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
/* The main binary then; in the moments of an exec before it is mapped, the coming one. */
uint32_t process_app_at(const struct process *process, uint64_t time_ns);
/* A name of procs.names, borrowed; PROC_NO_COMM. */
uint32_t thread_comm_at(const struct proc_thread *thread, uint64_t time_ns);
/* Forgets what ended, and versions that were replaced, long enough before `time_ns`. */
void procs_prune(struct procs *p, uint64_t time_ns);
