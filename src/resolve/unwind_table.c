#include "resolve/unwind_table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "resolve/cfi_rows.h"
#include "resolve/dwarf_section.h"
#include "resolve/elf_file.h"
#include "resolve/sort_keys.h"

enum {
	DEBUG_FRAME_MAX_BYTES = 1 << 28,
	ROWS_A_BUCKET = 4,
	HASH_SEED = 7
};

/* A function's entry, and its common part: the walk has only the last one. */
struct entry {
	struct cfi_fde fde;
	uint64_t offset; /* in the file */
	uint32_t cie;
	uint32_t walk;
};

struct maker {
	struct unwind_table *t;
	struct cfi_walk *walks;
	struct cfi_walk *walk; /* of the function at hand */
	VEC(struct entry) entries;
	VEC(struct cfi_cie) cies;
	struct map known; /* hash of a set -> its number */
	uint64_t delta;   /* from address to file offset, of this function */
	uint64_t end;     /* file offset where the functions so far end */
	uint64_t limit;   /* file offset where this one does */
	uint32_t last;    /* set of the last row */
};

static int push_code(struct unwind_table *t, const uint8_t *code, uint16_t len,
		     int32_t *ret_at)
{
	*ret_at = (int32_t)t->code.nr;
	if (t->code.nr > INT32_MAX - UINT16_MAX - sizeof(len) ||
	    !vec_reserve(&t->code, t->code.nr + sizeof(len) + len))
		return -ENOMEM;
	memcpy(t->code.at + t->code.nr, &len, sizeof(len));
	memcpy(t->code.at + t->code.nr + sizeof(len), code, len);
	t->code.nr += sizeof(len) + len;
	return 0;
}

static int push_rule(struct maker *m, unsigned int slot, const struct cfi_register *reg)
{
	struct unwind_rule rule = { .slot = (uint8_t)slot,
				    .how = reg->how,
				    .value = reg->value };
	int r = 0;

	if (reg->how == UNWIND_EXPRESSION || reg->how == UNWIND_VALUE)
		r = push_code(m->t, m->walk->bytes + reg->value, reg->code_len,
			      &rule.value);
	if (r == 0 && !vec_push(&m->t->rules, rule))
		r = -ENOMEM;
	return r;
}

static int push_set(struct maker *m, const struct cfi_state *state,
		    unsigned int ret_slot)
{
	struct unwind_table *t = m->t;
	struct unwind_set set = { .base = state->base,
				  .reg = state->reg,
				  .is_signal = m->walk->cie.is_signal,
				  .offset = state->offset,
				  .first_rule = (uint32_t)t->rules.nr,
				  .return_slot = (uint8_t)ret_slot };
	int r = 0;

	if (state->base == UNWIND_BASE_CODE)
		r = push_code(t, m->walk->bytes + state->offset, state->code_len,
			      &set.offset);
	for (unsigned int i = 0; r == 0 && i < t->arch->nr; i++) {
		if (state->registers[i].how == CFI_SAME)
			continue;
		r = push_rule(m, i, &state->registers[i]);
		set.nr_rules++;
	}
	return r == 0 && vec_push(&t->sets, set) ? 0 : -ENOMEM;
}

/* The number of the set of rules that this state is, or -ENOMEM. */
static int64_t set_of(struct maker *m, const struct cfi_state *state)
{
	const struct unwind_arch *arch = m->t->arch;
	unsigned int ret_slot = unwind_arch_slot(arch, m->walk->cie.return_register);
	struct map_slot *slot;
	uint64_t a, b;
	bool is_new;

	if (state->base == UNWIND_NONE || ret_slot == UNWIND_NO_REG)
		return 0;
	/* Expressions by their place: the same one elsewhere makes a set of its own. */
	a = hash_bytes(state->registers, arch->nr * sizeof(state->registers[0]),
		       HASH_SEED);
	b = hash_pair((uint64_t)state->base << 48 | (uint64_t)state->reg << 32 |
			      (uint32_t)state->offset,
		      ret_slot << 1 | m->walk->cie.is_signal);
	slot = map_at(&m->known, a, b, &is_new);
	if (!slot)
		return -ENOMEM;
	if (is_new) {
		slot->value_plus_1 = (uint32_t)m->t->sets.nr + 1;
		if (push_set(m, state, ret_slot))
			return -ENOMEM;
	}
	return slot->value_plus_1 - 1;
}

static int put_first_row(struct unwind_table *t, uint64_t offset, uint32_t set)
{
	t->base = offset;
	return vec_push(&t->rows, (struct unwind_row){ .set = set }) ? 0 : -ENOMEM;
}

