/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build.c - reads units of the debug information with several threads. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/hash.h"
#include "base/log.h"
#include "resolve/dwarf/flatten.h"
#include "resolve/dwarf/line.h"
#include "resolve/dwarf/ranges.h"
#include "resolve/dwarf/scopes.h"
#include "resolve/lines/block_make.h"
#include "resolve/lines/go_lines.h"
#include "resolve/lines/priv.h"

enum {
	THREADS_MAX = 64,
	THREAD_UNITS = 8, /* minimum number of units per thread */
	SCAN_STEP = 64,
	/* Minimum number of bytes read at which freeing memory is worth the time. */
	GIVE_BACK_BYTES = 4 << 20
};

struct worker;
typedef int (*work_fn)(struct worker *w, size_t i);

/* A unit whose code addresses are unknown, and are read from its lines. */
struct line_user {
	uint64_t line_off;
	uint32_t unit;
};

/* State that is shared by all threads. */
struct lines_build_work {
	struct lines *l;
	work_fn fn;
	const struct line_user *users;
	size_t nr;
	size_t step;
	_Atomic(size_t) next;
	_Atomic(int) failed;
};

struct worker {
	struct lines_build_work *work;
	struct lines *l;
	struct dwarf_reader rd;
	struct dwarf_scopes scopes;
	struct dwarf_program program;
	dwarf_row_vec rows;
	dwarf_code_vec code;
	struct line_block_maker maker;
	struct go_lines go;
	struct buf out;
	VEC(struct dwarf_scope_range) covers; /* of units */
	VEC(struct line_user) line_users;
	size_t nr_split_missing;
};

static void *run_worker(void *arg)
{
	struct worker *w = arg;
	struct lines_build_work *work = w->work;

	while (!work->failed) {
		size_t first = atomic_fetch_add(&work->next, work->step);
		size_t end =
			first + work->step < work->nr ? first + work->step : work->nr;

		if (first >= work->nr)
			break;
		for (size_t i = first; i < end; i++) {
			int r = work->fn(w, i);

			if (r)
				work->failed = r;
		}
	}
	return NULL;
}

static void worker_done(struct worker *w)
{
	dwarf_reader_done(&w->rd);
	dwarf_scopes_done(&w->scopes);
	dwarf_program_done(&w->program);
	vec_done(&w->rows);
	vec_done(&w->code);
	vec_done(&w->covers);
	vec_done(&w->line_users);
	line_block_maker_done(&w->maker);
	go_lines_done(&w->go);
	buf_done(&w->out);
}

static unsigned int count_threads(const struct lines *l, size_t nr, size_t each)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t most =
		l->options.threads ? l->options.threads : (size_t)(cpus > 0 ? cpus : 1);

	if (most > nr / each)
		most = nr / each;
	if (most > THREADS_MAX)
		most = THREADS_MAX;
	return most ? (unsigned int)most : 1;
}

