/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolver_priv.h - shared by the files of the resolver (resolver*.c) and sample_group.c.
 * Layer: resolve, private to them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/name_pool.h"
#include "format/session/dict.h"
#include "resolve/replay/cgroups.h"
#include "resolve/replay/images.h"
#include "resolve/replay/resolver.h"
#include "resolve/replay/stack_budget.h"
#include "resolve/space/map_shares.h"
#include "resolve/space/procs.h"
#include "resolve/unwind/stack_memo.h"
#include "resolve/unwind/stack_rest.h"
#include "resolve/unwind/unwind.h"

/* The cpu mode of an address: from the misc field of the record (PERF_RECORD_MISC_CPUMODE_MASK),
 * or from the marker before the address in a chain. */
enum cpu_mode {
	CPU_MODE_HYPERVISOR, /* also any mode that is unknown to us */
	CPU_MODE_USER,       /* the address space of the process */
	CPU_MODE_KERNEL,
	CPU_MODE_GUEST_KERNEL,
	CPU_MODE_GUEST_USER,
	CPU_MODE_COUNT
};

enum {
	/* The address spaces of all cpu modes except CPU_MODE_USER are kept like those of
	 * processes, with this pid and lower ones. */
	CPU_MODE_PID = -1000,
	DEFAULT_MAX_STACK = 127,    /* kernel.perf_event_max_stack as shipped */
	CHAIN_MAX = 4096,           /* frames of one chain; the rest is cut */
	CHAIN_ROOM = 3 * CHAIN_MAX, /* frames of all chains of a group */
	/* Versions of a process in which find_before_exec() searches for an exec: a starting
	 * program maps about this many files (itself, its loader and some libraries). */
	EXEC_VERSIONS = 16,
	/* If bounded: number of mappings of a process above which they are dropped and read
	 * again. */
	SPACE_MAX = 16384,
	RENEWAL_COST = 4, /* records that cost as much as reading a mapping */
	FRAME_CACHE = 8192,
	MAPPINGS = 1024,
	HOLES = 8,
	CALLERS_CACHE = 32768
};

/* (address space, address) -> frame. Most chains consist of frames of earlier chains. */
struct frame_slot {
	uint64_t generation;
	uint64_t ip;
	uint32_t frame;
};

/* (address space, address) -> mapping. */
struct mapping_slot {
	uint64_t generation;
	const struct mapping *m;
};

/* (address space, address) -> no mapping. */
struct hole_slot {
	uint64_t generation;
	struct space_hole hole;
};

/* (address space, raw user callers) -> stack, or the chain of the same group that will have it. */
struct callers_slot {
	uint64_t key;
	uint32_t stack;
	uint32_t nr;               /* frames */
	struct resolver_chain *of; /* NULL: `stack` is known */
};

enum {
	RECENT_THREADS = 64
};

/* The newest thread with its tid, and its state since its newest version. Valid while
 * procs.changes and `steps` have these values. */
struct recent_thread {
	struct proc_thread *thread;
	int32_t pid, tid; /* the ids of the thread */
	uint64_t changes;
	uint64_t steps;
	uint64_t since_ns;
	const struct proc_version *user;
	const struct proc_version *kernel;
	uint64_t cgroup; /* id of the cgroup for which `number` is valid */
	uint32_t
		number; /* number of the thread in the dict; DICT_NONE: not known yet */
};

/* The result of the first step of a sample: its thread and the address spaces of its addresses.
 * Other samples can be handled between the two steps, so that prefetched memory arrives, but no
 * side band may be applied. */
struct resolver_found {
	struct proc_thread *thread;
	struct process *process;
	const struct proc_version *user;
	const struct proc_version *kernel;
	int cpu_mode; /* enum cpu_mode of the sample's address */
	uint32_t
		number; /* number of the thread in the dict; DICT_NONE: not known yet */
	uint64_t changes;
	/* Valid if `has_leaf`, for a sample without a chain. `leaf` is the mapping of its address,
	 * or NULL; `leaf_image` is the number of the image in the dict, or DICT_NONE if the dict
	 * does not contain it; `leaf_offset` is the offset in that image. */
	bool has_leaf;
	uint32_t leaf_image;
	uint64_t leaf_offset;
	const struct mapping *leaf;
	/* See resolve/replay/resolver_ahead.h; NULL: none. */
	const struct ahead_stack *ahead;
};

