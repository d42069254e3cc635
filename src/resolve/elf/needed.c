/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/elf/needed.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "resolve/elf/file.h"

static int compare_spans(const void *a, const void *b)
{
	const struct elf_span *x = a, *y = b;

	return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1)
				      : (x->end > y->end) - (x->end < y->end);
}

void elf_spans_join(elf_spans *spans)
{
	size_t nr = 0;

	if (spans->nr)
		qsort(spans->at, spans->nr, sizeof(*spans->at), compare_spans);
	for (size_t i = 0; i < spans->nr; i++) {
		const struct elf_span s = spans->at[i];

		if (nr && s.offset <= spans->at[nr - 1].end) {
			if (s.end > spans->at[nr - 1].end)
				spans->at[nr - 1].end = s.end;
		} else if (s.end > s.offset) {
			spans->at[nr++] = s;
		}
	}
	spans->nr = nr;
}

/* Returns whether a section is not needed to find names. Code sections that are not listed contain
 * stubs that are identified by their instructions (resolve/symbols/plt.h). Data that is not listed
 * can be needed to find names, such as PowerPC's .opd and Go's .gopclntab. */
static bool is_droppable(const char *name)
{
	static const char *const names[] = {
		".text",        ".rodata", ".lrodata",         ".data",
		".data.rel.ro", ".ldata",  ".gcc_except_table"
	};

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool elf_needed_push(elf_spans *spans, uint64_t offset, uint64_t bytes)
{
	const struct elf_span s = { .offset = offset, .end = offset + bytes };

	return s.end < offset || vec_push(spans, s);
}

/* Returns whether function names come from Go's own table. Then the data that describes inlined
 * calls is needed. */
static bool elf_needs_go_data(struct elf_file *f)
{
	return elf_file_find_section(f, ".go.buildinfo") &&
	       !elf_file_find_section(f, ".debug_info") &&
	       !elf_file_find_section(f, ".zdebug_info");
}

/* Sorts the sections into needed and dropped ones. Sections can overlap: bytes that one of them
 * needs are kept. */
static int sort_out(struct elf_file *f, elf_spans *ret_dropped, elf_spans *ret_needed)
{
	bool keep_data = elf_needs_go_data(f);
	bool ok = elf_needed_push(ret_needed, 0, ELF_HEAD_BYTES) &&
		  elf_needed_push(ret_needed, f->shoff,
				  f->nr_sections * f->section_bytes);

	for (size_t i = 0; ok && i < f->segments.nr; i++) {
		const struct elf_segment *s = &f->segments.at[i];

		if (s->type != PT_LOAD)
			ok = elf_needed_push(ret_needed, s->offset, s->file_bytes);
	}
	for (size_t i = 0; ok && i < f->sections.nr; i++) {
		const struct elf_section *s = &f->sections.at[i];
		bool drop = s->type == SHT_PROGBITS && (s->flags & SHF_ALLOC) &&
			    is_droppable(elf_file_section_name(f, s)) &&
			    (!keep_data || (s->flags & SHF_EXECINSTR));

		if (s->type != SHT_NOBITS && s->type != SHT_NULL)
			ok = elf_needed_push(drop ? ret_dropped : ret_needed, s->offset,
					     s->bytes);
	}
	elf_spans_join(ret_dropped);
	elf_spans_join(ret_needed);
	return ok ? 0 : -ENOMEM;
}

/* Computes the parts of `from` that are not in `needed`; both are sorted and have no overlaps.
 * Returns 0 or -ENOMEM. */
static int subtract(const elf_spans *from, const elf_spans *needed, elf_spans *ret_rest)
{
	size_t k = 0;

	for (size_t i = 0; i < from->nr; i++) {
		uint64_t at = from->at[i].offset, end = from->at[i].end;

		while (k < needed->nr && needed->at[k].end <= at)
			k++;
		for (size_t m = k; at < end; m++) {
			bool more = m < needed->nr && needed->at[m].offset < end;
			uint64_t until = more ? needed->at[m].offset : end;

			if (until > at && !elf_needed_push(ret_rest, at, until - at))
				return -ENOMEM;
			if (!more)
				break;
			at = needed->at[m].end;
		}
	}
	return 0;
}

static int elf_needed_find(struct elf_file *f, const elf_spans *keep,
			   elf_spans *dropped, elf_spans *needed, elf_spans *rest)
{
	int r = elf_file_sections(f, NULL);

	if (!r)
		r = sort_out(f, dropped, needed);
	for (size_t i = 0; !r && i < keep->nr; i++)
		if (!vec_push(needed, keep->at[i]))
			r = -ENOMEM;
	elf_spans_join(needed);
	return r ? r : subtract(dropped, needed, rest);
}

int elf_unneeded(struct elf_file *f, const elf_spans *keep, elf_spans *ret_spans)
{
	elf_spans dropped = { 0 }, needed = { 0 }, rest = { 0 };
	int r = 0;

	if (f->type == ET_EXEC || f->type == ET_DYN)
		r = elf_needed_find(f, keep, &dropped, &needed, &rest);
	vec_done(&dropped);
	vec_done(&needed);
	if (r)
		vec_done(&rest);
	else
		*ret_spans = rest;
	return r;
}
