/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/ties.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "aggregate/selection/image_names.h"
#include "base/containers/sort_keys.h"
#include "present/lines/columns.h"

/* The distinct values of a key, each with a group that has it. */
struct values {
	struct profile *p;
	enum tie_by by;
	size_t key;
	uint32_t *group_of; /* by value; DICT_NONE: not seen */
	uint32_t *distinct; /* the values seen */
	size_t nr;
};

static bool is_function(const struct profile *p, size_t key)
{
	return p->options.functions_apart &&
	       p->options.keys->keys.at[key].row->id == KEY_SYMBOL;
}

/* Compares "FILE:LINE"; other texts have no line. */
static int compare_places(const char *a, const char *b, bool basename)
{
	const char *file_a = basename ? image_name_short(a) : a;
	const char *file_b = basename ? image_name_short(b) : b;
	const char *colon_a = strrchr(file_a, ':');
	const char *colon_b = strrchr(file_b, ':');
	size_t len_a = colon_a ? (size_t)(colon_a - file_a) : strlen(file_a);
	size_t len_b = colon_b ? (size_t)(colon_b - file_b) : strlen(file_b);
	int order = memcmp(file_a, file_b, len_a < len_b ? len_a : len_b);

	if (order || len_a != len_b)
		return order ? order : len_a < len_b ? -1 : 1;
	if (!colon_a || !colon_b)
		return !!colon_a - !!colon_b;
	/* Of two line numbers, the one with more digits is greater. */
	len_a = strlen(colon_a);
	len_b = strlen(colon_b);
	return len_a != len_b ? (len_a < len_b ? -1 : 1) : strcmp(colon_a, colon_b);
}

static int ties_compare_groups(const struct values *v, uint32_t a, uint32_t b)
{
	struct profile *p = v->p;
	const struct column *c =
		column_of_key(p->options.keys->keys.at[v->key].row->id);

	if (v->by == TIE_BY_BASE)
		return strcmp(image_name_short(profile_text(p, a, v->key)),
			      image_name_short(profile_text(p, b, v->key)));
	if (v->by == TIE_BY_PLACE || v->by == TIE_BY_BASENAME)
		return compare_places(profile_text(p, a, v->key),
				      profile_text(p, b, v->key),
				      v->by == TIE_BY_BASENAME);
	if (v->by != TIE_BY_VALUE && is_function(p, v->key)) {
		uint64_t vma_a = p->functions.at[profile_value(p, a, v->key)].vma;
		uint64_t vma_b = p->functions.at[profile_value(p, b, v->key)].vma;

		if (vma_a != vma_b)
			return vma_a < vma_b ? -1 : 1;
		if (v->by == TIE_BY_VMA)
			return 0;
	}
	return c ? c->sort(p, a, b, v->key) : 0;
}

static int ties_compare_values(const void *a, const void *b, void *ctx)
{
	const struct values *v = ctx;

	return ties_compare_groups(v, v->group_of[*(const uint32_t *)a],
				   v->group_of[*(const uint32_t *)b]);
}

static bool is_dense(const struct profile *p, size_t key)
{
	return p->options.keys->keys.at[key].row->kind == KEY_TEXT;
}

enum {
	HEAD_BYTES = 8
};

/* Returns the first bytes of a text as a number with the same order. */
static uint64_t text_head(const char *text)
{
	uint64_t head = 0;

	for (int i = 0; i < HEAD_BYTES; i++) {
		head = head << 8 | (uint8_t)*text;
		text += *text != 0;
	}
	return head;
}

static int compare_tails(const void *a, const void *b, void *ctx)
{
	const char *const *texts = ctx;
	const struct sort_key *x = a;
	const struct sort_key *y = b;

	return strcmp(texts[x->index] + HEAD_BYTES, texts[y->index] + HEAD_BYTES);
}

/* Sorts texts that share their first HEAD_BYTES bytes: [from, to). */
static void sort_run(struct sort_key *keys, size_t from, size_t to, const char **texts)
{
	/* The texts end within the head if its last byte is zero. */
	if (to - from > 1 && (uint8_t)keys[from].at)
		qsort_r(&keys[from], to - from, sizeof(*keys), compare_tails, texts);
}

static bool ties_is_same(const struct sort_key *keys, size_t i, const char **texts)
{
	return keys[i].at == keys[i - 1].at &&
	       (!(uint8_t)keys[i].at || !compare_tails(&keys[i - 1], &keys[i], texts));
}

/* Ranks like rank_values(), but fetches each text once: most texts already differ in the head. */
static int rank_texts(const struct values *v, uint32_t *ranks, uint32_t *ret_last)
{
	const char **texts = malloc((v->nr + 1) * sizeof(*texts));
	struct sort_key *keys = malloc((v->nr + 1) * sizeof(*keys));
	uint32_t rank = 0;
	int r = texts && keys ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < v->nr; i++) {
		texts[i] = profile_text(v->p, v->group_of[v->distinct[i]], v->key);
		keys[i] = (struct sort_key){ text_head(texts[i]), (uint32_t)i };
	}
	if (!r && v->nr)
		r = sort_keys(&keys, v->nr);
	for (size_t i = 0, from = 0; !r && i < v->nr; i++) {
		if (i + 1 < v->nr && keys[i + 1].at == keys[i].at)
			continue;
		sort_run(keys, from, i + 1, texts);
		from = i + 1;
	}
	for (size_t i = 0; !r && i < v->nr; i++) {
		rank += i && !ties_is_same(keys, i, texts);
		ranks[v->distinct[keys[i].index]] = rank;
	}
	*ret_last = rank;
	free(texts);
	free(keys);
	return r;
}

