/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolver.h - resolves decoded records to interned samples: thread, image and offset.
 * Layer: resolve. Single-threaded. The caller owns the dict that the resolver fills.
 *
 * A sample is resolved with the state at its time. Pass side-band records in order of time, and
 * those of a time span before its samples. Samples that are not older than the frontier
 * (resolver_frontier()) can be passed in any order. */
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

/* How much of each sample is resolved. */
enum resolver_depth {
	RESOLVE_CHAINS, /* everything */
	RESOLVE_LEAVES, /* stacks without callers, enough for a flat report */
	RESOLVE_THREADS /* no stack (DICT_NONE), see resolver_locate() */
};
/* Creates a resolver. `dict` and `ops` (can be NULL) outlive it. Returns 0 or -ENOMEM. */
int resolver_new(struct dict *dict, const struct resolver_ops *ops,
		 enum resolver_depth depth, struct resolver **ret_resolver);
void resolver_free(struct resolver *r); /* accepts NULL */
/* Cuts stacks after `max` frames, counted from the innermost one; 0: after the internal limit
 * (4096). Call before the first sample. */
void resolver_set_max_frames(struct resolver *r, uint32_t max);
/* From now on, MMAP records with a guest's cpu mode are those of virtual machines. */
void resolver_has_guests(struct resolver *r);
/* From now on, the first name of a thread also applies to its earlier samples: their string in
 * the dict changes. Otherwise those keep a name like ":123". Call before the first record. */
void resolver_name_back(struct resolver *r);
/* Limits the memory that a process can make the resolver use, for a recorder of other users'
 * programs. If a process changes its name or mappings thousands of times while samples wait,
 * the oldest of these states are lost. If it has very many mappings, they are dropped and
 * unknown_process() is called, which passes in those that still exist. If the mappings of all
 * processes need more than `max_bytes` of memory (0: no limit), the processes of the user who
 * needs the most lose theirs; this needs ops->process_user(). Call before the first record. */
void resolver_bound(struct resolver *r, uint64_t max_bytes);
/* Limits what the stacks of each user cost (resolve/replay/stack_budget.h); `rate_hz` is the number
 * of samples per second on all CPUs. Needs ops->process_user(). Call before the first record. */
void resolver_limit_stacks(struct resolver *r, uint64_t rate_hz);
/* Numbers of objects that are kept for later samples. */
struct resolver_kept {
	size_t names;     /* names of programs, files and cgroups */
	size_t images;    /* images that are mapped or have samples */
	size_t old;       /* earlier versions of processes and threads */
	size_t processes; /* pids and tids */
};
struct resolver_kept resolver_kept(const struct resolver *r);
/* Returns how often a string of the dict was replaced, because the first name of a thread was
 * recorded after some of its samples (resolver_name_back()). */
uint64_t resolver_changed(const struct resolver *r);
struct unwind_table;
/* Returns the value that resolver_unwind.table returns while a table is still being made. Then
 * resolver_sample() returns -EAGAIN, and the sample can be tried again later. */
const struct unwind_table *resolver_table_later(void);
/* How user stacks are unwound: those of samples that contain registers and a part of the stack,
 * but no user chain. */
struct resolver_unwind {
	/* Returns the unwind table of an image of the dict; NULL: it has none. */
	const struct unwind_table *(*table)(void *ctx, uint32_t image);
	/* Reads code of an image of the dict at a file offset. Returns the number of bytes. May be
	 * NULL: then code without rules is unwound by frame pointers only. */
	size_t (*code)(void *ctx, uint32_t image, uint64_t offset, uint8_t *ret_bytes,
		       size_t len);
	/* Reads memory of a process that can still be running (resolve/unwind/stack_rest.h),
	 * for stacks that are longer than their copies. NULL: not available. */
	size_t (*copy)(void *ctx, int32_t pid, uint64_t address, void *bytes,
		       size_t len);
	void *ctx;
	/* Returns the unwind table of the JIT code that was at a location in anonymous memory at
	 * that time, if a JIT compiler described the code, and converts *offset to the offset in
	 * that table. Otherwise returns NULL, or resolver_table_later(), like `table`. May be
	 * NULL. */
	const struct unwind_table *(*jit_table)(void *ctx, uint32_t image,
						uint64_t *offset, uint64_t time_ns);
	void *jit_ctx;
	const char *machine; /* as in session_info; outlives the resolver */
};
/* Enables unwinding; copies `unwind`. Returns 0 or -ENOMEM. */
int resolver_use_unwind(struct resolver *r, const struct resolver_unwind *unwind);
/* Returns the user stack of the last sample passed to resolver_sample(): at most `max`
 * addresses, innermost first, valid until the next sample. *ret_nr is 0 if the sample is not
 * unwound. */
const uint64_t *resolver_unwound(struct resolver *r, const struct decoder *d,
				 const struct record *rec, size_t max, size_t *ret_nr);
/* Returns the user stack that the last resolver_sample() unwound; *ret_nr is 0 if it did not unwind
 * one. */
const uint64_t *resolver_last_unwound(const struct resolver *r, size_t *ret_nr);
/* Returns how often stacks ended for each reason, by enum unwind_end (resolve/unwind/unwind.h). */
const uint64_t *resolver_unwind_ends(const struct resolver *r);
/* How many stacks were longer than their copies, so that the resolver tried to read the rest
 * from the memory of the process; and how many of these became complete. */
struct resolver_rests {
	uint64_t tried;
	uint64_t found;
};
struct resolver_rests resolver_unwind_rests(const struct resolver *r);
/* Returns whether the resolver uses records of this type (PERF_RECORD_...). */
bool resolver_takes(uint32_t type);
/* Applies an MMAP, MMAP2, COMM, FORK, EXIT, KSYMBOL or CGROUP record; ignores others. Returns 0
 * or -ENOMEM. */
int resolver_side_band(struct resolver *r, const struct record *rec);
/* Resolves a SAMPLE record. `d` is its decoder, which reads the chain. For many samples,
 * sample_group.h is faster. Returns 0, -ENOMEM, or -EAGAIN (resolver_table_later()). */
int resolver_sample(struct resolver *r, const struct decoder *d,
		    const struct record *rec, struct sample *ret_sample);
/* The location of an address of the last sample that was passed to resolver_sample(): a word of
 * its chain, a branch, or data. Equal entry and offset mean the same location. */
enum {
	RESOLVER_NOWHERE = 0xfffffffe /* user-space address in no mapping */
};
struct mapping;
struct resolver_position {
	/* Index of the image in the resolver, or RESOLVER_NOWHERE. */
	uint32_t entry;
	uint64_t offset;
	const struct mapping *mapping; /* for resolver_image() only */
};
/* Finds the location of an address. `mode` is its cpu mode, PERF_RECORD_MISC_USER etc. Returns
 * 0 or -ENOMEM. */
int resolver_locate(struct resolver *r, uint16_t mode, uint64_t address,
		    struct resolver_position *ret_position);
/* Sets *ret_image to the number of the image in the dict, or DICT_NONE without a mapping.
 * Returns 0 or -ENOMEM. */
int resolver_image(struct resolver *r, const struct resolver_position *position,
		   uint32_t *ret_image);
/* Frees the history before `time_ns`. No record older than this may follow. */
void resolver_frontier(struct resolver *r, uint64_t time_ns);
