/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bolt.c - implements bolt.h. LLVM defines the format in bolt/lib/Profile/DataAggregator.cpp and
 * DataReader.cpp. */
#include "present/export/bolt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/count/code_counts.h"
#include "base/buf.h"
#include "base/containers/strtab.h"
#include "base/err.h"
#include "present/export/bolt_names.h"
#include "present/lines/screen.h"
#include "resolve/code/code.h"
#include "resolve/code/insn.h"
#include "resolve/symbolize/lines.h"
#include "resolve/symbolize/naming.h"

enum {
	/* Number of the spot for locations that are in no function of the binary. */
	UNKNOWN = 0,
	FUNCTION_BYTES_MAX = 16 << 20
};

struct bolt_spot {
	uint32_t name;
	uint64_t offset;
	uint64_t samples;
};

struct bolt_edge {
	uint32_t from;
	uint32_t to;
	uint64_t mispredicted;
	uint64_t count;
};

struct bolt {
	struct strtab names;
	char *binary; /* path of the exported image; NULL: not chosen yet */
	bool branches;
	VEC(struct bolt_spot) spots;
	VEC(struct bolt_edge) edges;
	VEC(uint32_t) events;
	struct map spot_by;
	struct map edge_by;
	bool failed;
};

/* The current source. */
struct bolt_adding {
	struct bolt *b;
	const struct code_counts *counts;
	struct naming *naming;
	const struct symtab *tab;
	struct naming_lines *lines;
	struct bolt_names local;
	struct code *code;
	uint32_t image;
	/* Start addresses of basic blocks in functions. */
	struct map leader_by;
	struct map function_by; /* functions that were already disassembled */
};

/* ---- locations ---- */

static uint32_t spot_number(struct bolt *b, uint32_t name, uint64_t offset)
{
	const struct bolt_spot spot = { .name = name, .offset = offset };
	uint32_t at = map_get(&b->spot_by, name, offset);

	if (at != MAP_NONE)
		return at;
	at = (uint32_t)b->spots.nr;
	if (name == STRTAB_FAILED || !vec_push(&b->spots, spot) ||
	    map_set(&b->spot_by, name, offset, at)) {
		b->failed = true;
		return UNKNOWN;
	}
	return at;
}

static void add_edge(struct bolt *b, uint32_t from, uint32_t to, uint64_t count,
		     uint64_t mispredicted)
{
	const struct bolt_edge edge = { .from = from, .to = to };
	uint32_t at = map_get(&b->edge_by, from, to);

	if (from == UNKNOWN && to == UNKNOWN)
		return;
	if (at == MAP_NONE) {
		at = (uint32_t)b->edges.nr;
		if (!vec_push(&b->edges, edge) || map_set(&b->edge_by, from, to, at)) {
			b->failed = true;
			return;
		}
	}
	b->edges.at[at].count += count;
	b->edges.at[at].mispredicted += mispredicted;
}

/* Returns the function that contains the offset, or NULL. */
static const struct symbol *bolt_function_at(const struct bolt_adding *a,
					     uint64_t offset)
{
	return symtab_find(a->tab, offset);
}

static uint32_t bolt_spot_of(const struct bolt_adding *a, uint32_t position)
{
	const struct code_position *p = &a->counts->positions.at[position];
	const struct symbol *s =
		p->image == a->image ? bolt_function_at(a, p->offset) : NULL;

	if (!s)
		return UNKNOWN;
	return spot_number(a->b,
			   strtab_add(&a->b->names,
				      bolt_names_find(&a->local, s->vaddr.v, s->name)),
			   p->offset - s->offset);
}

/* ---- basic blocks ---- */

static bool begins(const struct insn *i, const char *word)
{
	return !strncmp(i->text, word, strlen(word));
}

static bool is_call(const struct insn *i)
{
	return begins(i, "call") || begins(i, "bl ") || begins(i, "bl\t") ||
	       begins(i, "blr");
}

