/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbols/perf_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* A line of the map. If two overlap, the one with the higher `order` wins. */
struct perf_map_line {
	uint64_t start;
	uint64_t end;
	uint32_t name;
	uint32_t name_len;
	uint32_t order;
};

typedef VEC(struct perf_map_line) lines;

/* ---- text ---- */

static int perf_map_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses up to 16 hex digits, with or without 0x, and the following blank. Returns the position
 * after it, or NULL if the text has another form. */
static const char *perf_map_take_hex(const char *at, const char *end,
				     uint64_t *ret_value)
{
	uint64_t value = 0;
	int nr = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		at += 2;
	for (; at < end && perf_map_hex_digit(*at) >= 0; at++, nr++)
		value = value << 4 | (uint64_t)perf_map_hex_digit(*at);
	if (!nr || nr > 16 || at == end || (*at != ' ' && *at != '\t'))
		return NULL;
	*ret_value = value;
	return at + 1;
}

static bool perf_map_parse_line(const char *text, const char *at, const char *end,
				struct perf_map_line *ret_line)
{
	uint64_t size;

	if (end > at && end[-1] == '\r')
		end--;
	at = perf_map_take_hex(at, end, &ret_line->start);
	at = at ? perf_map_take_hex(at, end, &size) : NULL;
	if (!at || at == end || !size || size > UINT64_MAX - ret_line->start ||
	    memchr(at, '\0', (size_t)(end - at)))
		return false;
	ret_line->end = ret_line->start + size;
	ret_line->name = (uint32_t)(at - text);
	ret_line->name_len =
		end - at > PERF_MAP_NAME_MAX ? PERF_MAP_NAME_MAX : (uint32_t)(end - at);
	return true;
}

