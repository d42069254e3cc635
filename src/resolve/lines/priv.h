/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - shared by the files of this directory.
 * Layer: resolve, only for lines*.c. */
#pragma once
#include <pthread.h>

#include "resolve/lines/block.h"
#include "resolve/lines/index.h"
#include "resolve/lines/lines.h"
#include "resolve/lines/source.h"
#include "resolve/lines/symbols.h"

enum {
	LINE_CHAIN_MAX = 16
};

/* The memory that contains the texts of frames, symbols and sources. */
struct line_content {
	struct line_index index;
	struct line_directory dir;
	uint8_t *symbols_bytes;
};

struct lines {
	struct lines_options options;
	char *cache_dir; /* NULL: no index files */
	struct lines_file file;
	bool own_fds;
	char *path;
	char *debug_path;
	struct index_key key;
	char *index_path;        /* NULL: no index file is read or written */
	struct line_index index; /* the mapped file */
	struct line_directory dir;
	/* The content of an index that belongs to another file. Callers can still have texts of
	 * it, and a thread can still write it, so it is kept until lines_free(). */
	struct line_content retired;
	bool has_dir;
	bool is_rel;
	uint8_t addr_bytes;
	bool source_open;
	bool source_failed;
	struct line_source source;
	VEC(uint32_t) todo; /* units to be read */
	uint8_t *symbols_bytes;
	struct line_symbols symbols;
	bool symbols_open;
	bool symbols_tried;
	/* The last cover that was found; cover_high is 0 if none was found yet. */
	uint64_t cover_low;
	uint64_t cover_high;
	uint32_t cover_unit;
	/* The last block. */
	uint32_t unit;
	struct line_block block;
	struct line_seek seek;
	bool block_open;
	bool reach_known;
	/* The calls that lead to the last scope, without its own location. */
	uint32_t chain_id;
	uint32_t chain_nr;     /* 0: none */
	uint64_t chain_number; /* identifies the chain */
	struct line_frame chain[LINE_CHAIN_MAX];
	struct lines_stats stats;
	size_t unsaved_bytes;
	/* Blocks are written here immediately; NULL: they stay in memory. */
	struct line_writer *stream;
	bool grew; /* memory contains blocks that the index file lacks */
	pthread_t writer;
	bool writing;
	struct line_directory written; /* the writer's copy */
	/* Bytes of memory that the list `later` has counted for this object. */
	uint64_t later_bytes;
};

/* Returns the index of the unit at `addr`, or LINE_NO_UNIT; the result is cached for
 * neighbouring addresses. */
uint32_t lines_unit_at(struct lines *l, uint64_t addr);
/* Returns the block of the unit at `addr`, which is read if necessary; NULL if none exists. */
const struct line_block *lines_block_at(struct lines *l, uint64_t addr);
/* Fills dir.covers and dir.units from the debug information. Returns 0 or -ENOMEM. */
int lines_scan(struct lines *l);
/* Like lines_scan(), but reads the table of a Go program, whose units do not overlap. */
int lines_scan_go(struct lines *l);
/* Opens the debug information, and fills `dir` from it if no index was found. Returns 0 or a
 * negative errno. */
int lines_need_source(struct lines *l, struct err *err);
bool lines_need_symbols(struct lines *l);
/* Adds the units without a block to l->todo, and returns their number. */
size_t lines_list_absent(struct lines *l);
/* Reads the units in l->todo. Returns 0 or -ENOMEM. */
int lines_build(struct lines *l);
/* Waits for lines_store() to finish. */
void lines_save_wait(struct lines *l);
/* Passes `l`, with the content to be written, to the list options.later, if there is such a list
 * and writing is worthwhile. Returns true if the list has taken ownership of `l`. */
bool lines_leave(struct lines *l);
/* Writes the index file immediately. */
void lines_write(struct lines *l);
