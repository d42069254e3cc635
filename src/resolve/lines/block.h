/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block.h - the debug information about one unit's code, in the compact format of the index
 * files. A block is made once, then searched in place, in memory or in a file.
 * Layer: resolve. The format is described in docs/line-index.md. Blocks are untrusted: every
 * number is checked before use. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LINE_GROUP = 16, /* entries per group */
	LINE_BLOCK_HEAD = 11 * 4,
	LINE_FUNCTION_BYTES = 12,
	/* The first byte of a row: the low bits are the address increment, or LINE_ROW_FAR if
	 * it follows as a varint; the other bits show which other fields changed. */
	LINE_ROW_FAR = 15,
	LINE_ROW_FILE = 0x10,
	LINE_ROW_LINE = 0x20,
	LINE_ROW_COLUMN = 0x40,
	LINE_ROW_DISCRIMINATOR = 0x80,
	LINE_ROW_END_COLUMN = 0xfffff /* in the row that ends a sequence */
};
/* A block whose header was checked. Borrows its bytes. */
struct line_block {
	const uint8_t *bytes;
	size_t len;
	uint32_t nr_rows;
	uint32_t nr_spans;
	uint32_t nr_span_groups;
	uint32_t nr_row_groups;
	uint32_t nr_files;
	uint32_t nr_functions;
	const uint8_t *span_addrs;
	const uint8_t *row_addrs;
	const uint8_t *span_at;
	const uint8_t *row_at;
	const uint8_t *files;
	const uint8_t *functions;
	const uint8_t *scopes;
	size_t scopes_len;
	const uint8_t *spans;
	size_t spans_len;
	const uint8_t *rows;
	size_t rows_len;
	const char *strings;
	size_t strings_len;
};

/* Begins to use a block, whose bytes must outlive *b: checks its header and finds its parts.
 * Returns 0 or -EBADMSG. */
int line_block_open(struct line_block *b, const void *bytes, size_t len);

struct line_row {
	uint64_t addr;
	const char *file; /* NULL: none */
	uint32_t file_number;
	uint32_t line; /* 0: none */
	uint32_t column;
	uint32_t discriminator;
	bool end; /* addresses from here on are unknown */
};

/* Finds the row that covers `addr`; returns false if not found. */
bool line_block_row(const struct line_block *b, uint64_t addr,
		    struct line_row *ret_row);

/* Searches a series of addresses, continuing from the previous result if that is near. Yields
 * the same results as line_block_row() and line_block_scope_at(), but faster. */
struct line_run {
	uint64_t low;        /* the last result is valid in [low, high) */
	uint64_t high;       /* 0: none */
	uint64_t group_high; /* start of the next group */
	size_t pos;
	uint32_t group;
	uint32_t left; /* number of unread entries of the group */
};
struct line_seek {
	const struct line_block *block;
	struct line_run rows;
	struct line_row row;
	struct line_row next; /* the row at rows.high, if it is in the same group */
	struct line_run spans;
	int64_t scope;
};
/* Borrows `b`. */
void line_seek_begin(struct line_seek *s, const struct line_block *b);
/* Like line_block_row(). s->rows contains the addresses for which the result is also valid. */
bool line_seek_row(struct line_seek *s, uint64_t addr, struct line_row *ret_row);
/* Like line_block_scope_at(). s->spans contains the addresses for which the result is also
 * valid. */
uint32_t line_seek_scope(struct line_seek *s, uint64_t addr);

/* Iterates over the rows in the order of addresses. */
struct line_row_walk {
	const struct line_block *block;
	uint32_t group;
	size_t pos;
	uint32_t left; /* remaining rows in this group */
	struct line_row row;
};
/* Begins with the row that covers `addr`, or with the first one after it. */
void line_row_walk_begin(struct line_row_walk *w, const struct line_block *b,
			 uint64_t addr);
/* Moves to the next row. Returns false at the end. */
bool line_row_walk_next(struct line_row_walk *w, struct line_row *ret_row);

/* A scope: a function, or an inlined function in it. */
struct line_scope {
	const char *name; /* NULL: none */
	bool linkage;     /* the name is the linker's symbol */
	bool inlined;
	const char *decl_file; /* NULL: unknown */
	uint32_t decl_line;
	const char *call_file; /* inlined function: file of the call; NULL: unknown */
	uint32_t call_line;
	uint32_t call_column;
	uint32_t call_discriminator;
	uint64_t start;  /* function that is not inlined: its first address */
	uint32_t id;     /* in this block */
	uint32_t parent; /* id of the enclosing scope; LINE_NO_SCOPE: none */
};

enum {
	LINE_NO_SCOPE = 0xffffffff
};

/* Returns the id of the innermost scope at `addr`, or LINE_NO_SCOPE. */
uint32_t line_block_scope_at(const struct line_block *b, uint64_t addr);
/* Gets a scope; returns false if the block is damaged. */
bool line_block_scope(const struct line_block *b, uint32_t id, struct line_scope *ret);
/* Returns the path of a file number; NULL: none. */
const char *line_block_file(const struct line_block *b, uint32_t number);
