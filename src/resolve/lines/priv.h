/* priv.h - what the files of lines share.
 * Layer: resolve, for lines*.c alone. */
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

/* What the texts of frames, symbols and sources lie in. */
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
	char *index_path;        /* NULL: none is read or written */
	struct line_index index; /* what is mapped */
	struct line_directory dir;
	/* The content of an index that was of something else.  Callers may still hold texts of it, and
	 * a thread may still write it: it stays until lines_free(). */
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
	/* The cover that was asked last; high is 0 while there is none. */
	uint64_t cover_low;
	uint64_t cover_high;
	uint32_t cover_unit;
	/* The block that was asked last. */
	uint32_t unit;
	struct line_block block;
	struct line_seek seek;
	bool block_open;
	bool reach_known;
	/* The calls that led to the scope that was asked last, without its own place. */
	uint32_t chain_id;
	uint32_t chain_nr;     /* 0: none */
	uint64_t chain_number; /* of chains that were kept */
	struct line_frame chain[LINE_CHAIN_MAX];
	struct lines_stats stats;
	size_t unsaved_bytes;
	struct line_writer *stream; /* blocks go there at once; NULL: they stay */
	bool grew;                  /* there is something that the index file had not */
	pthread_t writer;
	bool writing;
	struct line_directory written; /* the writer's copy */
	uint64_t later_bytes;          /* while a line_later has this */
};

/* The unit at `addr`; neighbours ask for the same one. */
uint32_t lines_unit_at(struct lines *l, uint64_t addr);
/* The block of that, read if need be; NULL if there is none. */
const struct line_block *lines_block_at(struct lines *l, uint64_t addr);
/* Fills dir.covers and dir.units from the debug information.  0 or -ENOMEM. */
int lines_scan(struct lines *l);
/* The debug information, ready to be read, and a directory. */
int lines_need_source(struct lines *l, struct err *err);
bool lines_need_symbols(struct lines *l);
/* Puts the units that are in no block yet into l->todo, and says how many. */
size_t lines_list_absent(struct lines *l);
/* Reads the units in l->todo.  0 or -ENOMEM. */
int lines_build(struct lines *l);
/* Waits for lines_store(). */
void lines_save_wait(struct lines *l);
/* Leaves what is to be written to options.later, if there is something, and one of those.  True:
 * `l` is not the caller's any more. */
bool lines_leave(struct lines *l);
/* Writes the index file at once. */
void lines_write(struct lines *l);