static int perf_map_read_lines(struct perf_map *map, const char *text, size_t len,
			       lines *l)
{
	const char *at = text;
	const char *end = text + (len < UINT32_MAX ? len : UINT32_MAX);

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct perf_map_line line = { .order = (uint32_t)l->nr };

		/* The last line might be incomplete. */
		if (!stop)
			stop = end;
		map->nr_lines++;
		if (!perf_map_parse_line(text, at, stop, &line))
			map->nr_bad += stop != at;
		else if (!vec_push(l, line))
			return -ENOMEM;
		at = stop < end ? stop + 1 : end;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct perf_map_line *x = a;
	const struct perf_map_line *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* ---- resolving overlaps ---- */

/* A sweep over the addresses. `heap` contains the lines that have begun, with the latest line
 * on top; lines that have ended are removed when they reach the top. */
struct sweep {
	struct perf_map *map;
	const struct perf_map_line *lines;
	VEC(uint32_t) heap;
	uint64_t at;                 /* everything below is resolved */
	struct perf_map_piece piece; /* the last one; not used if it is empty */
};

static bool perf_map_is_later(const struct sweep *s, uint32_t a, uint32_t b)
{
	return s->lines[a].order > s->lines[b].order;
}

static bool perf_map_heap_push(struct sweep *s, uint32_t line)
{
	size_t i = s->heap.nr;

	if (!vec_push(&s->heap, line))
		return false;
	for (; i && perf_map_is_later(s, line, s->heap.at[(i - 1) / 2]);
	     i = (i - 1) / 2)
		s->heap.at[i] = s->heap.at[(i - 1) / 2];
	s->heap.at[i] = line;
	return true;
}

static void perf_map_heap_pop(struct sweep *s)
{
	size_t nr = --s->heap.nr;
	uint32_t last = s->heap.at[nr];
	size_t i = 0;

	for (size_t child = 1; child < nr; child = 2 * i + 1) {
		if (child + 1 < nr &&
		    perf_map_is_later(s, s->heap.at[child + 1], s->heap.at[child]))
			child++;
		if (!perf_map_is_later(s, s->heap.at[child], last))
			break;
		s->heap.at[i] = s->heap.at[child];
		i = child;
	}
	s->heap.at[i] = last;
}

/* Adds the last piece to the map when it cannot be extended any more. Returns false if memory runs
 * out. */
static bool perf_map_flush(struct sweep *s)
{
	return s->piece.end == s->piece.start || vec_push(&s->map->pieces, s->piece);
}

static bool perf_map_emit(struct sweep *s, const struct perf_map_line *line,
			  uint64_t end)
{
	if (s->piece.end != s->at || s->piece.name != line->name) {
		if (!perf_map_flush(s))
			return false;
		s->piece = (struct perf_map_piece){ s->at, end, line->start, line->name,
						    line->name_len };
	}
	s->piece.end = end;
	return true;
}

/* Resolves all addresses below `to`. Returns false if memory runs out. */
static bool sweep_to(struct sweep *s, uint64_t to)
{
	while (s->heap.nr && s->at < to) {
		const struct perf_map_line *top = &s->lines[s->heap.at[0]];
		uint64_t end = top->end < to ? top->end : to;

		if (top->end > s->at) {
			if (!perf_map_emit(s, top, end))
				return false;
			s->at = end;
		}
		if (top->end <= s->at)
			perf_map_heap_pop(s);
	}
	s->at = to;
	return true;
}

int perf_map_read(struct perf_map *map, const char *text, size_t len)
{
	struct sweep s = { .map = map };
	lines l = { 0 };
	int r;

	*map = (struct perf_map){ .text = text };
	r = perf_map_read_lines(map, text, len, &l);
	if (!r && l.nr)
		qsort(l.at, l.nr, sizeof(*l.at), by_start);
	s.lines = l.at;
	for (uint32_t i = 0; !r && i < l.nr; i++)
		if (!sweep_to(&s, l.at[i].start) || !perf_map_heap_push(&s, i))
			r = -ENOMEM;
	if (!r && (!sweep_to(&s, UINT64_MAX) || !perf_map_flush(&s)))
		r = -ENOMEM;
	vec_done(&s.heap);
	vec_done(&l);
	return r;
}

void perf_map_done(struct perf_map *map)
{
	vec_done(&map->pieces);
}

/* ---- tables ---- */

/* Returns the index of the first piece that ends after `address`. */
static size_t first_after(const struct perf_map *map, uint64_t address)
{
	size_t low = 0;
	size_t high = map->pieces.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (map->pieces.at[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Returns the part of a piece in [start, end), with its address as offset. */
static struct symtab_given given_of(const struct perf_map_piece *p, uint64_t start,
				    uint64_t end)
{
	uint64_t from = p->start > start ? p->start : start;
	uint64_t to = p->end < end ? p->end : end;

	return (struct symtab_given){ .offset = from,
				      .size = to - from,
				      .vaddr = p->function };
}

/* Copies the names of the pieces to `names`, and sets the names in `given`. Returns 0 or
 * -ENOMEM. */
static int fill_given(const struct perf_map *map, const struct perf_map_piece *pieces,
		      struct symtab_given *given, size_t nr, struct buf *names)
{
	size_t at = 0;

	for (size_t i = 0; i < nr; i++) {
		buf_put(names, map->text + pieces[i].name, pieces[i].name_len);
		buf_put(names, "", 1);
	}
	if (names->failed)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		given[i].name = (const char *)names->data + at;
		at += pieces[i].name_len + 1;
	}
	return 0;
}

int perf_map_symtab(const struct perf_map *map, uint64_t start, uint64_t end,
		    uint64_t first, struct symtab **ret_tab)
{
	size_t at = first_after(map, start);
	size_t nr = 0;
	struct symtab_given *given;
	struct buf names = { 0 };
	int r = -ENOMEM;

	while (at + nr < map->pieces.nr && map->pieces.at[at + nr].start < end)
		nr++;
	if (!nr)
		return -ENODATA;
	given = calloc(nr, sizeof(*given));
	for (size_t i = 0; given && i < nr; i++) {
		given[i] = given_of(&map->pieces.at[at + i], start, end);
		given[i].offset -= first;
	}
	if (given)
		r = fill_given(map, &map->pieces.at[at], given, nr, &names);
	if (!r)
		r = symtab_of_given(given, nr, first, ret_tab);
	buf_done(&names);
	free(given);
	return r;
}
