/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbols/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/containers/sort_keys.h"
#include "resolve/symbols/symtab_priv.h"

enum {
	/* Size of the last symbol of a kernel or of a file without sections, whose end is
	 * unknown: one page, as in perf. */
	LAST_BYTES = 4096
};

static int sorted_keys(const symtab_candidates *c, struct sort_key **ret_keys)
{
	struct sort_key *keys = malloc(c->nr * sizeof(*keys));
	int r;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr; i++) {
		keys[i].at = c->at[i].offset;
		keys[i].index = (uint32_t)i;
	}
	r = sort_keys(&keys, c->nr);
	if (r) {
		free(keys);
		return r;
	}
	*ret_keys = keys;
	return 0;
}

static size_t nr_underscores(const char *name)
{
	return strspn(name, "_");
}

/* Returns whether the name is one of Linux's old aliases of system calls, which users do not
 * look for. */
static bool is_syscall_alias(const char *name)
{
	return strncmp(name, "SyS", 3) == 0 || strncmp(name, "compat_SyS", 10) == 0;
}

/* Returns whether OProfile would prefer `b` to `a` (is_better() has the project's rules). */
static bool is_better_for_oprofile(const struct symtab_candidate *a,
				   const struct symtab_candidate *b)
{
	if ((a->name[0] == '_') != (b->name[0] == '_'))
		return a->name[0] == '_';
	return a->binding == SYMTAB_WEAK && b->binding != SYMTAB_WEAK;
}

/* Returns whether `b` is a better name for their common address than `a`. Uses perf's order
 * (choose_best_symbol() in tools/perf/util/symbol.c), so that reports show the same name as
 * perf, but prefers functions to labels, which perf does not distinguish. */
static bool is_better(const struct symtab_candidate *a,
		      const struct symtab_candidate *b)
{
	size_t of_a, of_b;

	if (b->by_order)
		return true;
	if (b->as_oprofile)
		return is_better_for_oprofile(a, b);
	if (!a->size != !b->size)
		return b->size != 0;
	if (a->binding != b->binding)
		return b->binding > a->binding;
	of_a = nr_underscores(a->name);
	of_b = nr_underscores(b->name);
	if (of_a != of_b)
		return of_b < of_a;
	if (a->label != b->label)
		return a->label;
	of_a = strlen(a->name);
	of_b = strlen(b->name);
	if (of_a != of_b)
		return of_b > of_a;
	return is_syscall_alias(a->name) && !is_syscall_alias(b->name);
}

