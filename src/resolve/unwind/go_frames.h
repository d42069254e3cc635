/* SPDX-License-Identifier: GPL-2.0-or-later */
/* go_frames.h - makes unwind rules for Go programs from which .debug_frame was stripped: Go's
 * own table (resolve/go/table.h) contains the size of the frame at each instruction.
 * Layer: resolve, for unwind tables. For x86-64 and AArch64. */
#pragma once

struct buf;
struct elf_file;

enum {
	/* Limit; real programs need a tenth. */
	UNWIND_GO_MAX_BYTES = 64 << 20
};

/* Appends a .debug_frame for the functions of the table to `out`, or nothing if the file has no
 * table. Call elf_file_sections() first. Returns 0 or -ENOMEM. */
int unwind_go_frames(struct elf_file *f, struct buf *out);