/* Runs the work in up to `nr_threads` threads; the first one is the caller's. */
static int lines_build_run_all(struct lines_build_work *work, struct worker *workers,
			       unsigned int nr_threads)
{
	pthread_t threads[THREADS_MAX];
	unsigned int started = 1;

	for (unsigned int i = 0; i < nr_threads; i++) {
		workers[i].work = work;
		workers[i].l = work->l;
	}
	while (started < nr_threads &&
	       !pthread_create(&threads[started], NULL, run_worker, &workers[started]))
		started++;
	run_worker(&workers[0]);
	for (unsigned int i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
	return work->failed;
}

static int add_covers(struct worker *w, uint32_t rank)
{
	for (size_t i = 0; i < w->code.nr; i++) {
		struct dwarf_scope_range range = { w->code.at[i].low,
						   w->code.at[i].high, rank };

		if (!vec_push(&w->covers, range))
			return -ENOMEM;
	}
	return 0;
}

/* Returns the rank of unit `i` for its own address ranges; where units overlap, the highest rank
 * wins. Units whose ranges come from their lines have lower ranks, because with -flto, units
 * without code refer to the lines of other units. Of the units with own ranges, the first one
 * has the highest rank, as in other tools: each unit that had a copy of an inline function still
 * claims the one copy that the linker kept. */
static uint32_t rank_of_unit(size_t nr_units, size_t i)
{
	return (uint32_t)(2 * nr_units - 1 - i);
}

static uint32_t unit_of_rank(size_t nr_units, uint32_t rank)
{
	return (uint32_t)(rank < nr_units ? rank : 2 * nr_units - 1 - rank);
}

/* Reads a unit's root entry, and its code addresses. */
static int scan_unit(struct worker *w, size_t i)
{
	struct dwarf_unit *u = &w->l->source.info.units.at[i];
	struct line_user user = { .unit = (uint32_t)i };
	int r;

	dwarf_unit_read_root(u, &w->rd);
	if (u->bad_root)
		return 0;
	if (!u->has_code) {
		user.line_off = u->line_off;
		return !u->has_line || vec_push(&w->line_users, user) ? 0 : -ENOMEM;
	}
	w->code.nr = 0;
	r = dwarf_ranges_of_unit(u, &w->rd, &w->code);
	return r ? r : add_covers(w, rank_of_unit(w->l->source.info.units.nr, i));
}

static int cover_by_lines(struct worker *w, size_t i)
{
	uint32_t unit = w->work->users[i].unit;
	uint64_t low = 0;

	if (dwarf_program_open(&w->program, &w->l->source.info.units.at[unit], &w->rd))
		return 0;
	if (dwarf_program_run(&w->program, &w->rows))
		return -ENOMEM;
	w->code.nr = 0;
	for (size_t k = 0; k < w->rows.nr; k++) {
		const struct dwarf_row *row = &w->rows.at[k];

		if (!low)
			low = row->addr;
		if (row->end) {
			struct dwarf_code code = { low, row->addr };

			if (code.high > code.low && !vec_push(&w->code, code))
				return -ENOMEM;
			low = 0;
		}
	}
	return add_covers(w, unit);
}

static int by_lines(const void *a, const void *b)
{
	const struct line_user *x = a;
	const struct line_user *y = b;

	if (x->line_off != y->line_off)
		return x->line_off < y->line_off ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* Reads the units whose addresses come from their lines. Of those with the same lines, uses
 * only the last: there can be thousands. */
static int scan_lines(struct lines_build_work *work, struct worker *workers,
		      unsigned int nr_threads)
{
	VEC(struct line_user) users = { 0 };
	size_t kept = 0;
	int r = 0;

	for (unsigned int i = 0; !r && i < nr_threads; i++) {
		for (size_t k = 0; !r && k < workers[i].line_users.nr; k++) {
			if (!vec_push(&users, workers[i].line_users.at[k]))
				r = -ENOMEM;
		}
	}
	if (!r && users.nr) {
		qsort(users.at, users.nr, sizeof(*users.at), by_lines);
		for (size_t i = 0; i < users.nr; i++) {
			if (i + 1 == users.nr ||
			    users.at[i].line_off != users.at[i + 1].line_off)
				users.at[kept++] = users.at[i];
		}
		*work = (struct lines_build_work){ .l = work->l,
						   .fn = cover_by_lines,
						   .users = users.at,
						   .nr = kept,
						   .step = 1 };
		r = lines_build_run_all(work, workers, nr_threads);
	}
	vec_done(&users);
	return r;
}

/* Merges the ranges found by the workers to covers without overlaps. */
static int merge_covers(struct lines *l, struct worker *workers, unsigned int nr)
{
	struct dwarf_scopes all = { 0 };
	int r = 0;

	for (unsigned int i = 0; !r && i < nr; i++) {
		for (size_t k = 0; !r && k < workers[i].covers.nr; k++) {
			if (!vec_push(&all.ranges, workers[i].covers.at[k]))
				r = -ENOMEM;
		}
	}
	if (!r)
		r = dwarf_flatten(&all);
	if (!r && !vec_reserve(&l->dir.covers, all.spans.nr + 1))
		r = -ENOMEM;
	for (size_t i = 0; !r && i < all.spans.nr; i++) {
		uint32_t scope = all.spans.at[i].scope;
		struct line_cover cover = { all.spans.at[i].addr, LINE_NO_UNIT };

		if (scope != DWARF_NO_SCOPE)
			cover.unit = unit_of_rank(l->source.info.units.nr, scope);

		l->dir.covers.at[l->dir.covers.nr++] = cover;
	}
	dwarf_scopes_done(&all);
	return r;
}

int lines_scan_go(struct lines *l)
{
	size_t nr = go_lines_count_units(l->source.go);
	struct dwarf_code code = { 0 };

	if (!vec_reserve(&l->dir.units, nr + 1) || !vec_reserve(&l->dir.covers, nr + 1))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		go_lines_range(l->source.go, i, &code);
		l->dir.units.at[l->dir.units.nr++] = (struct line_unit){ .off = i };
		l->dir.covers.at[l->dir.covers.nr++] =
			(struct line_cover){ code.low, (uint32_t)i };
	}
	l->dir.covers.at[l->dir.covers.nr++] =
		(struct line_cover){ code.high, LINE_NO_UNIT };
	l->has_dir = true;
	return 0;
}

int lines_scan(struct lines *l)
{
	size_t nr = l->source.info.units.nr;
	unsigned int nr_threads = count_threads(l, nr, SCAN_STEP);
	struct worker *workers = calloc(nr_threads, sizeof(*workers));
	struct lines_build_work work = {
		.l = l, .fn = scan_unit, .nr = nr, .step = SCAN_STEP
	};
	int r;

	if (!workers)
		return -ENOMEM;
	r = lines_build_run_all(&work, workers, nr_threads);
	if (!r)
		r = scan_lines(&work, workers, nr_threads);
	if (!r) {
		r = merge_covers(l, workers, nr_threads);
		if (!r && !vec_reserve(&l->dir.units, nr + 1))
			r = -ENOMEM;
		for (size_t i = 0; !r && i < nr; i++)
			l->dir.units.at[l->dir.units.nr++] = (struct line_unit){
				.off = l->source.info.units.at[i].off,
			};
		l->has_dir = !r;
	}
	for (unsigned int i = 0; i < nr_threads; i++)
		worker_done(&workers[i]);
	free(workers);
	return r;
}

/* Reads the functions of a unit; for a skeleton, those of its split unit. If that is missing,
 * clang's skeletons still have the inlined calls (-fsplit-dwarf-inlining). Returns 0, 1 (none
 * that can be read), or -ENOMEM. */
static int read_scopes(struct worker *w, const struct dwarf_unit *u, bool *ret_keep)
{
	struct line_split split = { .fd = -1 };
	struct dwarf_open_unit o;
	bool is_split = line_source_is_split(u);
	int r;

	if (is_split) {
		r = line_source_split(&w->l->source, u, &w->rd, &split);
		if (r) {
			w->nr_split_missing++;
			*ret_keep = false;
			is_split = false;
			if (r == -ENOMEM)
				return r;
		}
	}
	r = dwarf_unit_open(&o, is_split ? &split.unit : u, &w->rd);
	if (!r)
		r = dwarf_scopes_read(&w->scopes, &o, &w->rd);
	else
		r = r == -ENOMEM ? r : 1;
	if (is_split) {
		/* Drop cached tables and pages, so that they are not used for another file at
		 * this address. */
		dwarf_reader_forget(&w->rd);
		line_split_close(&split);
	}
	return r == -EBADMSG ? 0 : r;
}

static int keep_block(const struct lines *l, struct line_unit *unit,
		      const struct buf *out)
{
	uint8_t *copy;

	unit->len = (uint32_t)out->len;
	unit->hash = hash_bytes(out->data, out->len, 0);
	if (l->stream) {
		if (unit->keep)
			line_writer_put(l->stream, unit, out->data);
		unit->state = unit->keep ? LINE_UNIT_WRITTEN : LINE_UNIT_FAILED;
		return 0;
	}
	copy = malloc(out->len);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, out->data, out->len);
	unit->block = copy;
	unit->owned = copy;
	unit->state = LINE_UNIT_READY;
	return 0;
}

