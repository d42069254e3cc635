/* symtab_priv.h - how the readers of symbols (ELF, kallsyms) make a table: they collect
 * candidates in any order, and symtab_build() sorts them out.
 * Layer: resolve, for symtab*.c and kallsyms.c alone. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "resolve/symbols/symtab.h"

enum symtab_binding {
	SYMTAB_WEAK,
	SYMTAB_LOCAL,
	SYMTAB_GLOBAL
};

struct symtab_candidate {
	uint64_t offset;
	uint64_t size; /* 0: unknown */
	uint64_t vaddr;
	uint64_t limit;   /* where the section ends: an unknown size goes no further */
	const char *name; /* in symtab.names */
	enum symtab_binding binding;
	bool label;    /* untyped: counts only where no function covers it */
	bool by_order; /* of several at one address the last one counts */
};

typedef VEC(struct symtab_candidate) symtab_candidates;

struct symtab_segment {
	uint64_t offset;
	uint64_t bytes;
	uint64_t vaddr;
};

/* From `start` to the next range's start, `symbol` is the innermost one. */
struct symtab_range {
	uint64_t start;
	uint32_t symbol; /* SYMTAB_NO_SYMBOL: none */
};

enum {
	SYMTAB_NO_SYMBOL = 0xffffffff
};

struct symtab {
	char *names;                /* what symbol.name points into */
	char *more_names;           /* or this, of .gnu_debugdata; may be NULL */
	uint64_t run_base;          /* added to an offset that no segment covers */
	VEC(struct symbol) symbols; /* by offset, one at each */
	bool gapless;               /* the symbols themselves do instead of ranges */
	VEC(struct symtab_range) ranges;
	/* Where to begin in `ranges`: by (offset - first start) >> bucket_shift, the last
	 * range that starts at or before the bucket's first offset. */
	VEC(uint32_t) buckets;
	unsigned int bucket_shift;
	VEC(struct symtab_segment) segments;
};

/* Fills symbols and ranges of `tab`, which has none yet.  Reorders the candidates; they stay
 * the caller's.  0 or -ENOMEM. */
int symtab_build(struct symtab *tab, symtab_candidates *candidates);

/* The same for symbols without sizes that come in the order of their offsets: they are not
 * collected first.  Begin with { .tab = ... }. */
struct symtab_sorted {
	struct symtab *tab;
	struct symtab_candidate last; /* the best at the last offset */
};
enum {
	SYMTAB_UNSORTED = 1 /* this one lies before the last one */
};
/* 0, SYMTAB_UNSORTED or -ENOMEM. */
int symtab_sorted_add(struct symtab_sorted *sorted, const struct symtab_candidate *c);
void symtab_sorted_end(struct symtab_sorted *sorted);