/* Returns whether a basic block ends with this instruction. */
static bool is_end(const struct insn *i)
{
	return (i->has_target && !is_call(i)) || begins(i, "jmp") || begins(i, "ret") ||
	       begins(i, "br ") || begins(i, "br\t") || begins(i, "ud2") ||
	       begins(i, "hlt") || begins(i, "repz ret");
}

static void note_leader(struct bolt_adding *a, uint64_t address)
{
	if (map_set(&a->leader_by, address, 0, 1))
		a->b->failed = true;
}

/* Marks the targets of jumps in the function as starts of basic blocks. */
static void find_leaders(struct bolt_adding *a, const struct symbol *s)
{
	uint64_t end = s->vaddr.v + s->size;
	struct insn i;

	if (map_get(&a->function_by, s->vaddr.v, 0) != MAP_NONE)
		return;
	if (map_set(&a->function_by, s->vaddr.v, 0, 1))
		a->b->failed = true;
	if (s->size > FUNCTION_BYTES_MAX)
		return;
	for (uint64_t at = s->vaddr.v; at < end && !code_insn(a->code, at, &i);
	     at += i.len)
		if (i.has_target && !is_call(&i) && i.target >= s->vaddr.v &&
		    i.target < end)
			note_leader(a, i.target);
}

/* Also marks the sampled targets of indirect jumps, for example through tables, as starts of basic
 * blocks. */
static void find_jump_targets(struct bolt_adding *a)
{
	for (size_t i = 0; i < a->counts->branches.nr; i++) {
		const struct code_edge *e = &a->counts->branches.at[i];
		const struct code_position *from = &a->counts->positions.at[e->from];
		const struct code_position *to = &a->counts->positions.at[e->to];
		struct insn insn;

		if (from->image != a->image || to->image != a->image ||
		    code_insn(a->code, symtab_vaddr(a->tab, from->offset).v, &insn) ||
		    insn.has_target || !(begins(&insn, "jmp") || begins(&insn, "br")))
			continue;
		note_leader(a, symtab_vaddr(a->tab, to->offset).v);
	}
}

/* Adds straight-line execution that passed through several basic blocks. */
static void bolt_add_run(struct bolt_adding *a, const struct code_edge *e)
{
	const struct code_position *from = &a->counts->positions.at[e->from];
	const struct code_position *to = &a->counts->positions.at[e->to];
	const struct symbol *s = bolt_function_at(a, from->offset);
	uint64_t end, at;
	struct insn i;

	if (!s || bolt_function_at(a, to->offset) != s || to->offset < from->offset ||
	    to->offset - from->offset > FUNCTION_BYTES_MAX)
		return;
	find_leaders(a, s);
	end = symtab_vaddr(a->tab, to->offset).v;
	for (at = symtab_vaddr(a->tab, from->offset).v;
	     at < end && !code_insn(a->code, at, &i); at += i.len) {
		uint64_t next = at + i.len;
		uint32_t name;

		if (!is_end(&i) && map_get(&a->leader_by, next, 0) == MAP_NONE)
			continue;
		name = strtab_add(&a->b->names,
				  bolt_names_find(&a->local, s->vaddr.v, s->name));
		add_edge(a->b, spot_number(a->b, name, at - s->vaddr.v),
			 spot_number(a->b, name, next - s->vaddr.v), e->count, 0);
	}
}

/* ---- a source ---- */

static void bolt_add_branches(struct bolt_adding *a)
{
	a->b->branches = true;
	for (size_t i = 0; i < a->counts->branches.nr; i++) {
		const struct code_edge *e = &a->counts->branches.at[i];

		add_edge(a->b, bolt_spot_of(a, e->from), bolt_spot_of(a, e->to),
			 e->count, e->mispredicted);
	}
	find_jump_targets(a);
	for (size_t i = 0; i < a->counts->runs.nr; i++) {
		const struct code_edge *e = &a->counts->runs.at[i];

		if (a->counts->positions.at[e->from].image == a->image &&
		    a->counts->positions.at[e->to].image == a->image)
			bolt_add_run(a, e);
	}
}

