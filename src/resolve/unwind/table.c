/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "resolve/dwarf/section.h"
#include "resolve/elf/file.h"
#include "resolve/unwind/asm.h"
#include "resolve/unwind/cfi.h"
#include "resolve/unwind/exidx.h"
#include "resolve/unwind/go_frames.h"
#include "resolve/unwind/sframe.h"

enum {
	SECTION_MAX_BYTES = 1 << 28,
	ENTRY_AT = 24 /* offset of e_entry */
};

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

/* Loads .debug_frame into memory. A section that cannot be read is treated as missing. */
static int read_debug_frame(struct elf_file *f, struct dwarf_section *ret_section)
{
	const struct elf_section *e = elf_file_find_section(f, ".debug_frame");
	int r;

	*ret_section = (struct dwarf_section){ .fd = -1 };
	if (!e || e->bytes > SECTION_MAX_BYTES)
		return 0;
	r = dwarf_section_open(f, e, false, ret_section);
	if (!r && ret_section->bytes <= SECTION_MAX_BYTES)
		r = dwarf_section_load(ret_section);
	return r == -ENOMEM ? r : 0;
}

/* The input of the compilation, in memory. */
struct inputs {
	uint8_t *eh_frame;
	struct dwarf_section debug_frame;
	struct exidx exidx;
	struct sframe sframe;
	struct buf crt;
	struct buf go;      /* made from the table of a Go program */
	uint8_t *others[3]; /* content of .ARM.exidx, .ARM.extab, .sframe */
};

/* Reads a section that is in memory when the program runs. A section that cannot be read is
 * treated as missing. */
static int read_section(struct elf_file *f, const char *name, uint8_t **ret_bytes,
			struct exidx_section *ret)
{
	const struct elf_section *s = elf_file_find_section(f, name);
	int r;

	*ret = (struct exidx_section){ 0 };
	if (!s)
		return 0;
	r = elf_file_section_bytes(f, s, SECTION_MAX_BYTES, ret_bytes);
	if (r == 0)
		*ret = (struct exidx_section){ *ret_bytes, (size_t)s->bytes, s->vaddr };
	return r == -ENOMEM ? r : 0;
}

static uint64_t unwind_table_entry_of(const struct elf_file *f)
{
	struct cursor head = cursor_of(f->head, f->head_len, f->swap);

	if (f->is_pe)
		return 0;
	head.pos = f->head_len > ENTRY_AT ? ENTRY_AT : f->head_len;
	return f->is64 ? cursor_u64(&head) : cursor_u32(&head);
}

static int read_others(struct elf_file *f, const struct unwind_arch *arch,
		       struct inputs *in, struct unwind_sources *ret)
{
	struct exidx_section sframe;
	int r = 0;

	ret->entry = unwind_table_entry_of(f);
	if (f->machine == EM_ARM) {
		in->exidx.entry = (uint32_t)ret->entry;
		in->exidx.swap = f->swap;
		r = read_section(f, ".ARM.exidx", &in->others[0], &in->exidx.index);
		if (r == 0)
			r = read_section(f, ".ARM.extab", &in->others[1],
					 &in->exidx.extra);
		ret->exidx = &in->exidx;
		return r;
	}
	r = read_section(f, ".sframe", &in->others[2], &sframe);
	if (r == 0 && sframe.bytes &&
	    sframe_open(&in->sframe, arch, sframe.bytes, sframe.len, sframe.vaddr,
			f->swap))
		ret->sframe = &in->sframe;
	return r;
}

static bool unwind_table_read_code(const void *ctx, uint64_t offset, uint8_t *ret_bytes,
				   size_t len)
{
	const struct elf_file *f = ctx;

	return elf_file_read(f, offset, ret_bytes, len) == 0;
}

int unwind_table_load(struct elf_file *f, struct elf_file *debug,
		      struct unwind_table **ret_table)
{
	const struct unwind_arch *arch = unwind_arch_of_elf(f->machine, f->is64);
	struct inputs in = { .debug_frame = { .fd = -1 } };
	struct cfi_walk walks[4];
	struct unwind_sources from = { .walks = walks, .read = unwind_table_read_code };
	uint64_t vaddr = 0;
	size_t len = 0;
	int r;

