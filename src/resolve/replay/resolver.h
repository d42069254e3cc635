/* resolver.h - from typed records to interned samples: who ran, in which image, where.
 * Layer: resolve.  Single-threaded; the dict it fills is the caller's.
 *
 * Side-band records are applied at their own time; a sample is resolved with what was true
 * at its time.  Records older than the frontier may be given in any order, the side band
 * of a span before its samples. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/record.h"
#include "format/session/dict.h"
#include "format/session/session.h"

struct err;
struct resolver;

/* What the resolver asks of its surroundings. */
struct resolver_ops {
	/* First hit of a file image (kind FILE or VDSO): may complete build-id, dev, inode,
	 * mtime and size.  `pid` and the mapping tell where it was seen.  May be NULL.
	 * For KERNEL and MODULE it may complete the build-id. */
	void (*first_hit)(void *ctx, const char *path, int32_t pid, uint64_t map_start,
			  uint64_t map_end, struct image *image);
	/* Whether the file of an image that was hit has been written anew in its place: then it is
	 * another one when it is mapped again.  For files of which no build-id is recorded; asked
	 * ten times a second for each at most.  May be NULL. */
	bool (*is_rewritten)(void *ctx, const char *path, const struct image *image);
	/* A sample of a pid that no record has named: may feed the records of a /proc
	 * snapshot of it to resolver_side_band().  Asked once per pid.  May be NULL. */
	void (*unknown_process)(void *ctx, int32_t pid);
	/* A sample has a cgroup that no record has named: may feed its CGROUP record to
	 * resolver_side_band().  Asked once per id; `pid` ran in it.  May be NULL. */
	void (*unknown_cgroup)(void *ctx, uint64_t id, int32_t pid);
	/* The id of the cgroup that a process is in, whose samples do not tell it; 0 unknown.
	 * Asked once per process.  May be NULL. */
	uint64_t (*process_cgroup)(void *ctx, int32_t pid);
	void *ctx;
};

/* What is worked out of each sample. */
enum resolver_depth {
	RESOLVE_CHAINS, /* all */
	RESOLVE_LEAVES, /* stacks without their callers: what a flat report needs */
	RESOLVE_THREADS /* no stack at all (DICT_NONE): see resolver_locate() */
};
/* 0 or -ENOMEM.  `dict` outlives the resolver. */
int resolver_new(struct dict *dict, const struct resolver_ops *ops,
		 enum resolver_depth depth, struct resolver **ret_resolver);
void resolver_free(struct resolver *r); /* NULL is fine */
/* Stacks are cut behind so many frames, their innermost one among them (0: where they were up to
 * now).  Before the first sample. */
void resolver_set_max_frames(struct resolver *r, uint32_t max);
/* The first name of a thread is that of its samples up to then, too: their string in the dict
 * changes.  Else they stay ":123".  Before the first record. */
void resolver_name_back(struct resolver *r);
/* For a recorder, whose records are of programs of others: what one process does may not fill the
 * memory.  One that changes its name or its mappings thousands of times while samples wait loses the
 * oldest of these; one that has mapped very much is looked up by unknown_process(), which says what
 * is still mapped.  Before the first record. */
void resolver_bound(struct resolver *r);
/* What is kept for samples to come. */
struct resolver_kept {
	size_t names;     /* of programs, files and cgroups */
	size_t images;    /* mapped, or hit */
	size_t old;       /* earlier states of processes and threads */
	size_t processes; /* numbers of processes and threads */
};
struct resolver_kept resolver_kept(const struct resolver *r);
/* How many strings have changed. */
uint64_t resolver_changed(const struct resolver *r);
/* User stacks from registers and a part of the stack, for samples that have both and no user
 * chain.  `table` gives the unwind table of an image of the dict, NULL: it has none. */
struct unwind_table;
/* What `table` may give, too: it is being made.  resolver_sample() is -EAGAIN then, and the sample
 * can be given again later. */
const struct unwind_table *resolver_table_later(void);
struct resolver_unwind {
	const struct unwind_table *(*table)(void *ctx, uint32_t image);
	/* Memory of a process that may live yet (resolve/unwind/stack_rest.h), for stacks that are
	 * longer than what was copied of them; NULL: there is none. */
	size_t (*copy)(void *ctx, int32_t pid, uint64_t address, void *bytes,
		       size_t len);
	void *ctx;
	/* Changes a place in memory without a file to that of the code which was there at that
	 * time, if a JIT compiler told of it; NULL: none did. */
	void (*jit_place)(void *ctx, uint32_t *image, uint64_t *offset,
			  uint64_t time_ns);
	void *jit_ctx;
	const char *machine; /* as session_info has it; outlives the resolver */
};
/* 0 or -ENOMEM. */
int resolver_use_unwind(struct resolver *r, const struct resolver_unwind *unwind);
/* The user stack of the sample that resolver_sample() was given last: at most `max` addresses,
 * innermost first, good until the next sample.  *ret_nr is 0 for one that is not unwound. */
