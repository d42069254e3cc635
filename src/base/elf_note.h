/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf_note.h - reads the notes of an ELF file, a process image or the kernel: name, type,
 * bytes.
 * Layer: base.  Source of the format: elf(5), "Notes (Nhdr)". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_note {
	uint32_t type;
	uint32_t name_len; /* including the terminating NUL */
	uint32_t desc_len;
	const char *name; /* borrowed; not NUL-terminated if the file is malformed */
	const uint8_t *desc;
};

/* Iterates over notes. `swap`: the file has the opposite byte order. Notes are padded to 4
 * bytes. */
struct elf_note_walk {
	const uint8_t *data;
	size_t len;
	size_t pos;
	bool swap;
};

struct elf_note_walk elf_note_walk_of(const void *notes, size_t len, bool swap);
/* Reads the next note. Returns 0, 1 at the end, or -EBADMSG if it is truncated. */
int elf_note_next(struct elf_note_walk *w, struct elf_note *ret_note);
/* Finds the first GNU build-id note. Stores a pointer to its bytes, borrowed from `notes`, and
 * their number, which can be any. Returns 0, -ENODATA if not found, or -EBADMSG. */
int elf_note_build_id(const void *notes, size_t len, bool swap, const uint8_t **ret_id,
		      size_t *ret_len);