	if (!arch)
		return -EOPNOTSUPP;
	r = cfi_read_eh_frame(f, &in.eh_frame, &len, &vaddr);
	if (!r)
		r = read_debug_frame(f, &in.debug_frame);
	if (!r && !in.debug_frame.whole && debug && debug->swap == f->swap)
		r = read_debug_frame(debug, &in.debug_frame);
	if (!r)
		r = read_others(f, arch, &in, &from);
	if (!r)
		r = unwind_asm_crt(f, &in.crt);
	if (!r && !in.debug_frame.whole)
		r = unwind_go_frames(f, &in.go);
	if (!r && in.eh_frame)
		walks[from.nr_walks++] =
			cfi_walk_of(in.eh_frame, len, vaddr, f->is64, f->swap, false);
	if (!r && in.debug_frame.whole)
		walks[from.nr_walks++] =
			cfi_walk_of(in.debug_frame.whole, (size_t)in.debug_frame.bytes,
				    0, f->is64, f->swap, true);
	if (!r && in.crt.len)
		walks[from.nr_walks++] =
			cfi_walk_of(in.crt.data, in.crt.len, 0, f->is64, f->swap, true);
	if (!r && in.go.len)
		walks[from.nr_walks++] =
			cfi_walk_of(in.go.data, in.go.len, 0, f->is64, f->swap, true);
	if (!r)
		r = unwind_table_compile_all(arch, &from, file_offset, f, ret_table);
	free(in.eh_frame);
	dwarf_section_close(&in.debug_frame);
	buf_done(&in.crt);
	buf_done(&in.go);
	for (size_t i = 0; i < 3; i++)
		free(in.others[i]);
	return r;
}

/* ---- lookup ---- */

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
	/* Invariant: rows[low].offset <= offset < rows[high].offset. */
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (rows[mid].offset <= offset)
			low = mid;
		else
			high = mid;
	}
	return &t->sets.at[rows[low].set];
}

/* Returns UINT64_MAX if the offset has no bucket. */
static uint64_t unwind_table_bucket_of(const struct unwind_table *t, uint64_t offset)
{
	uint64_t bucket;

	if (!t->rows.nr || offset < t->base)
		return UINT64_MAX;
	bucket = (offset - t->base) >> t->bucket_shift;
	return bucket < t->buckets.nr ? bucket : UINT64_MAX;
}

void unwind_table_ask_bucket(const struct unwind_table *t, uint64_t offset)
{
	uint64_t bucket = unwind_table_bucket_of(t, offset);

	if (bucket != UINT64_MAX)
		__builtin_prefetch(&t->buckets.at[bucket]);
}

void unwind_table_ask_row(const struct unwind_table *t, uint64_t offset)
{
	uint64_t bucket = unwind_table_bucket_of(t, offset);
	size_t low, high;

	if (bucket == UINT64_MAX)
		return;
	low = t->buckets.at[bucket];
	high = bucket + 1 < t->buckets.nr ? t->buckets.at[bucket + 1] : low;
	__builtin_prefetch(&t->rows.at[low]);
	__builtin_prefetch(&t->rows.at[low + (high - low) / 2]);
	__builtin_prefetch(&t->rows.at[high]);
}

const uint8_t *unwind_table_code(const struct unwind_table *t, int32_t at,
				 size_t *ret_len)
{
	const uint8_t *code = t->code.at + at;

	*ret_len = (size_t)(code[0] | code[1] << 8);
	return code + 2;
}

size_t unwind_table_bytes(const struct unwind_table *t)
{
	/* Unused capacity was never touched, and uses no memory. */
	return sizeof(*t) + t->rows.nr * sizeof(t->rows.at[0]) +
	       t->sets.nr * sizeof(t->sets.at[0]) +
	       t->rules.nr * sizeof(t->rules.at[0]) + t->code.nr +
	       t->buckets.nr * sizeof(t->buckets.at[0]);
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

int unwind_table_load_fd(int fd, struct unwind_table **ret_table)
{
	struct elf_file f;
	int r = elf_file_init_fd(&f, fd, NULL);

	if (r)
		return r;
	r = elf_file_sections(&f, NULL);
	if (!r)
		r = unwind_table_load(&f, NULL, ret_table);
	elf_file_done(&f);
	return r;
}