/* From `offset` of the file on it is this set. */
static int put_row(struct maker *m, uint64_t offset, uint32_t set)
{
	struct unwind_table *t = m->t;
	struct unwind_row *last;
	uint32_t start;

	if (!t->rows.nr)
		return put_first_row(t, offset, set);
	last = &t->rows.at[t->rows.nr - 1];
	if (offset < t->base || offset - t->base > UINT32_MAX)
		return 0;
	start = (uint32_t)(offset - t->base);
	if (last->offset >= start) {
		last->set = set;
		return 0;
	}
	if (last->set == set)
		return 0;
	return vec_push(&t->rows, (struct unwind_row){ start, set }) ? 0 : -ENOMEM;
}

static int on_row(void *ctx, uint64_t start, const struct cfi_state *state)
{
	struct maker *m = ctx;
	uint64_t offset = start + m->delta;
	int64_t set;

	if (offset >= m->limit)
		return 0;
	set = set_of(m, state);
	return set < 0 ? (int)set : put_row(m, offset, (uint32_t)set);
}

/* Between functions there are no rules. */
static int put_end(struct maker *m, uint64_t next)
{
	return m->t->rows.nr && m->end < next ? put_row(m, m->end, 0) : 0;
}

static int put_entry(struct maker *m, const struct entry *e)
{
	int r = put_end(m, e->offset);

	m->walk = &m->walks[e->walk];
	m->walk->cie = m->cies.at[e->cie];
	m->delta = e->offset - e->fde.start;
	m->limit = e->offset + e->fde.bytes;
	if (r == 0)
		r = put_row(m, e->offset, 0);
	if (r == 0)
		r = cfi_run(m->t->arch, m->walk, &e->fde, on_row, m);
	if (m->limit > m->end)
		m->end = m->limit;
	return r == -EBADMSG ? 0 : r;
}

static int collect(struct maker *m, uint32_t walk,
		   uint64_t (*to_offset)(const void *ctx, uint64_t vaddr),
		   const void *ctx)
{
	struct entry e = { .walk = walk };
	size_t cie_at = SIZE_MAX;

	m->walk = &m->walks[walk];
	while (cfi_next(m->walk, &e.fde)) {
		e.offset = e.fde.start ? to_offset(ctx, e.fde.start) : UINT64_MAX;
		if (e.offset == UINT64_MAX || e.fde.bytes > UINT64_MAX - e.offset)
			continue;
		if (cie_at != m->walk->cie_at && !vec_push(&m->cies, m->walk->cie))
			return -ENOMEM;
		cie_at = m->walk->cie_at;
		e.cie = (uint32_t)m->cies.nr - 1;
		if (!vec_push(&m->entries, e))
			return -ENOMEM;
	}
	return 0;
}

static int put_sorted(struct maker *m)
{
	size_t nr = m->entries.nr;
	struct sort_key *keys = nr ? malloc(nr * sizeof(*keys)) : NULL;
	int r = nr && !keys ? -ENOMEM : 0;

	for (size_t i = 0; keys && i < nr; i++)
		keys[i] = (struct sort_key){ m->entries.at[i].offset, (uint32_t)i };
	if (keys)
		r = sort_keys(&keys, nr);
	for (size_t i = 0; r == 0 && i < nr; i++)
		if (!i || keys[i].at != keys[i - 1].at)
			r = put_entry(m, &m->entries.at[keys[i].index]);
	free(keys);
	return r ? r : put_end(m, UINT64_MAX);
}

static int make_buckets(struct unwind_table *t)
{
	const struct unwind_row *rows = t->rows.at;
	size_t nr = t->rows.nr;
	uint32_t row = 0;

	if (!nr)
		return 0;
	while ((uint64_t)rows[nr - 1].offset >> t->bucket_shift > nr / ROWS_A_BUCKET)
		t->bucket_shift++;
	for (uint64_t start = 0; start <= rows[nr - 1].offset;
	     start += 1ULL << t->bucket_shift) {
		while (row + 1 < nr && rows[row + 1].offset <= start)
			row++;
		if (!vec_push(&t->buckets, row))
			return -ENOMEM;
	}
	return 0;
}

int unwind_table_compile(const struct unwind_arch *arch, struct cfi_walk *walks,
			 size_t nr_walks,
			 uint64_t (*to_offset)(const void *ctx, uint64_t vaddr),
			 const void *ctx, struct unwind_table **ret_table)
{
	struct unwind_table *t = calloc(1, sizeof(*t));
	struct maker m = { .t = t, .walks = walks };
	int r = -ENOMEM;

	if (t) {
		t->arch = arch;
		t->swap = nr_walks && walks[0].swap;
		r = vec_push(&t->sets, (struct unwind_set){ .base = UNWIND_NONE })
			    ? 0
			    : -ENOMEM;
		for (uint32_t i = 0; r == 0 && i < nr_walks; i++)
			r = collect(&m, i, to_offset, ctx);
		if (r == 0)
			r = put_sorted(&m);
		if (r == 0)
			r = make_buckets(t);
	}
	vec_done(&m.entries);
	vec_done(&m.cies);
	map_done(&m.known);
	if (r) {
		unwind_table_free(t);
		return r;
	}
	*ret_table = t;
	return 0;
}

