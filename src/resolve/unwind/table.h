/* table.h - how to get from a frame to its caller, for every place of one binary:
 * call frame information, compiled to rows that are found by bisection.
 * Layer: resolve.  Built once, then read-only: many threads may look things up.
 *
 * A row holds from its offset to the next row's.  It refers to a set of rules; most functions
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

/* How the caller's value of a register is found. */
enum unwind_how {
	UNWIND_AT_CFA,     /* in memory, at the frame's address + value */
	UNWIND_CFA_PLUS,   /* it is the frame's address + value */
	UNWIND_REGISTER,   /* in another register: slot `value` */
	UNWIND_UNDEFINED,  /* nowhere; of the return address: this is the first frame */
	UNWIND_EXPRESSION, /* in memory, where the expression at code[value] says */
	UNWIND_VALUE       /* what the expression says */
};

struct unwind_rule {
	uint8_t slot;
	uint8_t how; /* enum unwind_how */
	uint16_t zero;
	int32_t value;
};

/* Where the frame is: its canonical frame address (CFA), by convention what the stack
 * pointer was before the call. */
enum unwind_base {
	UNWIND_NONE,     /* no rules: nothing is known here */
	UNWIND_BASE_REG, /* register + offset */
	UNWIND_BASE_CODE /* the expression at code[offset] */
};

struct unwind_set {
	uint8_t base; /* enum unwind_base */
	uint8_t reg;
	bool is_signal; /* the caller was interrupted: its address is no return address */
	uint8_t nr_rules;
	int32_t offset;
	uint32_t first_rule;
	uint8_t return_slot;
};

struct unwind_row {
	uint32_t offset; /* in the file, from the table's `base` on */
	uint32_t set;
};

struct unwind_table {
	const struct unwind_arch *arch;
	bool swap;     /* of expressions: the binary is of the other byte order */
	uint64_t base; /* file offset of the first row */
	VEC(struct unwind_row) rows;
	VEC(struct unwind_set) sets; /* the first one is UNWIND_NONE */
	VEC(struct unwind_rule) rules;
	VEC(uint8_t)
	code; /* expressions, each behind its length (u16, little-endian) */
	VEC(uint32_t) buckets;
	unsigned int bucket_shift;
};

/* Of .eh_frame and .debug_frame; the latter may be in a separate debug file `debug` (NULL: there
 * is none); and of .ARM.exidx and .sframe.  elf_file_sections() came before for both.  A table without rows is no error.
 * 0, -EOPNOTSUPP (an unknown machine), -ENOMEM, -EIO. */
int unwind_table_load(struct elf_file *f, struct elf_file *debug,
		      struct unwind_table **ret_table);
/* The same of the binary that is open at `fd` alone; also -EBADMSG: it is no ELF file. */
int unwind_table_load_fd(int fd, struct unwind_table **ret_table);
/* Of the entries of some walks, of the first one that has a function, whose addresses become
 * offsets by `to_offset` (UINT64_MAX: the address is nowhere in the file). */
int unwind_table_compile(const struct unwind_arch *arch, struct cfi_walk *walks,
			 size_t nr_walks,
			 uint64_t (*to_offset)(const void *ctx, uint64_t vaddr),
			 const void *ctx, struct unwind_table **ret_table);
/* The same, and where these have no function, what the others say; NULL: there is none. */
struct unwind_sources {
	struct cfi_walk *walks;
	size_t nr_walks;
	const struct exidx *exidx;
	const struct sframe *sframe;
	uint64_t entry; /* address where the program begins; 0: it is not known */
	/* Bytes of the file, for code that is known by them (unwind/asm.h); or NULL. */
	bool (*read)(const void *ctx, uint64_t offset, uint8_t *ret_bytes, size_t len);
};
int unwind_table_compile_all(const struct unwind_arch *arch,
			     const struct unwind_sources *from,
			     uint64_t (*to_offset)(const void *ctx, uint64_t vaddr),
			     const void *ctx, struct unwind_table **ret_table);
void unwind_table_free(struct unwind_table *t); /* NULL is fine */
/* The rules at a file offset; never NULL. */
const struct unwind_set *unwind_table_find(const struct unwind_table *t,
					   uint64_t offset);
/* Has the memory fetched that unwind_table_find() will look at first; and, when that has come, what
 * it will look at then. */
void unwind_table_ask_bucket(const struct unwind_table *t, uint64_t offset);
void unwind_table_ask_row(const struct unwind_table *t, uint64_t offset);
/* The expression at code[at]. */
const uint8_t *unwind_table_code(const struct unwind_table *t, int32_t at,
				 size_t *ret_len);
/* Bytes of memory it takes. */
size_t unwind_table_bytes(const struct unwind_table *t);
