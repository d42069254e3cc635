/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table.h - reads .gopclntab, the table of functions, files and lines that every Go program
 * needs at run time, so that stripping does not remove it.
 * Layer: resolve. Read-only after it is opened: several threads may use it.
 *
 * Reads the layouts of Go 1.2, 1.16, 1.18 and 1.20 (used by all later versions so far), in
 * either byte order and with 4 or 8 bytes per pointer. Everything in the table is untrusted.
 * Source of the format: "Go 1.2 Runtime Symbol Information" (Russ Cox, 2013), and the comments
 * in Go's runtime/symtab.go on pcHeader, moduledata, _func and inlinedCall. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct go_table;

enum {
	/* Maximum size of the section; Kubernetes' programs need an eighth of it. */
	GO_TABLE_MAX_BYTES = 1 << 28,
	GO_NO_INDEX = 0xffffffff
};

/* Opens the table of a file, whose section headers were read and which must outlive the table.
 * `calls`: go_table_inlined() will be called.
 * Returns 0, -ENODATA (no table), -EBADMSG (unknown or damaged), -ENOMEM, or an I/O error. */
int go_table_open(struct elf_file *f, bool calls, struct go_table **ret_table);
/* Like go_table_open(), for the bytes of a table without its file; the code is at [low, high).
 * Without the file, go_table_inlined() finds nothing. Copies the bytes. */
int go_table_open_bytes(const void *bytes, size_t len, bool swap, uint64_t low,
			uint64_t high, struct go_table **ret_table);
void go_table_free(struct go_table *t); /* accepts NULL */

/* A function. Code between two functions counts as part of the first one. */
struct go_function {
	uint64_t low; /* link-time addresses */
	uint64_t high;
	const char *name; /* "main.(*T).Add"; owned by the table */
	uint32_t line;    /* of its declaration; 0: unknown (before Go 1.20) */
	bool is_first;    /* the first function of a stack (Go 1.17 and later) */
	uint32_t record;  /* offset of its record, private to table.c */
};

/* Returns the number of functions. They are sorted by address. */
size_t go_table_count(const struct go_table *t);
/* Gets the function with number `i`. Returns false if it does not exist, is damaged or has no
 * code. */
bool go_table_function(const struct go_table *t, size_t i, struct go_function *ret_fn);
/* Returns the first address of a function's code; that of number go_table_count() is the end of
 * the last function. */
uint64_t go_table_address(const struct go_table *t, size_t i);
/* Moves the memory with the names to the caller, who frees *ret_bytes. Names from earlier calls of
 * go_table_function() point to it. The table can then only be freed. */
void go_table_take_names(struct go_table *t, char **ret_bytes);

/* The kinds of values that the table has for each instruction of a function. */
enum go_value {
	GO_FILE, /* number for go_table_path() */
	GO_LINE,
	GO_FRAME, /* bytes of the stack that are in use */
	GO_INLINE /* index of the innermost inlined call for go_table_inlined() */
};
/* Iterates over the runs of a function: address ranges with the same value. Only `low`, `high` and
 * `value` are for the caller. */
struct go_runs {
	const struct go_table *table;
	const uint8_t *bytes; /* NULL: no more runs */
	size_t len;
	size_t pos;
	uint64_t low; /* the current run of addresses; all of it is in the function */
	uint64_t high;
	uint64_t end;
	int32_t value; /* -1: none */
	bool begun;
};
/* Starts before the first run. `t` must outlive `runs`. */
void go_runs_begin(struct go_runs *runs, const struct go_table *t,
		   const struct go_function *fn, enum go_value value);
/* Advances to the next run. Returns false at the end, or if the rest is damaged. */
bool go_runs_next(struct go_runs *runs);

/* Returns the path of a file number; NULL: unknown. The text belongs to the table. */
const char *go_table_path(const struct go_table *t, const struct go_function *fn,
			  int32_t file);

/* A call that was inlined. The run of GO_INLINE at the address `parent` has the index of the
 * call around it, and the file and line of `parent` are those of the call. */
struct go_inlined {
	const char *name;
	uint32_t line; /* of the function's declaration; 0: unknown */
	uint64_t parent;
};
/* Gets the inlined call with this index. Returns false if it does not exist or is damaged. */
bool go_table_inlined(const struct go_table *t, const struct go_function *fn,
		      uint32_t index, struct go_inlined *ret_call);