static uint64_t add_clamped(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Returns the maximum size of the last symbol; in kallsyms, it ends at the end of the page
 * after its own. */
static uint64_t bytes_of_last(const struct symtab_candidate *last)
{
	if (!last->by_order)
		return LAST_BYTES;
	return LAST_BYTES + (-last->vaddr & (LAST_BYTES - 1));
}

/* Sets the end of the last added symbol if the file contains no size: the next symbol, or the
 * end of its section. In kallsyms, the next section can be far away. */
static void close_last(struct symtab *tab, const struct symtab_candidate *last,
		       uint64_t next_offset)
{
	struct symbol *s = &tab->symbols.at[tab->symbols.nr - 1];
	uint64_t end = next_offset;

	if (last->size)
		return;
	if (last->limit > last->offset && last->limit < end)
		end = last->limit;
	else if (end == UINT64_MAX)
		end = add_clamped(last->offset, bytes_of_last(last));
	if (last->by_order && next_offset == UINT64_MAX &&
	    end - last->offset > bytes_of_last(last))
		end = last->offset + bytes_of_last(last);
	s->size = end - last->offset;
}

/* Returns the best of the candidates with the offset of keys[at]; NULL if all of them are
 * labels inside a function that reaches to *covered_to. *ret_end is the index after the last of
 * them. */
static const struct symtab_candidate *best_at(const symtab_candidates *c,
					      const struct sort_key *keys, size_t at,
					      uint64_t *covered_to, size_t *ret_end)
{
	const struct symtab_candidate *best = NULL;
	size_t i;

	for (i = at; i < c->nr && keys[i].at == keys[at].at; i++) {
		const struct symtab_candidate *s = &c->at[keys[i].index];
		uint64_t end = add_clamped(s->offset, s->size);

		if (s->label && !s->size && s->offset < *covered_to)
			continue;
		if (!s->label && end > *covered_to)
			*covered_to = end;
		if (!best || is_better(best, s))
			best = s;
	}
	*ret_end = i;
	return best;
}

/* Keeps the other names of a chosen symbol: those of the candidates with keys [at, end). */
static int symtab_keep_aliases(struct symtab *tab, const symtab_candidates *c,
			       const struct sort_key *keys, size_t at, size_t end,
			       const struct symtab_candidate *best)
{
	for (size_t i = at; i < end; i++) {
		const struct symtab_candidate *s = &c->at[keys[i].index];
		struct symtab_alias alias = { s->offset, s->name };

		if (s != best && strcmp(s->name, best->name) != 0 &&
		    !vec_push(&tab->aliases, alias))
			return -ENOMEM;
	}
	return 0;
}

static int symtab_choose(struct symtab *tab, const symtab_candidates *c,
			 const struct sort_key *keys)
{
	const struct symtab_candidate *last = NULL;
	uint64_t covered_to = 0;

	if (!vec_reserve(&tab->symbols, c->nr))
		return -ENOMEM;
	for (size_t i = 0, end; i < c->nr; i = end) {
		const struct symtab_candidate *s =
			best_at(c, keys, i, &covered_to, &end);

		/* Skip the last possible address, whose end cannot be represented. */
		if (!s || s->offset == UINT64_MAX)
			continue;
		if (end - i > 1 && symtab_keep_aliases(tab, c, keys, i, end, s))
			return -ENOMEM;
		if (last)
			close_last(tab, last, s->offset);
		last = s;
		tab->symbols.at[tab->symbols.nr++] = (struct symbol){
			.offset = s->offset,
			.size = s->size,
			.vaddr = { s->vaddr },
			.name = s->name,
		};
	}
	if (last)
		close_last(tab, last, UINT64_MAX);
	return 0;
}

static uint64_t symbol_end(const struct symtab *tab, uint32_t symbol)
{
	const struct symbol *s = &tab->symbols.at[symbol];

	return add_clamped(s->offset, s->size);
}

/* Splits nested and overlapping symbols into ranges without overlaps; in each range, the result
 * is the covering symbol that starts last. One bisection is then enough for each lookup. `open`
 * is a buffer for all symbols that have begun and might not have ended, outermost first. */
static void cut_ranges(struct symtab *tab, uint32_t *open)
{
	size_t nr_open = 0;

	for (size_t i = 0; i < tab->symbols.nr; i++) {
		bool more = i + 1 < tab->symbols.nr;
		uint64_t next = more ? tab->symbols.at[i + 1].offset : UINT64_MAX;
		uint64_t at = tab->symbols.at[i].offset;

		open[nr_open++] = (uint32_t)i;
		while (at < next && nr_open) {
			uint32_t top = open[nr_open - 1];

			if (symbol_end(tab, top) <= at) {
				nr_open--;
				continue;
			}
			tab->ranges.at[tab->ranges.nr++] =
				(struct symtab_range){ at, top };
			at = symbol_end(tab, top);
		}
		if (at < next)
			tab->ranges.at[tab->ranges.nr++] =
				(struct symtab_range){ at, SYMTAB_NO_SYMBOL };
	}
}

static int make_ranges(struct symtab *tab)
{
	size_t nr = tab->symbols.nr;
	uint32_t *open = malloc((nr + 1) * sizeof(*open));

	if (!open)
		return -ENOMEM;
	/* Each symbol starts one range, and its end starts another. */
	if (!vec_reserve(&tab->ranges, 3 * nr + 1)) {
		free(open);
		return -ENOMEM;
	}
	cut_ranges(tab, open);
	free(open);
	return 0;
}

/* Makes about two buckets per range, so that the search begins near its result. */
static int symtab_make_buckets(struct symtab *tab)
{
	uint64_t first, span;
	size_t range = 0;
	size_t nr;

	if (!tab->ranges.nr)
		return 0;
	first = tab->ranges.at[0].start;
	span = tab->ranges.at[tab->ranges.nr - 1].start - first;
	while (span >> tab->bucket_shift > 2 * tab->ranges.nr)
		tab->bucket_shift++;
	nr = (size_t)(span >> tab->bucket_shift) + 1;
	if (!vec_reserve(&tab->buckets, nr) || !tab->buckets.at)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		uint64_t offset = first + ((uint64_t)i << tab->bucket_shift);

		while (range + 1 < tab->ranges.nr &&
		       tab->ranges.at[range + 1].start <= offset)
			range++;
		tab->buckets.at[i] = (uint32_t)range;
	}
	tab->buckets.nr = nr;
	return 0;
}

