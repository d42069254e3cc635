/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symtab_priv.h - how the readers of symbols (ELF, kallsyms) make a table: they collect
 * candidates in any order, and symtab_build() sorts and selects them.
 * Layer: resolve, only for symtab*.c and kallsyms.c. */
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
	uint64_t limit;   /* end of the section; an unknown size stops here */
	const char *name; /* points into symtab.names */
	enum symtab_binding binding;
	bool label;       /* untyped: ignored where a function covers it */
	bool by_order;    /* the last one at an address wins */
	bool as_oprofile; /* SYMTAB_AS_OPROFILE */
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

/* A name that is not shown, because another one at its address is better. */
struct symtab_alias {
	uint64_t offset;
	const char *name;
};

enum {
	SYMTAB_NO_SYMBOL = 0xffffffff
};

struct symtab {
	char *names;                /* contains the names of the symbols */
	char *more_names;           /* the same for .gnu_debugdata; may be NULL */
	uint64_t run_base;          /* added to an offset that no segment covers */
	VEC(struct symbol) symbols; /* by offset, one for each */
	VEC(struct symtab_alias) aliases; /* by offset */
	bool gapless; /* symbols have no gaps, and ranges are not used */
	VEC(struct symtab_range) ranges;
	/* Start of a search in `ranges`. The index is (offset - first start) >> bucket_shift;
	 * the value is the last range that starts at or before the bucket's first offset. */
	VEC(uint32_t) buckets;
	unsigned int bucket_shift;
	VEC(struct symtab_segment) segments;
};

struct elf_file;
/* Appends the functions of a PE file: its COFF symbols or, if there are none, its exports.
 * *ret_names contains the names; the caller frees it in all cases. Returns 0 (also if there are
 * none) or -ENOMEM. */
int symtab_read_pe(const struct elf_file *f, symtab_candidates *candidates,
		   char **ret_names);

/* Fills symbols and ranges of `tab`, which must be empty. Reorders the candidates; the caller
 * keeps them. Returns 0 or -ENOMEM. */
int symtab_build(struct symtab *tab, symtab_candidates *candidates);

/* Fills an empty `tab` like symtab_build(), with symbols that have no sizes and are added one by
 * one in the order of their offsets. Initialize with { .tab = ... }. */
struct symtab_sorted {
	struct symtab *tab;
	struct symtab_candidate last; /* the best symbol at the last offset */
};
enum {
	SYMTAB_UNSORTED = 1 /* this symbol is before the previous one */
};
/* Adds a symbol. Returns 0, SYMTAB_UNSORTED or -ENOMEM. */
int symtab_sorted_add(struct symtab_sorted *sorted, const struct symtab_candidate *c);
void symtab_sorted_end(struct symtab_sorted *sorted);
