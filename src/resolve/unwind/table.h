/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table.h - the unwind rules for every address of a binary: call frame information, compiled
 * to rows that are searched by bisection.
 * Layer: resolve. Built once, then read-only: threads may search it concurrently.
 *
 * A row is valid from its offset to the next row's. It refers to a set of rules; most functions
 * of a binary share a few hundred sets. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "resolve/unwind/arch.h"

struct cfi_walk;
struct elf_file;
struct exidx;
struct sframe;

/* How to compute the caller's value of a register. */
enum unwind_how {
	UNWIND_AT_CFA,   /* in memory, at CFA + value */
	UNWIND_CFA_PLUS, /* the value is CFA + value */
	UNWIND_REGISTER, /* in another register: slot `value` */
	/* Unknown; for the return address: this is the first frame. */
	UNWIND_UNDEFINED,
	/* In memory, at the result of the expression at code[value]. */
	UNWIND_EXPRESSION,
	UNWIND_VALUE /* the result of the expression */
};

struct unwind_rule {
	uint8_t slot;
	uint8_t how; /* enum unwind_how */
	uint16_t zero;
	int32_t value;
};

/* How to compute the canonical frame address (CFA): by convention, the stack pointer before the
 * call. */
enum unwind_base {
	UNWIND_NONE,     /* no rules: nothing is known */
	UNWIND_BASE_REG, /* register + offset */
	UNWIND_BASE_CODE /* the expression at code[offset] */
};

struct unwind_set {
	uint8_t base; /* enum unwind_base */
	uint8_t reg;
	/* The caller was interrupted: its address is not a return address. */
	bool is_signal;
	uint8_t nr_rules;
	int32_t offset;
	uint32_t first_rule;
	uint8_t return_slot;
};

struct unwind_row {
	uint32_t offset; /* in the file, relative to the table's `base` */
	uint32_t set;
};

struct unwind_table {
	const struct unwind_arch *arch;
	bool swap;     /* the binary, and its expressions, have the other byte order */
	uint64_t base; /* file offset of the first row */
	VEC(struct unwind_row) rows;
	VEC(struct unwind_set) sets; /* the first one is UNWIND_NONE */
	VEC(struct unwind_rule) rules;
	VEC(uint8_t)
	code; /* expressions, each after its length (u16, little-endian) */
	VEC(uint32_t) buckets;
	unsigned int bucket_shift;
};

/* Builds the table from .eh_frame, .debug_frame (which can be in a separate debug file `debug`;
 * NULL: none), .ARM.exidx and .sframe. Adds rules for .init and .fini (unwind/asm.h) and,
 * without .debug_frame, for the functions of a Go program (unwind/go_frames.h). Call
 * elf_file_sections() on both files first. Returns 0 (also if the table has no rows),
 * -EOPNOTSUPP (unknown machine), -ENOMEM or -EIO. */
int unwind_table_load(struct elf_file *f, struct elf_file *debug,
		      struct unwind_table **ret_table);
/* Like unwind_table_load(), for the binary that is open at `fd`, without a debug file. Also returns
 * -EBADMSG if it is not an ELF file. */
int unwind_table_load_fd(int fd, struct unwind_table **ret_table);
/* Builds the table from the entries of several walks; if more than one has a function, the
 * first one wins. `to_offset` converts addresses to file offsets (UINT64_MAX: not in the file). */
int unwind_table_compile(const struct unwind_arch *arch, struct cfi_walk *walks,
			 size_t nr_walks,
			 uint64_t (*to_offset)(const void *ctx, uint64_t vaddr),
			 const void *ctx, struct unwind_table **ret_table);
/* Like unwind_table_compile(), but uses the other sources for functions without walk entries; NULL:
 * the file does not have this source. */
struct unwind_sources {
	struct cfi_walk *walks;
	size_t nr_walks;
	const struct exidx *exidx;
	const struct sframe *sframe;
	uint64_t entry; /* address of the entry point; 0: unknown */
	/* Reads bytes of the file, to recognize code (unwind/asm.h); or NULL. */
	bool (*read)(const void *ctx, uint64_t offset, uint8_t *ret_bytes, size_t len);
};
int unwind_table_compile_all(const struct unwind_arch *arch,
			     const struct unwind_sources *from,
			     uint64_t (*to_offset)(const void *ctx, uint64_t vaddr),
			     const void *ctx, struct unwind_table **ret_table);
void unwind_table_free(struct unwind_table *t); /* accepts NULL */
/* Returns the rules at a file offset; never NULL. */
const struct unwind_set *unwind_table_find(const struct unwind_table *t,
					   uint64_t offset);
/* Prefetch memory for unwind_table_find(): unwind_table_ask_bucket() the memory that it reads
 * first. When that has arrived, unwind_table_ask_row() reads it and prefetches the memory that
 * follows. */
void unwind_table_ask_bucket(const struct unwind_table *t, uint64_t offset);
void unwind_table_ask_row(const struct unwind_table *t, uint64_t offset);
/* Returns the expression at code[at]. */
const uint8_t *unwind_table_code(const struct unwind_table *t, int32_t at,
				 size_t *ret_len);
/* Returns the size of the table in memory, in bytes. */
size_t unwind_table_bytes(const struct unwind_table *t);
