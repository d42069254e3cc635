/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/go/relocated.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cursor.h"
#include "resolve/elf/file.h"

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

enum {
	RELOCATIONS_MAX_BYTES = 1 << 28,
	LOONGARCH_RELATIVE = 3 /* R_LARCH_RELATIVE, which old headers lack */
};

/* Returns the type of relocation whose addend is the address to store; 0: unknown. */
static uint32_t elf_relocated_relative_type(uint16_t machine)
{
	static const struct {
		uint16_t machine;
		uint32_t type;
	} types[] = {
		{ EM_X86_64, R_X86_64_RELATIVE },
		{ EM_AARCH64, R_AARCH64_RELATIVE },
		{ EM_PPC64, R_PPC64_RELATIVE },
		{ EM_S390, R_390_RELATIVE },
		{ EM_RISCV, R_RISCV_RELATIVE },
		{ EM_PPC, R_PPC_RELATIVE },
		{ EM_LOONGARCH, LOONGARCH_RELATIVE },
	};

	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (types[i].machine == machine)
			return types[i].type;
	return 0;
}

static void elf_relocated_put_word(uint8_t *at, uint64_t word, const struct elf_file *f)
{
	uint32_t half = (uint32_t)word;

	if (f->is64) {
		word = f->swap ? __builtin_bswap64(word) : word;
		memcpy(at, &word, sizeof(word));
	} else {
		half = f->swap ? __builtin_bswap32(half) : half;
		memcpy(at, &half, sizeof(half));
	}
}

/* Applies the relocations in `table` to the bytes of `s`. */
static int elf_relocated_apply_table(const struct elf_file *f,
				     const struct elf_section *table,
				     const struct elf_section *s, uint8_t *bytes)
{
	size_t each = f->is64 ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela);
	size_t word_bytes = f->is64 ? 8 : 4;
	uint32_t wanted = elf_relocated_relative_type(f->machine);
	uint8_t *relocations;
	struct cursor c;
	int r = elf_file_section_bytes(f, table, RELOCATIONS_MAX_BYTES, &relocations);

	if (r)
		return r;
	c = cursor_of(relocations, (size_t)table->bytes, f->swap);
	while (cursor_left(&c) >= each) {
		uint64_t addr = f->is64 ? cursor_u64(&c) : cursor_u32(&c);
		uint64_t info = f->is64 ? cursor_u64(&c) : cursor_u32(&c);
		uint64_t addend = f->is64 ? cursor_u64(&c) : cursor_u32(&c);
		uint32_t type = (uint32_t)(f->is64 ? info : info & 0xff);

		if (type == wanted && addr >= s->vaddr && s->bytes >= word_bytes &&
		    addr - s->vaddr <= s->bytes - word_bytes)
			elf_relocated_put_word(bytes + (addr - s->vaddr), addend, f);
	}
	free(relocations);
	return 0;
}

int elf_relocated_bytes(const struct elf_file *f, const struct elf_section *s,
			uint64_t max, uint8_t **ret_bytes)
{
	uint8_t *bytes;
	int r = elf_file_section_bytes(f, s, max, &bytes);

	if (r)
		return r;
	for (size_t i = 0; i < f->sections.nr && f->type == ET_DYN; i++) {
		const struct elf_section *table = &f->sections.at[i];

		if (table->type != SHT_RELA || !(table->flags & SHF_ALLOC) ||
		    !elf_relocated_relative_type(f->machine))
			continue;
		/* Relocations that cannot be read leave the bytes as in the file. */
		if (elf_relocated_apply_table(f, table, s, bytes) == -ENOMEM) {
			free(bytes);
			return -ENOMEM;
		}
	}
	*ret_bytes = bytes;
	return 0;
}