static uint32_t rank_values(struct values *v, uint32_t *ranks)
{
	uint32_t rank = 0;

	qsort_r(v->distinct, v->nr, sizeof(*v->distinct), ties_compare_values, v);
	for (size_t i = 0; i < v->nr; i++) {
		if (i && ties_compare_values(&v->distinct[i - 1], &v->distinct[i], v))
			rank++;
		ranks[v->distinct[i]] = rank;
	}
	return rank;
}

/* Returns true if values sort by texts whose pointers stay valid during the sort. */
static bool is_plain_text(const struct values *v)
{
	const struct key_row *row = v->p->options.keys->keys.at[v->key].row;

	return column_sorts_text(row->id) && row->id != KEY_STACK &&
	       v->by != TIE_BY_PLACE && v->by != TIE_BY_BASENAME &&
	       (v->by == TIE_BY_VALUE ||
		(v->by != TIE_BY_BASE && !is_function(v->p, v->key)));
}

/* Ranks values that are indices of strings or functions: each distinct value once. */
static uint64_t rank_dense(struct values *v, size_t nr_values, uint32_t *ranks)
{
	struct profile *p = v->p;
	uint32_t rank = 0;

	memset(v->group_of, 0xff, nr_values * sizeof(*v->group_of));
	for (uint32_t g = 0; g < p->groups.nr; g++) {
		uint32_t value = (uint32_t)profile_value(p, g, v->key);

		if (v->group_of[value] == DICT_NONE) {
			v->group_of[value] = g;
			v->distinct[v->nr++] = value;
		}
	}
	if (!is_plain_text(v) || rank_texts(v, ranks, &rank))
		rank = rank_values(v, ranks);
	return (uint64_t)rank + 1;
}

static int add_dense(struct values *v, uint64_t *ties, uint64_t *span)
{
	struct profile *p = v->p;
	size_t nr_values = profile_nr_values(p, v->key);
	uint32_t *ranks = calloc(nr_values + 1, sizeof(*ranks));
	uint64_t nr_ranks;
	int r = 0;

	v->group_of = calloc(nr_values + 1, sizeof(*v->group_of));
	v->distinct = calloc(nr_values + 1, sizeof(*v->distinct));
	if (ranks && v->group_of && v->distinct) {
		nr_ranks = rank_dense(v, nr_values, ranks);
		if (__builtin_mul_overflow(*span, nr_ranks, span))
			r = -E2BIG;
		for (uint32_t g = 0; !r && g < p->groups.nr; g++)
			ties[g] =
				ties[g] * nr_ranks + ranks[profile_value(p, g, v->key)];
	} else {
		r = -ENOMEM;
	}
	free(ranks);
	free(v->group_of);
	free(v->distinct);
	return r;
}

/* Returns a value as sort_keys() needs it: unsigned, in the order of the key's column. */
static uint64_t sortable(const struct profile *p, uint32_t group, size_t key)
{
	const struct key_row *row = p->options.keys->keys.at[key].row;
	uint64_t value = profile_value(p, group, key);

	return row->kind == KEY_INTEGER ? value ^ (uint64_t)1 << 63 : value;
}

/* Adds a numeric key by sorting the groups themselves. */
static int add_sparse(struct values *v, uint64_t *ties, uint64_t *span)
{
	struct profile *p = v->p;
	size_t nr = p->groups.nr;
	struct sort_key *keys = malloc((nr + 1) * sizeof(*keys));
	uint64_t nr_ranks = 0;
	int r;

	if (!keys)
		return -ENOMEM;
	for (uint32_t g = 0; g < nr; g++)
		keys[g] = (struct sort_key){ sortable(p, g, v->key), g };
	r = nr ? sort_keys(&keys, nr) : 0;
	for (size_t i = 0; !r && i < nr; i++)
		nr_ranks += !i || keys[i].at != keys[i - 1].at;
	if (!r && nr && __builtin_mul_overflow(*span, nr_ranks, span))
		r = -E2BIG;
	for (size_t i = 0, rank = 0; !r && i < nr; i++) {
		rank += i && keys[i].at != keys[i - 1].at;
		ties[keys[i].index] = ties[keys[i].index] * nr_ranks + rank;
	}
	free(keys);
	return r;
}

int ties_make(struct profile *p, const struct tie_keys *keys, uint64_t *ties)
{
	uint64_t span = 1;

	memset(ties, 0, p->groups.nr * sizeof(*ties));
	for (size_t i = 0; i < keys->nr; i++) {
		struct values v = { .p = p,
				    .by = keys->at[i].by,
				    .key = keys->at[i].key };
		int r = is_dense(p, v.key) ? add_dense(&v, ties, &span)
					   : add_sparse(&v, ties, &span);

		if (r)
			return r;
	}
	return 0;
}

int ties_compare(struct profile *p, const struct tie_keys *keys, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < keys->nr; i++) {
		const struct values v = { .p = p,
					  .by = keys->at[i].by,
					  .key = keys->at[i].key };
		int order = ties_compare_groups(&v, a, b);

		if (order)
			return order;
	}
	return 0;
}