/* ---- from a file ---- */

static uint64_t file_offset(const void *ctx, uint64_t vaddr)
{
	const struct elf_file *f = ctx;

	for (size_t i = 0; i < f->segments.nr; i++) {
		const struct elf_segment *s = &f->segments.at[i];

		if (s->type == PT_LOAD && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->file_bytes)
			return s->offset + (vaddr - s->vaddr);
	}
	return UINT64_MAX;
}

/* .debug_frame into memory; a section that cannot be read is as good as none. */
static int read_debug_frame(struct elf_file *f, struct dwarf_section *ret_section)
{
	const struct elf_section *e = elf_file_find_section(f, ".debug_frame");
	int r;

	*ret_section = (struct dwarf_section){ .fd = -1 };
	if (!e || e->bytes > DEBUG_FRAME_MAX_BYTES)
		return 0;
	r = dwarf_section_open(f, e, false, ret_section);
	if (!r && ret_section->bytes <= DEBUG_FRAME_MAX_BYTES)
		r = dwarf_section_load(ret_section);
	return r == -ENOMEM ? r : 0;
}

int unwind_table_load(struct elf_file *f, struct elf_file *debug,
		      struct unwind_table **ret_table)
{
	const struct unwind_arch *arch = unwind_arch_of_elf(f->machine, f->is64);
	struct dwarf_section section = { .fd = -1 };
	struct cfi_walk walks[2];
	uint64_t vaddr = 0;
	uint8_t *bytes;
	size_t nr = 0, len = 0;
	int r;

	if (!arch)
		return -EOPNOTSUPP;
	r = cfi_read_eh_frame(f, &bytes, &len, &vaddr);
	if (!r)
		r = read_debug_frame(f, &section);
	if (!r && !section.whole && debug && debug->swap == f->swap)
		r = read_debug_frame(debug, &section);
	if (!r && bytes)
		walks[nr++] = cfi_walk_of(bytes, len, vaddr, f->is64, f->swap, false);
	if (!r && section.whole)
		walks[nr++] = cfi_walk_of(section.whole, (size_t)section.bytes, 0,
					  f->is64, f->swap, true);
	if (!r)
		r = unwind_table_compile(arch, walks, nr, file_offset, f, ret_table);
	free(bytes);
	dwarf_section_close(&section);
	return r;
}

/* ---- looking up ---- */

const struct unwind_set *unwind_table_find(const struct unwind_table *t,
					   uint64_t offset)
{
	const struct unwind_row *rows = t->rows.at;
	size_t low, high;
	uint64_t bucket;

	if (!t->rows.nr || offset < t->base)
		return &t->sets.at[0];
	offset -= t->base;
	bucket = offset >> t->bucket_shift;
	if (bucket >= t->buckets.nr)
		return &t->sets.at[rows[t->rows.nr - 1].set];
	low = t->buckets.at[bucket];
	high = bucket + 1 < t->buckets.nr ? (size_t)t->buckets.at[bucket + 1] + 1
					  : t->rows.nr;
	/* Always rows[low].offset <= offset < rows[high].offset. */
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (rows[mid].offset <= offset)
			low = mid;
		else
			high = mid;
	}
	return &t->sets.at[rows[low].set];
}

const uint8_t *unwind_table_code(const struct unwind_table *t, int32_t at,
				 size_t *ret_len)
{
	uint16_t len;

	memcpy(&len, t->code.at + at, sizeof(len));
	*ret_len = len;
	return t->code.at + at + sizeof(len);
}

size_t unwind_table_bytes(const struct unwind_table *t)
{
	return sizeof(*t) + t->rows.cap * sizeof(t->rows.at[0]) +
	       t->sets.cap * sizeof(t->sets.at[0]) +
	       t->rules.cap * sizeof(t->rules.at[0]) + t->code.cap +
	       t->buckets.cap * sizeof(t->buckets.at[0]);
}

void unwind_table_free(struct unwind_table *t)
{
	if (!t)
		return;
	vec_done(&t->rows);
	vec_done(&t->sets);
	vec_done(&t->rules);
	vec_done(&t->code);
	vec_done(&t->buckets);
	free(t);
}
