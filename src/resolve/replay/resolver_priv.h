/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolver_priv.h - what the files of the resolver (resolver*.c) and sample_group.c share.
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
#include "resolve/space/procs.h"
#include "resolve/unwind/stack_memo.h"
#include "resolve/unwind/stack_rest.h"
#include "resolve/unwind/unwind.h"

/* Where an address belongs: PERF_RECORD_MISC_CPUMODE_MASK, and the markers in chains. */
enum world {
	WORLD_HYPERVISOR, /* and whatever else the kernel may come to tell */
	WORLD_USER,       /* the process's own space */
	WORLD_KERNEL,
	WORLD_GUEST_KERNEL,
	WORLD_GUEST_USER,
	WORLD_COUNT
};

enum {
	/* The spaces of the other worlds, kept like processes' under this and lower pids. */
	WORLD_PID = -1000,
	DEFAULT_MAX_STACK = 127,    /* kernel.perf_event_max_stack as shipped */
	CHAIN_MAX = 4096,           /* frames kept of one chain; more are cut */
	CHAIN_ROOM = 3 * CHAIN_MAX, /* frames of all chains of a group */
	/* A program that begins maps this much, with its loader and some libraries. */
	EXEC_VERSIONS = 16,
	SPACE_MAX =
		16384, /* mappings of one process, if bounded, before they are looked up */
	FRAME_CACHE = 8192,
	MAPPINGS = 1024,
	HOLES = 8,
	CALLERS_CACHE = 32768
};

/* (space, address) -> frame; most chains hit what was hit before. */
struct frame_slot {
	uint64_t generation;
	uint64_t ip;
	uint32_t frame;
};

/* (space, address) -> mapping. */
struct mapping_slot {
	uint64_t generation;
	const struct mapping *m;
};

/* (space, address) -> there is none. */
struct hole_slot {
	uint64_t generation;
	struct space_hole hole;
};

/* (space, raw callers in user space) -> stack, or the chain of the same group which will have it */
struct callers_slot {
	uint64_t key;
	uint32_t stack;
	uint32_t nr;               /* frames */
	struct resolver_chain *of; /* NULL: `stack` is known */
};

enum {
	RECENT_THREADS = 64
};

/* The newest thread of its number, and what is true of it since the latest of its versions, while
 * procs.changes and `steps` are these. */
struct recent_thread {
	struct proc_thread *thread;
	int32_t pid, tid; /* its own */
	uint64_t changes;
	uint64_t steps;
	uint64_t since_ns;
	const struct proc_version *user;
	const struct proc_version *kernel;
	uint64_t cgroup; /* id, with which ... */
	uint32_t number; /* ... it has this in the dict; DICT_NONE: not asked for yet */
};

/* What a first look at a sample found: its thread and the spaces of its addresses.  Between
 * the two steps other samples may be looked at, so that the memory of the second has time to
 * come, but no side band may be applied. */
struct resolver_found {
	struct proc_thread *thread;
	struct process *process;
	const struct proc_version *user;
	const struct proc_version *kernel;
	int world;       /* enum world: of the sample's own address */
	uint32_t number; /* of the thread in the dict; DICT_NONE: not known yet */
	uint64_t changes;
	/* Of one without: the mapping of its address, or NULL, and where it is in the dict, if its
	 * image is there (else DICT_NONE). */
	bool has_leaf;
	uint32_t leaf_image;
	uint64_t leaf_offset;
	const struct mapping *leaf;
	const struct ahead_stack
		*ahead; /* resolve/replay/resolver_ahead.h; NULL: none */
};