static void bolt_add_samples(const struct bolt_adding *a)
{
	for (uint32_t i = 0; i < a->counts->positions.nr; i++) {
		const struct code_position *p = &a->counts->positions.at[i];
		uint32_t spot = p->samples && p->image == a->image ? bolt_spot_of(a, i)
								   : UNKNOWN;

		if (spot != UNKNOWN)
			a->b->spots.at[spot].samples += p->samples;
	}
}

/* Returns the binary with the most samples, or DICT_NONE if no binary has samples. */
static uint32_t hottest(const struct code_counts *c, const struct dict *d)
{
	uint64_t *sums = calloc(d->images.nr + 1, sizeof(*sums));
	uint32_t found = DICT_NONE;

	for (size_t i = 0; sums && i < c->positions.nr; i++)
		sums[c->positions.at[i].image] += c->positions.at[i].samples;
	for (uint32_t i = 0; sums && i < d->images.nr; i++)
		if (d->images.at[i].kind == IMAGE_FILE && sums[i] &&
		    (found == DICT_NONE || sums[i] > sums[found]))
			found = i;
	free(sums);
	return found;
}

static uint32_t bolt_choose(struct bolt *b, const struct code_counts *c,
			    const struct dict *d)
{
	uint32_t image = b->binary ? DICT_NONE : hottest(c, d);

	if (image != DICT_NONE)
		b->binary = strdup(dict_str(d, d->images.at[image].name));
	for (uint32_t i = 0; b->binary && image == DICT_NONE && i < d->images.nr; i++)
		if (d->images.at[i].kind == IMAGE_FILE &&
		    !strcmp(dict_str(d, d->images.at[i].name), b->binary))
			image = i;
	return image;
}

static void note_events(struct bolt *b, const struct dict *d)
{
	for (size_t i = 0; i < d->events.nr; i++) {
		uint32_t name =
			strtab_add(&b->names, dict_str(d, d->events.at[i].name));
		size_t at = 0;

		while (at < b->events.nr && b->events.at[at] != name)
			at++;
		if (at == b->events.nr &&
		    (name == STRTAB_FAILED || !vec_push(&b->events, name)))
			b->failed = true;
	}
}

static int open_binary(struct bolt_adding *a, struct err *err)
{
	struct code_where where = { 0 };
	struct naming_code at;
	int r = -ENODATA;

	a->tab = naming_symtab(a->naming, a->image);
	if (a->tab && naming_lines_open(a->naming, a->image, NULL, &a->lines))
		return err_set(err, -ENOMEM, "out of memory");
	if (!a->lines)
		return err_set(err, r, "cannot read the symbols of '%s'", a->b->binary);
	naming_lines_code(a->lines, &at);
	if (!at.path)
		return err_set(err, r, "cannot find the binary '%s'", a->b->binary);
	r = bolt_names_read(&a->local, at.path, err);
	if (r || !a->counts->branches.nr)
		return r;
	where.path = at.path;
	where.debug_path = at.debug_path;
	where.shift = at.shift;
	return code_open(&where, &a->code, err);
}

int bolt_add_source(void *bolt, const struct code_counts *counts,
		    const struct dict *dict, struct naming *naming, struct err *err)
{
	struct bolt_adding a = { .b = bolt, .counts = counts, .naming = naming };
	int r;

	a.image = bolt_choose(a.b, counts, dict);
	if (a.image == DICT_NONE)
		return 0;
	r = open_binary(&a, err);
	note_events(a.b, dict);
	if (!r && counts->branches.nr)
		bolt_add_branches(&a);
	else if (!r)
		bolt_add_samples(&a);
	if (!r && a.b->failed)
		r = err_set(err, -ENOMEM, "out of memory");
	code_close(a.code);
	bolt_names_done(&a.local);
	naming_lines_close(a.lines);
	map_done(&a.leader_by);
	map_done(&a.function_by);
	return r;
}

/* ---- output ---- */

static int bolt_compare_spots(const struct bolt *b, uint32_t va, uint32_t vb)
{
	const struct bolt_spot *x = &b->spots.at[va];
	const struct bolt_spot *y = &b->spots.at[vb];
	int r = strcmp(strtab_get(&b->names, x->name), strtab_get(&b->names, y->name));

	return r ? r : (x->offset > y->offset) - (x->offset < y->offset);
}

