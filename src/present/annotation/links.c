/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/annotation/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/files/path.h"

int links_init(struct annotation_links *l, const struct annotation *a)
{
	struct strtab *strings = &a->p->strings;

	*l = (struct annotation_links){ .a = a };
	for (size_t f = 0; f < a->files.nr; f++) {
		uint32_t name = strtab_add(strings, a->files.at[f].path);

		if (name == STRTAB_FAILED || map_set(&l->file_by, name, 0, (uint32_t)f))
			return -ENOMEM;
	}
	return 0;
}

void links_done(struct annotation_links *l)
{
	map_done(&l->file_by);
	vec_done(&l->all);
	vec_done(&l->counts);
}

int links_file(struct annotation_links *l, const char *path, uint32_t *ret_file,
	       uint32_t *ret_path)
{
	char *full = path[0] == '/' ? path_full(path, "") : strdup(path);
	uint32_t name = full ? strtab_add(&l->a->p->strings, full) : STRTAB_FAILED;

	free(full);
	if (name == STRTAB_FAILED)
		return -ENOMEM;
	*ret_path = name;
	*ret_file = map_get(&l->file_by, name, 0);
	return 0;
}

static int annotation_links_push(struct annotation_links *l,
				 const struct line_link *link, const uint64_t *counts)
{
	struct line_link made = *link;

	made.counts = l->counts.nr;
	for (size_t c = 0; c < l->a->nr_counts; c++)
		if (!vec_push(&l->counts, counts[c]))
			return -ENOMEM;
	return vec_push(&l->all, made) ? 0 : -ENOMEM;
}

/* The source location of a frame: its file in the annotation, and its line. */
struct annotation_links_spot {
	uint32_t file;
	uint32_t path;
	uint32_t line;
	uint32_t name;
};

static int annotation_links_spot_of(struct annotation_links *l,
				    const struct line_frame *frame,
				    struct annotation_links_spot *ret_spot)
{
	struct strtab *strings = &l->a->p->strings;
	const char *name = frame->name ? frame->name : "";
	char *shown = frame->linkage ? profile_name_to_show(l->a->p, name) : NULL;

	ret_spot->line = frame->line;
	ret_spot->name = strtab_add(strings, shown ? shown : name);
	free(shown);
	if (ret_spot->name == STRTAB_FAILED)
		return -ENOMEM;
	return links_file(l, frame->file ? frame->file : "", &ret_spot->file,
			  &ret_spot->path);
}

/* Adds an inlined call as two links: from the call's line to the function, and back. */
static int annotation_links_add_site(struct annotation_links *l,
				     const struct annotation_links_spot *callee,
				     const struct annotation_links_spot *site,
				     const uint64_t *counts)
{
	const struct line_link into = {
		.file = callee->file,
		.line = callee->line,
		.kind = LINK_INLINED_INTO,
		.text = site->name,
		.to_file = site->file,
		.to_path = site->path,
		.to_line = site->line,
	};
	const struct line_link here = {
		.file = site->file,
		.line = site->line,
		.kind = LINK_INLINED_HERE,
		.text = callee->name,
		.to_file = callee->file,
		.to_path = callee->path,
		.to_line = callee->line,
	};
	int r = 0;

	if (callee->file != LINKS_NO_FILE)
		r = annotation_links_push(l, &into, counts);
	if (!r && site->file != LINKS_NO_FILE)
		r = annotation_links_push(l, &here, counts);
	return r;
}

int links_add(struct annotation_links *l, const struct links_insn *insn,
	      const struct line_frame *frames, size_t nr)
{
	struct line_link link = { .kind = LINK_INSN,
				  .function = insn->function,
				  .address = insn->address,
				  .text = insn->text,
				  .to_file = LINKS_NO_FILE };
	struct annotation_links_spot inner, outer;
	int r;

	if (!nr)
		return 0;
	r = annotation_links_spot_of(l, &frames[0], &inner);
	if (!r && inner.file != LINKS_NO_FILE) {
		link.file = inner.file;
		link.line = inner.line;
		r = annotation_links_push(l, &link, insn->counts);
	}
	for (size_t i = 1; !r && i < nr && frames[i - 1].inlined; i++) {
		r = annotation_links_spot_of(l, &frames[i], &outer);
		if (!r)
			r = annotation_links_add_site(l, &inner, &outer, insn->counts);
		inner = outer;
	}
	return r;
}

/* ---- order ---- */

#define COMPARE(a, b)                                                                  \
	do {                                                                           \
		if ((a) != (b))                                                        \
			return (a) < (b) ? -1 : 1;                                     \
	} while (0)

/* Orders links by all that is shown of them: links that compare equal are merged. */
static int compare_ends(const void *x, const void *y)
{
	const struct line_link *a = x, *b = y;

	COMPARE(a->file, b->file);
	COMPARE(a->line, b->line);
	COMPARE(a->kind, b->kind);
	COMPARE(a->function, b->function);
	COMPARE(a->address, b->address);
	COMPARE(a->to_path, b->to_path);
	COMPARE(a->to_line, b->to_line);
	COMPARE(a->text, b->text);
	return 0;
}

static int compare_heat(const void *x, const void *y, void *ctx)
{
	const struct line_link *a = x, *b = y;
	const struct annotation_links *l = ctx;

	COMPARE(a->file, b->file);
	COMPARE(a->line, b->line);
	COMPARE(a->kind, b->kind);
	for (size_t c = 0; c < l->a->nr_counts; c++)
		COMPARE(links_counts(l, b)[c], links_counts(l, a)[c]);
	return compare_ends(x, y);
}

static void sum_up_equal(struct annotation_links *l)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->all.nr; i++) {
		const struct line_link *link = &l->all.at[i];

		if (!nr || compare_ends(&l->all.at[nr - 1], link)) {
			l->all.at[nr++] = *link;
			continue;
		}
		for (size_t c = 0; c < l->a->nr_counts; c++)
			l->counts.at[l->all.at[nr - 1].counts + c] +=
				l->counts.at[link->counts + c];
	}
	l->all.nr = nr;
}

int links_sort(struct annotation_links *l)
{
	if (!l->all.nr)
		return 0;
	qsort(l->all.at, l->all.nr, sizeof(*l->all.at), compare_ends);
	sum_up_equal(l);
	qsort_r(l->all.at, l->all.nr, sizeof(*l->all.at), compare_heat, l);
	return 0;
}

/* Returns the index of the first link at or after (file, line). */
static size_t first_from(const struct annotation_links *l, uint32_t file, uint32_t line)
{
	size_t low = 0, high = l->all.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct line_link *at = &l->all.at[middle];

		if (at->file < file || (at->file == file && at->line < line))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct line_link *links_of_line(const struct annotation_links *l, uint32_t file,
				      uint32_t line, size_t *ret_nr)
{
	size_t first = first_from(l, file, line);
	size_t end = first;

	while (end < l->all.nr && l->all.at[end].file == file &&
	       l->all.at[end].line == line)
		end++;
	*ret_nr = end - first;
	return *ret_nr ? &l->all.at[first] : NULL;
}

uint32_t links_next_line(const struct annotation_links *l, uint32_t file, uint32_t line)
{
	size_t first = first_from(l, file, line);

	return first < l->all.nr && l->all.at[first].file == file
		       ? l->all.at[first].line
		       : 0;
}
