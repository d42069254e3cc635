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
#include "format/dict.h"
#include "format/session.h"

struct err;
struct resolver;

/* What the resolver asks of its surroundings. */
struct resolver_ops {
	/* First hit of a file image (kind FILE or VDSO): may complete build-id, dev, inode,
	 * mtime and size.  `pid` and the mapping tell where it was seen.  May be NULL.
	 * For KERNEL and MODULE it may complete the build-id. */
	void (*first_hit)(void *ctx, const char *path, int32_t pid, uint64_t map_start,
			  uint64_t map_end, struct image *image);
	/* A sample of a pid that no record has named: may feed the records of a /proc
	 * snapshot of it to resolver_side_band().  Asked once per pid.  May be NULL. */
	void (*unknown_process)(void *ctx, int32_t pid);
	void *ctx;
};

/* 0 or -ENOMEM.  `dict` outlives the resolver. */
int resolver_new(struct dict *dict, const struct resolver_ops *ops,
		 struct resolver **ret_resolver);
void resolver_free(struct resolver *r); /* NULL is fine */
/* From now on stacks are leaves without their callers: what a flat report needs. */
void resolver_leaves_only(struct resolver *r, bool on);
/* Whether records of this type (PERF_RECORD_...) change anything for the resolver. */
bool resolver_takes(uint32_t type);
/* Applies an MMAP, MMAP2, COMM, FORK, EXIT, KSYMBOL, CGROUP or NAMESPACES record; others
 * are ignored.  0 or -ENOMEM. */
int resolver_side_band(struct resolver *r, const struct record *rec);
/* Resolves a SAMPLE record; `rec`'s decoder is needed to read the chain.  0 or -ENOMEM. */
int resolver_sample(struct resolver *r, const struct decoder *d,
		    const struct record *rec, struct sample *ret_sample);
/* Nothing older than `time_ns` will come any more: frees history. */
void resolver_frontier(struct resolver *r, uint64_t time_ns);