const uint64_t *resolver_unwound(struct resolver *r, const struct decoder *d,
				 const struct record *rec, size_t max, size_t *ret_nr);
/* The same as resolver_sample() itself found it; none if it did not unwind. */
const uint64_t *resolver_last_unwound(const struct resolver *r, size_t *ret_nr);
/* How often stacks ended for which reason: by enum unwind_end (resolve/unwind/unwind.h). */
const uint64_t *resolver_unwind_ends(const struct resolver *r);
/* How many stacks were longer than their copies and were looked for in memory, and how many of
 * them were whole in this way. */
struct resolver_rests {
	uint64_t tried;
	uint64_t found;
};
struct resolver_rests resolver_unwind_rests(const struct resolver *r);
/* Whether records of this type (PERF_RECORD_...) change anything for the resolver. */
bool resolver_takes(uint32_t type);
/* Applies an MMAP, MMAP2, COMM, FORK, EXIT, KSYMBOL, CGROUP or NAMESPACES record; others
 * are ignored.  0 or -ENOMEM. */
int resolver_side_band(struct resolver *r, const struct record *rec);
/* Resolves a SAMPLE record; `rec`'s decoder is needed to read the chain.  0 or -ENOMEM. */
int resolver_sample(struct resolver *r, const struct decoder *d,
		    const struct record *rec, struct sample *ret_sample);
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

/* The two steps of resolver_sample(), for readers of many samples.  0 or -ENOMEM. */
int resolver_find(struct resolver *r, const struct record *rec,
		  struct resolver_found *ret_found);
int resolver_finish(struct resolver *r, const struct decoder *d,
		    const struct record *rec, struct resolver_found *found,
		    struct sample *ret_sample);
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

/* Whether the stack is known already: steps and an end are not needed then. */
static inline bool resolver_is_known(const struct resolver_chain *chain)
{
	return chain->stack != DICT_NONE;
}
/* resolver_finish() in steps, with RESOLVE_CHAINS: each step for all samples of a group before the
 * next one, so that they wait together for what comes from memory.  Neither `found` nor `chain`
 * moves between the steps, and no side band is applied.  The samples that come out are the same;
 * resolver_locate(), resolver_image() and resolver_unwound() are for resolver_finish() alone. */
void resolver_look(struct resolver *r, const struct decoder *d,
		   const struct record *rec, const struct resolver_found *found,
		   struct resolver_chain *chain);
void resolver_ask(struct resolver *r, const struct decoder *d, const struct record *rec,
		  const struct resolver_found *found, struct resolver_chain *chain);
/* False: resolver_end() comes first for those which began. */
bool resolver_has_room(const struct resolver *r);
/* All of the sample but its stack.  0, -ENOMEM, or as resolver_sample(). */
int resolver_begin(struct resolver *r, const struct decoder *d,
		   const struct record *rec, struct resolver_found *found,
		   struct resolver_chain *chain, struct sample *ret_sample);
/* To be called again while it is true. */
bool resolver_step(const struct resolver *r, struct resolver_chain *chain);
/* In the order of resolver_begin().  0 or -ENOMEM. */
int resolver_end(struct resolver *r, struct resolver_chain *chain,
		 struct sample *sample);
/* All that began have ended. */
void resolver_group_end(struct resolver *r);
/* Some that began will not end, as memory was short: another group may begin all the same. */
void resolver_group_lost(struct resolver *r);
/* Where any address of the sample is that resolver_sample() was given last: of a chain word
 * by word, of a branch, of data.  The same entry and offset are always the same place. */
enum {
	RESOLVER_NOWHERE = 0xfffffffe /* in no mapping of its process */
};
struct mapping;
struct resolver_place {
	uint32_t entry; /* number of the image in the resolver, RESOLVER_NOWHERE */
	uint64_t offset;
	const struct mapping *mapping; /* for resolver_image() alone */
};
/* `mode`: PERF_RECORD_MISC_USER ..., what the address was met in.  0 or -ENOMEM. */
int resolver_locate(struct resolver *r, uint16_t mode, uint64_t address,
		    struct resolver_place *ret_place);
/* The number of the image in the dict, DICT_NONE if it is nowhere.  0 or -ENOMEM. */
int resolver_image(struct resolver *r, const struct resolver_place *place,
		   uint32_t *ret_image);
/* Nothing older than `time_ns` will come any more: frees history. */
void resolver_frontier(struct resolver *r, uint64_t time_ns);