static int bolt_compare_edges(const void *va, const void *vb, void *ctx)
{
	const struct bolt_edge *x = va;
	const struct bolt_edge *y = vb;
	int r = bolt_compare_spots(ctx, x->from, y->from);

	return r ? r : bolt_compare_spots(ctx, x->to, y->to);
}

static int bolt_compare_numbers(const void *va, const void *vb, void *ctx)
{
	return bolt_compare_spots(ctx, *(const uint32_t *)va, *(const uint32_t *)vb);
}

static void bolt_put_spot(const struct bolt *b, uint32_t number, FILE *out)
{
	const struct bolt_spot *s = &b->spots.at[number];
	struct buf name = { 0 };

	if (number == UNKNOWN) {
		fputs("0 [unknown] 0 ", out);
		return;
	}
	fputs("1 ", out);
	for (const char *at = strtab_get(&b->names, s->name); *at; at++) {
		if (*at == ' ' || *at == '\\')
			buf_put_u8(&name, '\\');
		buf_put_u8(&name, (uint8_t)*at);
	}
	buf_put_u8(&name, 0);
	screen_write_masked(out, name.failed ? "" : (const char *)name.data);
	buf_done(&name);
	fprintf(out, " %" PRIx64 " ", s->offset);
}

static void write_edges(struct bolt *b, FILE *out)
{
	if (b->edges.nr)
		qsort_r(b->edges.at, b->edges.nr, sizeof(*b->edges.at),
			bolt_compare_edges, b);
	for (size_t i = 0; i < b->edges.nr; i++) {
		const struct bolt_edge *e = &b->edges.at[i];

		bolt_put_spot(b, e->from, out);
		bolt_put_spot(b, e->to, out);
		fprintf(out, "%" PRIu64 " %" PRIu64 "\n", e->mispredicted, e->count);
	}
}

static int write_samples(struct bolt *b, FILE *out)
{
	uint32_t *order = calloc(b->spots.nr, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->spots.nr; i++)
		order[i] = i;
	qsort_r(order, b->spots.nr, sizeof(*order), bolt_compare_numbers, b);
	fputs("no_lbr", out);
	for (size_t i = 0; i < b->events.nr; i++) {
		putc(' ', out);
		screen_write_masked(out, strtab_get(&b->names, b->events.at[i]));
		putc(':', out);
	}
	fputc('\n', out);
	for (size_t i = 0; i < b->spots.nr; i++) {
		if (!b->spots.at[order[i]].samples)
			continue;
		bolt_put_spot(b, order[i], out);
		fprintf(out, "%" PRIu64 "\n", b->spots.at[order[i]].samples);
	}
	free(order);
	return 0;
}

int bolt_write(struct bolt *b, FILE *out, struct err *err)
{
	if (b->spots.nr < 2)
		return err_set(err, -ENODATA,
			       "no sample is in a function of a program or library");
	if (b->branches)
		write_edges(b, out);
	else if (write_samples(b, out))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* ---- the object ---- */

int bolt_new(struct bolt **ret_bolt, struct err *err)
{
	struct bolt *b = calloc(1, sizeof(*b));
	int r = b ? strtab_init(&b->names) : -ENOMEM;

	/* The first spot is UNKNOWN. */
	if (!r)
		(void)spot_number(b, 0, 0);
	if (r || b->failed) {
		bolt_free(b);
		return err_set(err, -ENOMEM, "out of memory");
	}
	*ret_bolt = b;
	return 0;
}

void bolt_free(struct bolt *b)
{
	if (!b)
		return;
	free(b->binary);
	strtab_done(&b->names);
	vec_done(&b->spots);
	vec_done(&b->edges);
	vec_done(&b->events);
	map_done(&b->spot_by);
	map_done(&b->edge_by);
	free(b);
}

const char *bolt_binary(const struct bolt *b)
{
	return b->binary;
}

bool bolt_has_branches(const struct bolt *b)
{
	return b->branches;
}