static int program_path(void *program, uint64_t file, struct buf *out)
{
	return dwarf_program_path(program, file, out);
}

static int build_go_unit(struct worker *w, size_t i)
{
	uint32_t number = w->l->todo.at[i];
	struct line_unit *unit = &w->l->dir.units.at[number];
	const struct line_paths paths = { go_lines_path, &w->go };
	int r = go_lines_read(&w->go, w->l->source.go, number);

	unit->state = LINE_UNIT_FAILED;
	buf_clear(&w->out);
	if (!r)
		r = line_block_make(&w->maker, &paths, &w->go.rows, &w->go.scopes,
				    &w->out);
	if (r == -EFBIG)
		return 0;
	unit->keep = true;
	return r ? r : keep_block(w->l, unit, &w->out);
}

static int build_unit(struct worker *w, size_t i)
{
	const struct line_paths paths = { program_path, &w->program };
	uint32_t number = w->l->todo.at[i];
	struct dwarf_unit *u = &w->l->source.info.units.at[number];
	struct line_unit *unit = &w->l->dir.units.at[number];
	bool keep = !w->l->source.alt_missing;
	bool has_lines;
	int scopes;
	int r;

	unit->state = LINE_UNIT_FAILED;
	if (!u->root_read)
		dwarf_unit_read_root(u, &w->rd);
	if (u->bad_root)
		return 0;
	scopes = read_scopes(w, u, &keep);
	if (scopes < 0)
		return scopes;
	r = dwarf_program_open(&w->program, u, &w->rd);
	has_lines = !r;
	w->rows.nr = 0;
	if (has_lines)
		r = dwarf_program_run(&w->program, &w->rows);
	if (r == -ENOMEM)
		return r;
	buf_clear(&w->out);
	r = line_block_make(&w->maker, has_lines ? &paths : NULL, &w->rows,
			    scopes ? NULL : &w->scopes, &w->out);
	if (r == -EFBIG)
		return 0;
	unit->keep = keep;
	return r ? r : keep_block(w->l, unit, &w->out);
}

