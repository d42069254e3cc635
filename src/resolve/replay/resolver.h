/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#include "resolve/replay/resolver_ops.h"

struct err;
struct resolver;

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
/* For a recorder of other users' programs: no process may fill its memory.  One that changes its
 * name or mappings thousands of times while samples wait loses the oldest of these states.  For one
 * with very many mappings unknown_process() is called, which feeds those that still exist.  Before
 * the first record. */
void resolver_bound(struct resolver *r);
/* How much is kept for later samples. */
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
/* Resolves a SAMPLE record; `rec`'s decoder is needed to read the chain.  Many of them go faster by
 * sample_group.h.  0 or -ENOMEM. */
int resolver_sample(struct resolver *r, const struct decoder *d,
		    const struct record *rec, struct sample *ret_sample);
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