/* How far the chain of a sample is resolved: the resolver's. */
struct resolver_chain {
	struct dict_path path;
	const struct resolver_chain *
		callers_of; /* an earlier one of the group that has the callers, or NULL */
	uint32_t stack;     /* DICT_NONE before it is known */
	uint32_t callers; /* likewise, of the callers alone */
	uint32_t nr_inner,
		nr_outer; /* frames: up to the innermost in user space; callers */
	bool alone, asked, inside, stopped, keep, keep_callers;
	uint64_t from;        /* position of the callers in the chain */
	uint64_t callers_key; /* 0: there are none, or what stands there is none */
	uint64_t places_key;  /* the same by their places; 0: not looked for, or none */
	/* Of what is in front of them, wherever its process has its mappings; 0: there is none. */
	uint64_t inner_key;
	uint64_t inner_words; /* frames there */
	uint64_t memo_key;    /* with the callers; 0: they are not known yet */
	/* Of the innermost frame in user space; NULL: it was not looked for, or is in none. */
	const struct mapping *user_mapping;
	uint64_t user_ip;
};

struct resolver {
	struct dict *dict;
	const struct resolver_ops *ops;
	struct name_pool names; /* of programs, files and cgroups, hit or not */
	struct image_table images;
	struct procs procs;
	uint64_t
		steps; /* grows with each record of the side band, and what is forgotten */
	struct process *worlds[WORLD_COUNT]; /* NULL of WORLD_USER */
	uint32_t world_images
		[WORLD_COUNT]; /* image table entry of what lies in no mapping,
						* or IMAGE_TABLE_FAILED before the first */
	uint32_t
		kernel_unmapped; /* entry of kernel addresses in no mapping, likewise */
	enum resolver_depth depth;
	bool name_back;
	bool is_bounded;
	bool is_renewing;    /* a space, by what unknown_process() says */
	uint64_t changed;    /* strings: resolver_changed() */
	uint32_t max_frames; /* of a stack; at most CHAIN_MAX */
	struct cgroup_table cgroups;
	struct map asked; /* pids that ops->unknown_process() was asked about */
	struct resolver_found
		here; /* of the last one that resolver_finish() was given */
	struct recent_thread
		recent[RECENT_THREADS];     /* by the last bits of its number */
	const struct mapping *last_mapping; /* of the sample's, in ... */
	uint64_t last_generation;           /* ... this space */
	struct frame_slot *frames;          /* NULL unless there are chains */
	struct callers_slot *callers;       /* likewise */
	struct stack_memo memo;     /* (callers, what they called, as frames) -> stack;
				 * callers by their places -> their stack */
	uint32_t chain[CHAIN_ROOM]; /* frames of the chains at hand */
	uint32_t nr_chain;
	bool chain_private; /* the last one's leaf belongs to its process alone */
	struct mapping_slot mappings[MAPPINGS]; /* by address */
	struct hole_slot holes[HOLES];          /* by its number of bytes */
	struct resolver_unwind unwind;          /* .table NULL: no unwinding */
	uint64_t *pcs;           /* CHAIN_MAX of the stack that is unwound */
	size_t nr_pcs;           /* of the last sample */
	bool later;              /* a table of the sample is not made yet */
	struct stack_rest *rest; /* NULL: of files, or without unwinding */
	uint64_t *rest_pcs;      /* CHAIN_MAX of a stack with its rest */
	struct resolver_rests rests;
	uint64_t unwind_ends[UNWIND_ENDS];
	struct resolver_ahead *ahead; /* is told of tables; NULL: there is none */
};

/* Of resolver_samples.c.  The steps of resolver_sample(), for sample_group.c: each of them is for all
 * samples of a group before the next one, so that they wait together for what comes from memory.  Neither
 * `found` nor `chain` moves between the steps, and no side band is applied.  Step 1 of 2, or of 6.
 * 0 or -ENOMEM. */
int resolver_find(struct resolver *r, const struct record *rec,
		  struct resolver_found *ret_found);
/* Step 2 of 2.  0, -ENOMEM, or -EAGAIN (resolver_table_later()). */
int resolver_finish(struct resolver *r, const struct decoder *d,
		    const struct record *rec, struct resolver_found *found,
		    struct sample *ret_sample);
