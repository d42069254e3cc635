/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relocated.h - bytes of a position-independent file as the dynamic linker changes them.
 * Layer: resolve. */
#pragma once
#include <stdint.h>

struct elf_file;
struct elf_section;

/* Copies the bytes of a section to newly allocated memory, followed by one zero byte, and sets
 * the pointers in it to link-time addresses. Linkers can leave zeros there if the relocation
 * contains the address (SHT_RELA). Returns 0 or an error of elf_file_section_bytes(). */
int elf_relocated_bytes(const struct elf_file *f, const struct elf_section *s,
			uint64_t max, uint8_t **ret_bytes);
