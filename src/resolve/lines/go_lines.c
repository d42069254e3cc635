/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/lines/go_lines.h"

#include <errno.h>
#include <string.h>

enum {
	/* Limits for a function: the number of inlined calls, and the depth of their nesting. */
	CALLS_MAX = 1 << 16,
	CALL_DEPTH_MAX = 64,
	/* Limit of rows in a unit, and of runs of calls in a function; real ones have a
	 * thousandth. */
	ROWS_MAX = 1 << 20
};

size_t go_lines_count_units(const struct go_table *t)
{
	return (go_table_count(t) + GO_UNIT_FUNCTIONS - 1) / GO_UNIT_FUNCTIONS;
}

/* Returns the number of the first function after a unit. */
static size_t go_lines_end(const struct go_table *t, size_t unit)
{
	size_t end = (unit + 1) * GO_UNIT_FUNCTIONS;

	return end < go_table_count(t) ? end : go_table_count(t);
}

void go_lines_range(const struct go_table *t, size_t unit, struct dwarf_code *ret_code)
{
	ret_code->low = go_table_address(t, unit * GO_UNIT_FUNCTIONS);
	ret_code->high = go_table_address(t, go_lines_end(t, unit));
}

/* Returns the unit's number of a file, which may be unknown; MAP_NONE if out of memory. */
static uint32_t go_lines_file(struct go_lines *g, int32_t file)
{
	const char *path = go_table_path(g->table, &g->fn, file);
	bool is_new;
	struct map_slot *slot =
		map_at(&g->path_numbers, (uint64_t)(uintptr_t)path, 0, &is_new);

	if (!slot || (is_new && !vec_push(&g->paths, path)))
		return MAP_NONE;
	if (is_new)
		slot->value_plus_1 = (uint32_t)g->paths.nr;
	return slot->value_plus_1 - 1;
}

int go_lines_path(void *go_lines, uint64_t file, struct buf *out)
{
	const struct go_lines *g = go_lines;
	const char *path = file < g->paths.nr ? g->paths.at[file] : NULL;

	if (!path)
		return -ENOENT;
	buf_put(out, path, strlen(path) + 1);
	return 0;
}

/* Returns the unit's number of a function; MAP_NONE if out of memory. */
static uint32_t go_lines_function(struct go_lines *g, const char *name, uint32_t file,
				  uint32_t line)
{
	struct dwarf_function f = { .name = (uint32_t)g->scopes.names.len,
				    .linkage = true,
				    .decl_file = file,
				    .decl_line = line };
	bool is_new;
	struct map_slot *slot =
		map_at(&g->functions, (uint64_t)(uintptr_t)name, 0, &is_new);

	if (!slot)
		return MAP_NONE;
	if (is_new) {
		buf_put(&g->scopes.names, name, strlen(name) + 1);
		if (g->scopes.names.failed || !vec_push(&g->scopes.functions, f))
			return MAP_NONE;
		slot->value_plus_1 = (uint32_t)g->scopes.functions.nr;
	}
	return slot->value_plus_1 - 1;
}

/* Adds a row. It replaces a row at the same address, and is dropped if it has the same line as the
 * previous row. Returns false if memory runs out. */
static bool go_lines_add_row(struct go_lines *g, struct dwarf_row row)
{
	if (g->rows.nr) {
		struct dwarf_row *last = &g->rows.at[g->rows.nr - 1];

		if (last->addr == row.addr) {
			*last = row;
			return true;
		}
		if (!row.end && !last->end && last->file == row.file &&
		    last->line == row.line)
			return true;
	}
	return vec_push(&g->rows, row);
}

static bool go_lines_add_span(struct go_lines *g, uint64_t addr, uint32_t scope)
{
	if (g->scopes.spans.nr) {
		struct dwarf_span *last = &g->scopes.spans.at[g->scopes.spans.nr - 1];

		if (last->addr == addr) {
			last->scope = scope;
			return true;
		}
		if (last->scope == scope)
			return true;
	}
	return vec_push(&g->scopes.spans, (struct dwarf_span){ addr, scope });
}

/* Reads the rows of g->fn: the runs of files, cut by those of lines. */
static int go_lines_read_rows(struct go_lines *g)
{
	struct dwarf_row row = { .addr = g->fn.low };
	struct go_runs files, lines;

	go_runs_begin(&files, g->table, &g->fn, GO_FILE);
	go_runs_begin(&lines, g->table, &g->fn, GO_LINE);
	/* The first row replaces the last one of the function before. */
	g->first_row = g->rows.nr;
	if (g->rows.nr && g->rows.at[g->rows.nr - 1].addr == row.addr)
		g->first_row--;
	while (g->rows.nr < ROWS_MAX &&
	       (files.high > row.addr || go_runs_next(&files)) &&
	       (lines.high > row.addr || go_runs_next(&lines))) {
		row.file = go_lines_file(g, files.value);
		row.line = lines.value > 0 ? (uint32_t)lines.value : 0;
		if (row.file == MAP_NONE || !go_lines_add_row(g, row))
			return -ENOMEM;
		row.addr = files.high < lines.high ? files.high : lines.high;
	}
	/* The code ends after the last instruction that has a line; padding follows. Without any
	 * line, all of the function is code. */
	g->code_end = row.addr > g->fn.low ? row.addr : g->fn.high;
	row.end = true;
	return go_lines_add_row(g, row) ? 0 : -ENOMEM;
}

