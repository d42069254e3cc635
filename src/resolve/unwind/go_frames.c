/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/go_frames.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "resolve/elf/file.h"
#include "resolve/go/table.h"

enum {
	CIE_ID = -1,
	WORD_BYTES = 8,
	DATA_ALIGN = 0x78, /* -8 as a LEB128 number */
	SHORT_ADVANCE = 64 /* limit of DW_CFA_advance_loc */
};

struct go_machine {
	uint16_t machine;
	uint8_t return_reg; /* DWARF numbers */
	uint8_t stack_reg;
	/* A call stores the return address on the stack; else the function stores it in the lowest
	 * word of its frame. */
	bool pushes;
};

static const struct go_machine machines[] = {
	{ EM_X86_64, .return_reg = 16, .stack_reg = 7, .pushes = true },
	{ EM_AARCH64, .return_reg = 30, .stack_reg = 31 },
};

/* Stores the length of the entry that begins at `at`. */
static void go_frames_put_length(struct buf *out, size_t at)
{
	uint32_t len = (uint32_t)(out->len - at - sizeof(len));

	if (!out->failed)
		for (unsigned int i = 0; i < sizeof(len); i++)
			out->data[at + i] = (uint8_t)(len >> (8 * i));
}

static void go_frames_put_cie(const struct go_machine *m, struct buf *out)
{
	size_t at = out->len;

	buf_put_u32(out, 0);
	buf_put_u32(out, (uint32_t)CIE_ID);
	buf_put_u8(out, 1); /* version */
	buf_put_u8(out, 0); /* no augmentation */
	buf_put_u8(out, 1); /* code alignment */
	buf_put_u8(out, DATA_ALIGN);
	buf_put_u8(out, m->return_reg);
	buf_put_u8(out, DW_CFA_def_cfa);
	buf_put_u8(out, m->stack_reg);
	buf_put_u8(out, m->pushes ? WORD_BYTES : 0);
	if (m->pushes) {
		buf_put_u8(out, DW_CFA_offset | m->return_reg);
		buf_put_u8(out, 1);
	}
	go_frames_put_length(out, at);
}

static void go_frames_put_advance(struct buf *out, uint64_t bytes)
{
	if (bytes && bytes < SHORT_ADVANCE) {
		buf_put_u8(out, (uint8_t)(DW_CFA_advance_loc | bytes));
	} else if (bytes) {
		buf_put_u8(out, DW_CFA_advance_loc4);
		buf_put_u32(out, (uint32_t)bytes);
	}
}

static void go_frames_put_size(const struct go_machine *m, struct buf *out,
			       uint32_t bytes)
{
	buf_put_u8(out, DW_CFA_def_cfa_offset);
	buf_put_varint(out, bytes + (m->pushes ? WORD_BYTES : 0ULL));
	if (m->pushes)
		return;
	buf_put_u8(out, bytes ? DW_CFA_offset_extended : DW_CFA_same_value);
	buf_put_u8(out, m->return_reg);
	if (bytes)
		buf_put_varint(out, bytes / WORD_BYTES);
}

/* Adds a function, unless the table has no sizes. */
static void go_frames_put_function(const struct go_machine *m, const struct go_table *t,
				   const struct go_function *fn, struct buf *out)
{
	size_t at = out->len;
	uint64_t last = fn->low;
	struct go_runs runs;
	bool any = false;

	if (fn->high - fn->low > UINT32_MAX)
		return;
	buf_put_u32(out, 0);
	buf_put_u32(out, 0); /* offset of the CIE */
	buf_put_u64(out, fn->low);
	buf_put_u64(out, fn->high - fn->low);
	/* The first function of a stack has no caller. */
	if (fn->is_first) {
		buf_put_u8(out, DW_CFA_undefined);
		buf_put_u8(out, m->return_reg);
	}
	go_runs_begin(&runs, t, fn, GO_FRAME);
	while (go_runs_next(&runs) && runs.value >= 0) {
		any = out->len < UNWIND_GO_MAX_BYTES;
		if (!any)
			break;
		go_frames_put_advance(out, runs.low - last);
		last = runs.low;
		if (!fn->is_first || m->pushes)
			go_frames_put_size(m, out, (uint32_t)runs.value);
	}
	if (any)
		go_frames_put_length(out, at);
	else if (!out->failed)
		out->len = at;
}

int unwind_go_frames(struct elf_file *f, struct buf *out)
{
	const struct go_machine *m = NULL;
	struct go_table *t;
	int r;

	for (size_t i = 0; i < COUNT_OF(machines); i++)
		if (machines[i].machine == f->machine)
			m = &machines[i];
	if (!m)
		return 0;
	r = go_table_open(f, false, &t);
	if (r)
		return r == -ENOMEM ? r : 0;
	go_frames_put_cie(m, out);
	for (size_t i = 0; i < go_table_count(t) && out->len < UNWIND_GO_MAX_BYTES;
	     i++) {
		struct go_function fn;

		if (go_table_function(t, i, &fn))
			go_frames_put_function(m, t, &fn, out);
	}
	go_table_free(t);
	return out->failed ? -ENOMEM : 0;
}