/* The same with RESOLVE_LEAVES, for callers that do not use resolver_locate() and the like. */
int resolver_finish_leaf(struct resolver *r, const struct record *rec,
			 struct resolver_found *found, struct sample *ret_sample);
/* False: those that began have to be ended first. */
bool resolver_has_room(const struct resolver *r);
/* Step 4, behind resolver_chain_look() and resolver_chain_ask(): all of the sample but its stack.
 * resolver_chain_step() and, in the order of this one, resolver_chain_stack() follow.  Results as of
 * resolver_finish(). */
int resolver_begin(struct resolver *r, const struct decoder *d,
		   const struct record *rec, struct resolver_found *found,
		   struct resolver_chain *chain, struct sample *ret_sample);
/* All that began have ended. */
void resolver_chains_end(struct resolver *r);
/* Some that began will not end, as memory was short: others may begin all the same. */
void resolver_chains_lost(struct resolver *r);
/* The mapping of an address, or NULL; most are in few mappings. */
const struct mapping *resolver_mapping(struct resolver *r,
				       const struct proc_version *version, uint64_t ip);
/* The frame of an address that lies in mapping `m`, or (NULL) in none;
 * DICT_NONE when memory is short. */
uint32_t resolver_frame(struct resolver *r, const struct resolver_found *at,
			uint64_t ip, enum world world, const struct mapping *m);
/* The frame of a sample's own address, likewise. */
uint32_t resolver_leaf_frame(struct resolver *r, const struct resolver_found *at,
			     uint64_t ip);

static inline const struct proc_version *
resolver_version(const struct resolver *r, const struct resolver_found *at,
		 enum world world)
{
	if (world == WORLD_USER)
		return at->user;
	return world == WORLD_KERNEL ? at->kernel : &r->worlds[world]->versions.at[0];
}

/* Of resolver_chains.c: the steps for the chain alone. */
void resolver_chain_look(struct resolver *r, const struct decoder *d,
			 const struct record *rec, const struct resolver_found *at,
			 struct resolver_chain *c);
void resolver_chain_ask(struct resolver *r, const struct decoder *d,
			const struct record *rec, const struct resolver_found *at,
			struct resolver_chain *c);
/* 0 or -ENOMEM. */
int resolver_chain_frames(struct resolver *r, const struct decoder *d,
			  const struct record *rec, const struct resolver_found *at,
			  struct resolver_chain *c);
/* To be called again while it is true. */
bool resolver_chain_step(const struct resolver *r, struct resolver_chain *c);
/* DICT_NONE when memory is short. */
uint32_t resolver_chain_stack(struct resolver *r, struct resolver_chain *c);

/* Of resolver_unwind.c.  Whether the sample has what it takes. */
bool resolver_can_unwind(const struct resolver *r, const struct record_sample *s);
/* Where its user stack begins.  NULL: of a machine that we cannot unwind, or without the registers
 * that it takes.  Any thread. */
const struct unwind_arch *resolver_moment(const struct resolver *r,
					  const struct decoder *d,
					  const struct record *rec,
					  struct unwind_window *ret_window,
					  struct unwind_regs *ret_regs);
/* The program counters of the sample's user stack, at most `max`, into r->pcs.  True: all of
 * it. */
bool resolver_unwind_stack(struct resolver *r, const struct decoder *d,
			   const struct record *rec, const struct resolver_found *at,
			   size_t max, size_t *ret_nr);

/* The image of a world (but WORLD_USER) for what lies in no mapping of it; the kernel's
 * also where its address is hidden (kptr_restrict). */
uint32_t resolver_world_image(struct resolver *r, enum world world);
/* The thread, made if need be.  `ask`: the surroundings, about an unknown process.  NULL
 * when memory is short. */
struct proc_thread *resolver_thread(struct resolver *r, int32_t pid, int32_t tid,
				    uint64_t time_ns, bool ask);
/* ":123", as long as a thread has no name; DICT_NONE when memory is short. */
uint32_t resolver_number_comm(struct resolver *r, struct proc_thread *thread);