int symtab_build(struct symtab *tab, symtab_candidates *candidates)
{
	struct sort_key *keys;
	int r;

	if (!candidates->nr)
		return 0;
	if (candidates->nr >= SYMTAB_NO_SYMBOL)
		return -ENOMEM;
	r = sorted_keys(candidates, &keys);
	if (r)
		return r;
	r = symtab_choose(tab, candidates, keys);
	free(keys);
	if (!r)
		r = make_ranges(tab);
	return r ? r : symtab_make_buckets(tab);
}

int symtab_sorted_add(struct symtab_sorted *sorted, const struct symtab_candidate *c)
{
	struct symtab *tab = sorted->tab;
	struct symbol s = { .offset = c->offset,
			    .vaddr = { c->vaddr },
			    .name = c->name };

	if (tab->symbols.nr) {
		struct symbol *last = &tab->symbols.at[tab->symbols.nr - 1];

		if (c->offset < last->offset)
			return SYMTAB_UNSORTED;
		if (c->offset == last->offset) {
			struct symtab_alias alias = { c->offset, c->name };

			if (is_better(&sorted->last, c)) {
				alias.name = last->name;
				sorted->last = *c;
				last->name = c->name;
			}
			return vec_push(&tab->aliases, alias) ? 0 : -ENOMEM;
		}
		last->size = c->offset - last->offset;
	}
	if (tab->symbols.nr + 1 >= SYMTAB_NO_SYMBOL || !vec_push(&tab->symbols, s))
		return -ENOMEM;
	sorted->last = *c;
	return 0;
}

void symtab_sorted_end(struct symtab_sorted *sorted)
{
	struct symtab *tab = sorted->tab;

	if (tab->symbols.nr)
		close_last(tab, &sorted->last, UINT64_MAX);
	tab->gapless = true;
}

int symtab_of_one(const char *name, uint64_t size, uint64_t start,
		  struct symtab **ret_tab)
{
	struct symtab *tab = calloc(1, sizeof(*tab));
	struct symtab_candidate one = { .size = size, .vaddr = start };
	symtab_candidates candidates = { &one, 1, 1 };
	int r = -ENOMEM;

	if (!tab)
		return -ENOMEM;
	tab->run_base = start;
	tab->names = strdup(name);
	one.name = tab->names;
	if (tab->names)
		r = symtab_build(tab, &candidates);
	if (r) {
		symtab_free(tab);
		return r;
	}
	*ret_tab = tab;
	return 0;
}

int symtab_of_given(const struct symtab_given *symbols, size_t nr, uint64_t run_base,
		    struct symtab **ret_tab)
{
	struct symtab *tab = calloc(1, sizeof(*tab));
	symtab_candidates candidates = { 0 };
	struct buf names = { 0 };
	size_t at = 0;
	int r = 0;

	for (size_t i = 0; i < nr; i++)
		buf_put(&names, symbols[i].name, strlen(symbols[i].name) + 1);
	if (!tab || names.failed || !vec_reserve(&candidates, nr))
		r = -ENOMEM;
	for (size_t i = 0; !r && i < nr; i++) {
		candidates.at[candidates.nr++] = (struct symtab_candidate){
			.offset = symbols[i].offset,
			.size = symbols[i].size,
			.vaddr = symbols[i].vaddr,
			.name = (const char *)names.data + at,
			.binding = SYMTAB_GLOBAL,
		};
		at += strlen(symbols[i].name) + 1;
	}
	if (tab) {
		tab->names = (char *)names.data;
		tab->run_base = run_base;
	}
	if (!r)
		r = nr ? symtab_build(tab, &candidates) : -ENODATA;
	vec_done(&candidates);
	if (!tab)
		buf_done(&names);
	if (r)
		symtab_free(tab);
	else
		*ret_tab = tab;
	return r;
}