/* State of the chain of a sample, private to the resolver. */
struct resolver_chain {
	struct dict_path path;
	/* An earlier chain of the group with the same callers, or NULL. */
	const struct resolver_chain *callers_of;
	uint32_t user;    /* pays for new nodes; see resolver_limit_stacks() */
	uint32_t stack;   /* DICT_NONE until it is known */
	uint32_t callers; /* the node of the callers; DICT_NONE until it is known */
	uint32_t nr_inner,
		/* nr_inner: number of frames up to the innermost one in user space; nr_outer: of
		 * its callers. */
		nr_outer;
	bool alone, asked, inside, stopped, keep, keep_callers;
	uint64_t from;        /* position of the callers in the chain */
	uint64_t callers_key; /* 0: no callers, or they are not code */
	uint64_t
		positions_key; /* key by image and offset; 0: not computed, or not possible */
	/* Key of the frames before the callers, independent of the addresses of the mappings;
	 * 0: none. */
	uint64_t inner_key;
	uint64_t inner_words; /* number of these frames */
	uint64_t memo_key;    /* key with the callers; 0: they are not known yet */
	/* Mapping of the innermost frame in user space; NULL: not looked up yet, or no mapping
	 * contains it. */
	const struct mapping *user_mapping;
	uint64_t user_ip;
};

struct resolver {
	struct dict *dict;
	const struct resolver_ops *ops;
	struct name_pool
		names; /* names of programs, files and cgroups, with samples or not */
	struct image_table images;
	struct procs procs;
	/* Incremented with each side-band record, and when history is freed. */
	uint64_t steps;
	struct process *mode_processes[CPU_MODE_COUNT]; /* CPU_MODE_USER: NULL */
	/* By cpu mode: image table entry for addresses in no mapping; IMAGE_TABLE_FAILED before
	 * the first such address. */
	uint32_t mode_images[CPU_MODE_COUNT];
	/* Image table entry for addresses outside the known kernel and its modules;
	 * IMAGE_TABLE_FAILED before the first such address. */
	uint32_t kernel_unmapped;
	enum resolver_depth depth;
	bool name_back;
	bool has_guests;
	bool is_bounded;
	struct map_shares map_shares;
	struct stack_budget stack_budget;
	uint64_t unwind_steps; /* operations of DWARF expressions so far */
	bool is_renewing; /* unknown_process() is reporting a process's mappings again */
	uint64_t changed;    /* see resolver_changed() */
	uint32_t max_frames; /* frames of a stack; at most CHAIN_MAX */
	struct cgroup_table cgroups;
	struct map asked; /* pids that ops->unknown_process() was called for */
	/* State of the last sample that was passed to resolver_finish(). */
	struct resolver_found here;
	/* By the low bits of the tid. */
	struct recent_thread recent[RECENT_THREADS];
	const struct mapping *last_mapping; /* last mapping found for this sample */
	uint64_t last_generation;           /* address space of last_mapping, as
					     * proc_version.generation */
	struct frame_slot *frames;          /* NULL without chains */
	struct callers_slot *callers;       /* NULL without chains */
	/* Caches two kinds of keys: (stack of the callers, called frames), and callers by image and
	 * offset. The value is the stack. */
	struct stack_memo memo;
	uint32_t chain[CHAIN_ROOM]; /* frames of the current chains */
	uint32_t nr_chain;
	bool chain_private; /* other samples must not reuse the last chain */
	struct mapping_slot mappings[MAPPINGS]; /* by address space and address */
	/* By the number of significant bytes of an address: unmapped ranges that were found. */
	struct hole_slot holes[HOLES];
	struct resolver_unwind unwind; /* `table` NULL: no unwinding */
	/* Buffer for CHAIN_MAX addresses of the stack that is being unwound. */
	uint64_t *pcs;
	size_t nr_pcs; /* of the last sample */
	bool later;    /* a table that the sample needs is still being made */
	struct unwind_bare *bare; /* NULL before the first code without rules */
	struct stack_rest *rest;  /* NULL: process memory is not available */
	/* Buffer for CHAIN_MAX addresses of a stack that continues in process memory. */
	uint64_t *rest_pcs;
	struct resolver_rests rests;
	uint64_t unwind_ends[UNWIND_ENDS];
	struct resolver_ahead *ahead; /* receives tables that are found; NULL: none */
};

/* Functions of resolver_samples.c: the steps of resolver_sample(), for sample_group.c. Each
 * step is done for all samples of a group before the next step, so that their memory accesses
 * overlap. Between the steps, `found` and `chain` must not move, and no side band may be
 * applied. The steps are either resolver_find() and resolver_finish() or, for samples with
 * chains, resolver_find(), resolver_chain_look(), resolver_chain_ask(), resolver_begin(),
 * resolver_chain_step() and resolver_chain_stack(). */

/* Finds the process and the thread of a sample. Returns 0 or -ENOMEM. */
int resolver_find(struct resolver *r, const struct record *rec,
		  struct resolver_found *ret_found);
/* Fills in the sample with its stack. Returns 0, -ENOMEM, or -EAGAIN (resolver_table_later()). */
int resolver_finish(struct resolver *r, const struct decoder *d,
		    const struct record *rec, struct resolver_found *found,
		    struct sample *ret_sample);
