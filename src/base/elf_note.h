/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf_note.h - the notes of an ELF file, a process image or the kernel: name, type, bytes.
 * Layer: base.  Source of the format: elf(5), "Notes (Nhdr)". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_note {
	uint32_t type;
	uint32_t name_len; /* with its terminating NUL */
	uint32_t desc_len;
	const char *name; /* borrowed; not NUL-terminated if the file is broken */
	const uint8_t *desc;
};

/* A walk over a run of notes; `swap` if the file has the other byte order.  Notes are padded
 * to 4 bytes. */
struct elf_note_walk {
	const uint8_t *data;
	size_t len;
	size_t pos;
	bool swap;
};

struct elf_note_walk elf_note_walk_of(const void *notes, size_t len, bool swap);
/* 0 and the next note, 1 at the end, -EBADMSG if it is cut. */
int elf_note_next(struct elf_note_walk *w, struct elf_note *ret_note);
/* The first GNU build-id note: its bytes (borrowed from `notes`) and their number, which is
 * not limited here.  0, -ENODATA if there is none, -EBADMSG. */
int elf_note_build_id(const void *notes, size_t len, bool swap, const uint8_t **ret_id,
		      size_t *ret_len);
