/* SPDX-License-Identifier: GPL-2.0-or-later */
/* find.c - looks up addresses in the blocks of a binary. */
#include <string.h>

#include "resolve/lines/priv.h"

static void fill_function(struct line_frame *f, const struct line_scope *s)
{
	f->name = s->name;
	f->linkage = s->linkage;
	f->inlined = s->inlined;
	f->start = s->start;
	f->decl_file = s->decl_file;
	f->decl_line = s->decl_line;
}

/* Stores the frames of a scope and of those around it; the source location of the first one is
 * left empty. */
static size_t read_chain(const struct line_block *b, uint32_t id,
			 struct line_frame *frames, size_t max)
{
	struct line_frame position = { 0 };
	size_t nr = 0;

	while (id != LINE_NO_SCOPE && nr < max) {
		struct line_scope s;

		if (!line_block_scope(b, id, &s))
			break;
		frames[nr] = position;
		fill_function(&frames[nr++], &s);
		position = (struct line_frame){ .file = s.call_file,
						.line = s.call_line,
						.column = s.call_column,
						.call_discriminator =
							s.call_discriminator };
		id = s.parent;
	}
	return nr;
}

/* Like read_chain(), but returns the chain of the last scope from a cache, because neighbouring
 * addresses are often in the same scope. */
static size_t find_chain(struct lines *l, const struct line_block *b, uint32_t id,
			 struct line_frame *frames, size_t max)
{
	size_t nr;

	if (l->chain_nr && l->chain_id == id && l->chain_nr <= max) {
		memcpy(frames, l->chain, l->chain_nr * sizeof(*frames));
		return l->chain_nr;
	}
	nr = read_chain(b, id, frames, max);
	l->chain_nr = 0;
	if (nr && nr < max && nr <= LINE_CHAIN_MAX) {
		memcpy(l->chain, frames, nr * sizeof(*frames));
		l->chain_id = id;
		l->chain_nr = (uint32_t)nr;
		l->chain_number++;
	}
	return nr;
}

size_t lines_find(struct lines *l, uint64_t addr, struct line_frame *frames, size_t max)
{
	const struct line_block *b = lines_block_at(l, addr);
	struct line_row row;
	uint32_t id;
	size_t nr = 0;
	bool has_row;

	l->reach_known = b && max;
	if (!l->reach_known)
		return 0;
	has_row = line_seek_row(&l->seek, addr, &row);
	id = line_seek_scope(&l->seek, addr);
	if (id != LINE_NO_SCOPE)
		nr = find_chain(l, b, id, frames, max);
	if (!nr && has_row)
		frames[nr++] = (struct line_frame){ 0 };
	if (nr && has_row) {
		frames[0].file = row.file;
		frames[0].line = row.line;
		frames[0].column = row.column;
		frames[0].discriminator = row.discriminator;
	}
	return nr;
}

static void lines_find_narrow(struct lines_reach *reach, uint64_t low, uint64_t high)
{
	reach->low = low > reach->low ? low : reach->low;
	reach->high = high < reach->high ? high : reach->high;
}

void lines_reach(const struct lines *l, struct lines_reach *ret_reach)
{
	struct lines_reach reach = { l->cover_low, l->cover_high, 0 };

	if (!l->reach_known) {
		*ret_reach = (struct lines_reach){ 0 };
		return;
	}
	lines_find_narrow(&reach, l->seek.rows.low, l->seek.rows.high);
	lines_find_narrow(&reach, l->seek.spans.low, l->seek.spans.high);
	if (l->chain_nr && l->seek.scope == (int64_t)l->chain_id + 1)
		reach.chain = l->chain_number;
	*ret_reach = reach;
}

/* Passes the rows of a block in [low, high) to `fn`. */
static int block_rows(const struct line_block *b, uint64_t low, uint64_t high,
		      lines_row_fn fn, void *ctx)
{
	struct line_row_walk walk;
	struct line_position position = { 0 };
	struct line_row row;
	bool open = false;
	int r = 0;

	line_row_walk_begin(&walk, b, low);
	while (!r && line_row_walk_next(&walk, &row)) {
		position.high = row.addr < high ? row.addr : high;
		if (open && position.high > position.low)
			r = fn(ctx, &position);
		open = !row.end;
		if (row.addr >= high)
			break;
		position = (struct line_position){ row.addr > low ? row.addr : low,
						   0,
						   row.file,
						   row.line,
						   row.column,
						   row.discriminator };
	}
	return r;
}

int lines_rows(struct lines *l, uint64_t low, uint64_t high, lines_row_fn fn, void *ctx)
{
	int r = 0;

	while (!r && low < high) {
		const struct line_block *b = lines_block_at(l, low);
		uint64_t end;

		/* Continue up to the start of another unit. */
		(void)lines_unit_at(l, low);
		end = l->cover_high < high ? l->cover_high : high;
		if (b)
			r = block_rows(b, low, end, fn, ctx);
		low = end;
	}
	return r;
}

int lines_sources(struct lines *l, lines_source_fn fn, void *ctx)
{
	int r = 0;

	lines_prepare_all(l);
	for (size_t i = 0; !r && i < l->dir.units.nr; i++) {
		const struct line_unit *u = &l->dir.units.at[i];
		struct line_block b;

		if (u->state != LINE_UNIT_READY ||
		    line_block_open(&b, u->block, u->len))
			continue;
		for (uint32_t k = 1; !r && k <= b.nr_files; k++) {
			const char *path = line_block_file(&b, k);

			if (path)
				r = fn(ctx, path);
		}
	}
	return r;
}