/* Like resolver_finish(), with RESOLVE_LEAVES, for callers that do not use resolver_locate() and
 * similar functions. */
int resolver_finish_leaf(struct resolver *r, const struct record *rec,
			 struct resolver_found *found, struct sample *ret_sample);
/* Returns false if the samples that were begun must be ended before another one begins. */
bool resolver_has_room(const struct resolver *r);
/* Fills in the sample except for its stack. resolver_chain_stack() returns the stack; call it
 * for the samples in the same order in which they were begun. Returns the same as
 * resolver_finish(). */
int resolver_begin(struct resolver *r, const struct decoder *d,
		   const struct record *rec, struct resolver_found *found,
		   struct resolver_chain *chain, struct sample *ret_sample);
/* Call when all samples that were begun have ended. */
void resolver_chains_end(struct resolver *r);
/* Call instead of resolver_chains_end() after an error, when the samples that were begun cannot
 * be ended. Afterwards other samples can begin. */
void resolver_chains_lost(struct resolver *r);
/* Returns the mapping of an address, or NULL. Uses a cache, as most addresses are in few
 * mappings. */
const struct mapping *resolver_mapping(struct resolver *r,
				       const struct proc_version *version, uint64_t ip);
/* Returns the number of the frame for `ip`; DICT_NONE if memory is short. `m` is the mapping that
 * contains `ip`; NULL: none does. */
uint32_t resolver_frame(struct resolver *r, const struct resolver_found *at,
			uint64_t ip, enum cpu_mode cpu_mode, const struct mapping *m);
/* Returns the number of the frame for a sample's address; DICT_NONE if memory is short. */
uint32_t resolver_leaf_frame(struct resolver *r, const struct resolver_found *at,
			     uint64_t ip);

static inline const struct proc_version *
resolver_version(const struct resolver *r, const struct resolver_found *at,
		 enum cpu_mode cpu_mode)
{
	if (cpu_mode == CPU_MODE_USER)
		return at->user;
	return cpu_mode == CPU_MODE_KERNEL
		       ? at->kernel
		       : &r->mode_processes[cpu_mode]->versions.at[0];
}

/* Functions of resolver_chains.c: the steps for the chain. resolver_chain_look() initializes *c,
 * and prefetches the memory that the next step reads. */
void resolver_chain_look(struct resolver *r, const struct decoder *d,
			 const struct record *rec, const struct resolver_found *at,
			 struct resolver_chain *c);
/* Looks up the callers of the chain among known stacks, and prefetches the rest of the lookup. */
void resolver_chain_ask(struct resolver *r, const struct decoder *d,
			const struct record *rec, const struct resolver_found *at,
			struct resolver_chain *c);
/* Finds the frames of the chain. Returns 0 or -ENOMEM. */
int resolver_chain_frames(struct resolver *r, const struct decoder *d,
			  const struct record *rec, const struct resolver_found *at,
			  struct resolver_chain *c);
/* Makes one step of the search for the stack. Call again while it returns true. */
bool resolver_chain_step(const struct resolver *r, struct resolver_chain *c);
/* Returns the stack; DICT_NONE if memory is short. */
uint32_t resolver_chain_stack(struct resolver *r, struct resolver_chain *c);

/* Functions of resolver_unwind.c. resolver_can_unwind() returns whether unwinding is enabled and
 * the sample contains user registers and a part of the user stack. */
bool resolver_can_unwind(const struct resolver *r, const struct record_sample *s);
/* Returns the architecture, and sets *ret_window and *ret_regs to the copied user stack and the
 * registers of the sample. Returns NULL if unwinding the machine is not supported, or registers
 * are missing. Can be called from any thread. */
const struct unwind_arch *resolver_moment(const struct resolver *r,
					  const struct decoder *d,
					  const struct record *rec,
					  struct unwind_window *ret_window,
					  struct unwind_regs *ret_regs);
/* Writes the program counters of the sample's user stack, at most `max`, to r->pcs. Returns
 * true if the stack is complete. */
bool resolver_unwind_stack(struct resolver *r, const struct decoder *d,
			   const struct record *rec, const struct resolver_found *at,
			   size_t max, size_t *ret_nr);

/* Returns the image of a cpu mode (except CPU_MODE_USER) for addresses in no mapping; for the
 * kernel also if its addresses are hidden (kptr_restrict). */
uint32_t resolver_mode_image(struct resolver *r, enum cpu_mode cpu_mode);
/* Returns the thread, and creates it if needed. `ask`: call unknown_process() for an unknown
 * process. Returns NULL if memory is short. */
struct proc_thread *resolver_thread(struct resolver *r, int32_t pid, int32_t tid,
				    uint64_t time_ns, bool ask);
/* Returns the string ":123" for a thread without a name; DICT_NONE if memory is short. */
uint32_t resolver_number_comm(struct resolver *r, struct proc_thread *thread);