/* Returns the last of ranges [low, high) that starts at or before `offset`; ranges[low] does. */
static size_t bisect(const struct symtab_range *ranges, size_t low, size_t high,
		     uint64_t offset)
{
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (ranges[mid].start <= offset)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* Searches a table in which each symbol ends where the next one begins. It needs no ranges, so
 * a kernel's table of a hundred thousand symbols is built faster. */
static const struct symbol *find_gapless(const struct symtab *tab, uint64_t offset)
{
	const struct symbol *symbols = tab->symbols.at;
	size_t low = 0;
	size_t high = tab->symbols.nr;

	if (!high || offset < symbols[0].offset)
		return NULL;
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (symbols[mid].offset <= offset)
			low = mid;
		else
			high = mid;
	}
	return offset - symbols[low].offset < symbols[low].size ? &symbols[low] : NULL;
}

/* Returns the bucket of `offset`, or NULL. */
static inline const uint32_t *symtab_bucket_of(const struct symtab *tab,
					       uint64_t offset)
{
	uint64_t bucket;

	if (!tab->ranges.nr || offset < tab->ranges.at[0].start)
		return NULL;
	bucket = (offset - tab->ranges.at[0].start) >> tab->bucket_shift;
	return bucket < tab->buckets.nr ? &tab->buckets.at[bucket] : NULL;
}

const struct symbol *symtab_find(const struct symtab *tab, uint64_t offset)
{
	const struct symtab_range *ranges = tab->ranges.at;
	size_t high = tab->ranges.nr;
	const uint32_t *bucket;
	uint32_t symbol;
	size_t low;

	if (tab->gapless)
		return find_gapless(tab, offset);
	if (!high || offset < ranges[0].start)
		return NULL;
	bucket = symtab_bucket_of(tab, offset);
	if (bucket) {
		low = *bucket;
		if (bucket + 1 < tab->buckets.at + tab->buckets.nr)
			high = (size_t)bucket[1] + 1;
	} else {
		low = high - 1;
	}
	symbol = ranges[bisect(ranges, low, high, offset)].symbol;
	return symbol == SYMTAB_NO_SYMBOL ? NULL : &tab->symbols.at[symbol];
}

void symtab_prefetch(const struct symtab *tab, uint64_t offset)
{
	const uint32_t *bucket = symtab_bucket_of(tab, offset);

	if (bucket)
		__builtin_prefetch(bucket);
}

void symtab_prefetch_ranges(const struct symtab *tab, uint64_t offset)
{
	const uint32_t *bucket = symtab_bucket_of(tab, offset);

	if (bucket)
		__builtin_prefetch(&tab->ranges.at[*bucket]);
}

const char *symtab_alias(const struct symtab *tab, const struct symbol *symbol,
			 size_t i)
{
	size_t low = 0;
	size_t high = tab->aliases.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (tab->aliases.at[mid].offset < symbol->offset)
			low = mid + 1;
		else
			high = mid;
	}
	if (i >= tab->aliases.nr - low ||
	    tab->aliases.at[low + i].offset != symbol->offset)
		return NULL;
	return tab->aliases.at[low + i].name;
}

size_t symtab_count(const struct symtab *tab)
{
	return tab->symbols.nr;
}

const struct symbol *symtab_at(const struct symtab *tab, size_t i)
{
	return i < tab->symbols.nr ? &tab->symbols.at[i] : NULL;
}

struct elf_vaddr symtab_vaddr(const struct symtab *tab, uint64_t offset)
{
	for (size_t i = 0; i < tab->segments.nr; i++) {
		const struct symtab_segment *s = &tab->segments.at[i];

		if (offset >= s->offset && offset - s->offset < s->bytes)
			return (struct elf_vaddr){ s->vaddr + (offset - s->offset) };
	}
	return (struct elf_vaddr){ offset + tab->run_base };
}

void symtab_free(struct symtab *tab)
{
	if (!tab)
		return;
	free(tab->names);
	free(tab->more_names);
	vec_done(&tab->symbols);
	vec_done(&tab->aliases);
	vec_done(&tab->ranges);
	vec_done(&tab->buckets);
	vec_done(&tab->segments);
	free(tab);
}
