/* block.h - all that one unit's debug information says of its code, in the compact form
 * of the index files: made once, then searched where it lies, in memory or in a file.
 * Layer: resolve.  The form is described in docs/line-index.md.  A block may come from
 * anywhere: every number in it is checked before it is used. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LINE_GROUP = 16, /* entries that one head serves */
	LINE_BLOCK_HEAD = 11 * 4,
	LINE_FUNCTION_BYTES = 12,
	/* The first byte of a row: the address's step in the low bits, or LINE_ROW_FAR and a
	 * varint; then which of the others changed. */
	LINE_ROW_FAR = 15,
	LINE_ROW_FILE = 0x10,
	LINE_ROW_LINE = 0x20,
	LINE_ROW_COLUMN = 0x40,
	LINE_ROW_DISCRIMINATOR = 0x80,
	LINE_ROW_END_COLUMN = 0xfffff /* of the row that ends a sequence */
};
/* A block whose head was checked.  Borrows its bytes. */
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

/* 0 or -EBADMSG. */
int line_block_open(struct line_block *b, const void *bytes, size_t len);

struct line_row {
	uint64_t addr;
	const char *file; /* NULL: none */
	uint32_t file_number;
	uint32_t line; /* 0: none */
	uint32_t column;
	uint32_t discriminator;
	bool end; /* nothing is known from here on */
};

/* The row that covers `addr`; false if none does. */
bool line_block_row(const struct line_block *b, uint64_t addr,
		    struct line_row *ret_row);

/* Looks up one address after the other, and steps on from the one before where that is not
 * far: the same answers as line_block_row() and line_block_scope_at(), sooner. */
struct line_run {
	uint64_t low;        /* the last answer holds in [low, high) */
	uint64_t high;       /* 0: there is none */
	uint64_t group_high; /* where the next group begins */
	size_t pos;
	uint32_t group;
	uint32_t left; /* entries of the group that were not looked at */
};
struct line_seek {
	const struct line_block *block;
	struct line_run rows;
	struct line_row row;
	struct line_row next; /* at rows.high, if that is in the same group */
	struct line_run spans;
	int64_t scope;
};
/* `b` is borrowed. */
void line_seek_begin(struct line_seek *s, const struct line_block *b);
/* As line_block_row(); s->rows says where else the answer holds. */
bool line_seek_row(struct line_seek *s, uint64_t addr, struct line_row *ret_row);
/* As line_block_scope_at(); so does s->spans. */
uint32_t line_seek_scope(struct line_seek *s, uint64_t addr);

/* Goes through the rows by address. */
struct line_row_walk {
	const struct line_block *block;
	uint32_t group;
	size_t pos;
	uint32_t left; /* in this group */
	struct line_row row;
};
/* Begins with the row that covers `addr`, or the first one behind it. */
void line_row_walk_begin(struct line_row_walk *w, const struct line_block *b,
			 uint64_t addr);
/* False at the end. */
bool line_row_walk_next(struct line_row_walk *w, struct line_row *ret_row);

/* A scope: a function, or an inlined one in it. */
struct line_scope {
	const char *name; /* NULL: none */
	bool linkage;     /* the name is what the linker sees */
	bool inlined;
	const char *decl_file; /* NULL: unknown */
	uint32_t decl_line;
	const char
		*call_file; /* of an inlined one: where it was called; NULL: unknown */
	uint32_t call_line;
	uint32_t call_column;
	uint32_t call_discriminator;
	uint64_t start;  /* of one that is not inlined: its first address */
	uint32_t id;     /* in this block */
	uint32_t parent; /* id of the scope around it, LINE_NO_SCOPE: none */
};

enum {
	LINE_NO_SCOPE = 0xffffffff
};

/* The id of the innermost scope at `addr`, or LINE_NO_SCOPE. */
uint32_t line_block_scope_at(const struct line_block *b, uint64_t addr);
/* False if the block is damaged. */
bool line_block_scope(const struct line_block *b, uint32_t id, struct line_scope *ret);
/* The path of a file number, NULL: none. */
const char *line_block_file(const struct line_block *b, uint32_t number);