static const struct dwarf_row *go_lines_row_at(const struct go_lines *g, uint64_t addr)
{
	size_t low = g->first_row;
	size_t high = g->rows.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (g->rows.at[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low > g->first_row ? &g->rows.at[low - 1] : NULL;
}

static int go_lines_read_calls(struct go_lines *g)
{
	struct go_runs runs;

	g->calls.nr = 0;
	g->scope_of.nr = 0;
	go_runs_begin(&runs, g->table, &g->fn, GO_INLINE);
	while (g->calls.nr < ROWS_MAX && go_runs_next(&runs)) {
		struct go_lines_call call = { runs.low, runs.high, runs.value };

		if (!vec_push(&g->calls, call))
			return -ENOMEM;
	}
	return 0;
}

/* Returns the index of the innermost call at an address; -1: none. */
static int32_t go_lines_index_at(const struct go_lines *g, uint64_t addr)
{
	size_t low = 0;
	size_t high = g->calls.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (g->calls.at[mid].high <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < g->calls.nr ? g->calls.at[low].index : -1;
}

/* Returns the entry of g->scope_of, or NULL: out of memory, or more calls than the function can
 * have. */
static uint32_t *go_lines_slot(struct go_lines *g, int32_t index)
{
	if (index < 0 || index >= CALLS_MAX ||
	    (uint64_t)index >= g->fn.high - g->fn.low)
		return NULL;
	while (g->scope_of.nr <= (size_t)index)
		if (!vec_push(&g->scope_of, 0))
			return NULL;
	return &g->scope_of.at[index];
}

/* Adds the scope of an inlined call in the scope `parent`. Returns it; MAP_NONE if out of
 * memory. */
static uint32_t go_lines_add_call(struct go_lines *g, const struct go_inlined *call,
				  uint32_t parent)
{
	const struct dwarf_row *row = go_lines_row_at(g, call->parent);
	struct dwarf_scope scope = { .parent = parent, .start = g->fn.low };

	scope.call_file = row && !row->end ? row->file : MAP_NONE;
	scope.call_line = row ? row->line : 0;
	scope.function = go_lines_function(g, call->name, MAP_NONE, call->line);
	if (scope.function == MAP_NONE || !vec_push(&g->scopes.scopes, scope))
		return MAP_NONE;
	return (uint32_t)g->scopes.scopes.nr - 1;
}

/* Returns the scope of the innermost call with this index, for which it adds the scopes of the
 * calls around it; `outer` if there is no call. MAP_NONE if out of memory. */
static uint32_t go_lines_scope(struct go_lines *g, int32_t index, uint32_t outer)
{
	struct {
		struct go_inlined call;
		int32_t index;
	} chain[CALL_DEPTH_MAX];
	uint32_t scope = outer;
	size_t nr = 0;

	for (uint32_t *slot; nr < CALL_DEPTH_MAX && (slot = go_lines_slot(g, index));) {
		if (*slot) {
			scope = *slot - 1;
			break;
		}
		if (!go_table_inlined(g->table, &g->fn, (uint32_t)index,
				      &chain[nr].call))
			break;
		chain[nr++].index = index;
		index = go_lines_index_at(g, chain[nr - 1].call.parent);
	}
	/* A chain this long is a loop. */
	if (nr == CALL_DEPTH_MAX)
		return outer;
	while (nr-- && scope != MAP_NONE) {
		scope = go_lines_add_call(g, &chain[nr].call, scope);
		g->scope_of.at[chain[nr].index] = scope + 1;
	}
	return scope;
}

static int go_lines_read_scopes(struct go_lines *g)
{
	const struct dwarf_row *row = go_lines_row_at(g, g->fn.low);
	struct dwarf_scope outer = { .parent = DWARF_NO_SCOPE, .start = g->fn.low };
	uint32_t number = (uint32_t)g->scopes.scopes.nr;

	outer.function = go_lines_function(
		g, g->fn.name, row && !row->end ? row->file : MAP_NONE, g->fn.line);
	if (outer.function == MAP_NONE || !vec_push(&g->scopes.scopes, outer) ||
	    !go_lines_add_span(g, g->fn.low, number) || go_lines_read_calls(g))
		return -ENOMEM;
	for (size_t i = 0; i < g->calls.nr && g->calls.at[i].low < g->code_end; i++) {
		uint32_t scope = go_lines_scope(g, g->calls.at[i].index, number);

		if (scope == MAP_NONE ||
		    !go_lines_add_span(g, g->calls.at[i].low, scope))
			return -ENOMEM;
	}
	if (g->calls.nr && g->calls.at[g->calls.nr - 1].high < g->code_end &&
	    !go_lines_add_span(g, g->calls.at[g->calls.nr - 1].high, number))
		return -ENOMEM;
	return go_lines_add_span(g, g->code_end, DWARF_NO_SCOPE) ? 0 : -ENOMEM;
}

static void go_lines_clear(struct go_lines *g)
{
	g->rows.nr = 0;
	g->scopes.scopes.nr = 0;
	g->scopes.functions.nr = 0;
	g->scopes.spans.nr = 0;
	buf_clear(&g->scopes.names);
	g->paths.nr = 0;
	map_done(&g->path_numbers);
	map_done(&g->functions);
}

int go_lines_read(struct go_lines *g, const struct go_table *t, size_t unit)
{
	int r = 0;

	go_lines_clear(g);
	g->table = t;
	for (size_t i = unit * GO_UNIT_FUNCTIONS; !r && i < go_lines_end(t, unit);
	     i++) {
		if (!go_table_function(t, i, &g->fn))
			continue;
		r = go_lines_read_rows(g);
		if (!r)
			r = go_lines_read_scopes(g);
	}
	return r;
}

void go_lines_done(struct go_lines *g)
{
	go_lines_clear(g);
	dwarf_scopes_done(&g->scopes);
	vec_done(&g->rows);
	vec_done(&g->paths);
	vec_done(&g->calls);
	vec_done(&g->scope_of);
}