/* Frees the memory that was needed to read many units, so that the results can use it. */
static void lines_build_give_back(struct lines *l)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < l->todo.nr && !l->source.go; i++)
		bytes += l->source.info.units.at[l->todo.at[i]].bytes;
	if (bytes < GIVE_BACK_BYTES)
		return;
	line_source_forget(&l->source);
	malloc_trim(0);
}

int lines_build(struct lines *l)
{
	unsigned int nr_threads = count_threads(l, l->todo.nr, THREAD_UNITS);
	struct worker *workers = calloc(nr_threads, sizeof(*workers));
	struct lines_build_work work = { .l = l,
					 .fn = l->source.go ? build_go_unit
							    : build_unit,
					 .nr = l->todo.nr,
					 .step = 1 };
	int r;

	if (!workers)
		return -ENOMEM;
	r = lines_build_run_all(&work, workers, nr_threads);
	for (unsigned int i = 0; i < nr_threads; i++) {
		l->stats.units_split += workers[i].nr_split_missing;
		worker_done(&workers[i]);
	}
	free(workers);
	lines_build_give_back(l);
	for (size_t i = 0; i < l->todo.nr; i++) {
		const struct line_unit *unit = &l->dir.units.at[l->todo.at[i]];

		if (unit->state == LINE_UNIT_READY && unit->keep) {
			l->unsaved_bytes += unit->len;
			l->grew = true;
		}
	}
	l->stats.units_read += l->todo.nr;
	return r;
}
