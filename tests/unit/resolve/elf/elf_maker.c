/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/elf/elf_maker.h"

#include <elf.h>
#include <string.h>

enum {
	NR_SECTIONS = ELF_MAKER_FIRST_EXTRA,
	NR_SEGMENTS = 3
};

struct writer {
	const struct elf_maker *m;
	struct buf *out;
};

static void put(const struct writer *w, uint64_t v, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++) {
		unsigned int at = w->m->big_endian ? bytes - 1 - i : i;

		buf_put_u8(w->out, (uint8_t)(v >> (8 * at)));
	}
}

static void put_word(const struct writer *w, uint64_t v)
{
	put(w, v, w->m->is64 ? 8 : 4);
}

struct layout {
	uint64_t note, note_bytes;
	uint64_t symbols, symbols_bytes;
	uint64_t strings, strings_bytes;
	uint64_t sections;
	size_t nr_sections;
	uint64_t extras;
};

/* Returns the file offset of a section's bytes; `end` is the end of the file before it is
 * added. */
static uint64_t extra_offset(const struct elf_maker_section *s, uint64_t end)
{
	return s->vaddr ? s->vaddr - ELF_MAKER_VADDR + ELF_MAKER_OFFSET : end;
}

static uint64_t header_bytes(bool is64)
{
	return is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
}

static struct layout lay_out(const struct elf_maker *m)
{
	uint64_t symbol = m->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t segment = m->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	struct layout l;

	l.note = header_bytes(m->is64) + NR_SEGMENTS * segment;
	l.note_bytes = m->build_id ? 16 + ((m->build_id_len + 3) & ~(size_t)3) : 0;
	l.symbols = l.note + l.note_bytes;
	l.symbols_bytes = (m->nr_symbols + 1) * symbol;
	l.strings = l.symbols + l.symbols_bytes;
	l.strings_bytes = 1;
	for (size_t i = 0; i < m->nr_symbols; i++)
		l.strings_bytes += strlen(m->symbols[i].name) + 1;
	l.sections = l.strings + l.strings_bytes;
	l.nr_sections = NR_SECTIONS + (m->nr_sections ? m->nr_sections + 1 : 0);
	l.extras = l.sections;
	if (!m->no_sections)
		l.extras += l.nr_sections *
			    (m->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
	return l;
}

static void put_header(const struct writer *w, const struct layout *l)
{
	const struct elf_maker *m = w->m;
	bool counted = !m->no_sections && !m->extended_count;

	buf_put(w->out, ELFMAG, SELFMAG);
	buf_put_u8(w->out, m->is64 ? ELFCLASS64 : ELFCLASS32);
	buf_put_u8(w->out, m->big_endian ? ELFDATA2MSB : ELFDATA2LSB);
	buf_put_u8(w->out, EV_CURRENT);
	put(w, 0, 8);
	buf_put_u8(w->out, 0);
	put(w, ET_DYN, 2);
	put(w, m->machine, 2);
	put(w, EV_CURRENT, 4);
	put_word(w, ELF_MAKER_VADDR);
	put_word(w, header_bytes(m->is64));
	put_word(w, m->no_sections ? 0 : l->sections);
	put(w, 0, 4);
	put(w, header_bytes(m->is64), 2);
	put(w, m->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), 2);
	put(w, NR_SEGMENTS, 2);
	put(w, m->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
	put(w, counted ? l->nr_sections : 0, 2);
	put(w, m->nr_sections ? l->nr_sections - 1 : 0, 2);
}

static void put_segment(const struct writer *w, uint32_t type, uint32_t flags,
			uint64_t offset, uint64_t vaddr, uint64_t bytes)
{
	put(w, type, 4);
	if (w->m->is64)
		put(w, flags, 4);
	put_word(w, offset);
	put_word(w, vaddr);
	put_word(w, vaddr);
	put_word(w, bytes);
	put_word(w, bytes);
	if (!w->m->is64)
		put(w, flags, 4);
	put_word(w, 4);
}

static void put_symbol(const struct writer *w, uint32_t name,
		       const struct elf_maker_symbol *s, uint8_t other)
{
	put(w, name, 4);
	if (!w->m->is64) {
		put(w, s->value, 4);
		put(w, s->size, 4);
	}
	put(w, ELF64_ST_INFO(s->bind, s->type), 1);
	put(w, other, 1);
	put(w, s->section, 2);
	if (w->m->is64) {
		put(w, s->value, 8);
		put(w, s->size, 8);
	}
}

static void put_section(const struct writer *w, const Elf64_Shdr *s)
{
	put(w, s->sh_name, 4);
	put(w, s->sh_type, 4);
	put_word(w, s->sh_flags);
	put_word(w, s->sh_addr);
	put_word(w, s->sh_offset);
	put_word(w, s->sh_size);
	put(w, s->sh_link, 4);
	put(w, 0, 4);
	put_word(w, 4);
	put_word(w, s->sh_entsize);
}

static void put_sections(const struct writer *w, const struct layout *l)
{
	const struct elf_maker *m = w->m;
	uint64_t entry = m->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	const Elf64_Shdr sections[NR_SECTIONS] = {
		{ .sh_size = m->extended_count ? l->nr_sections : 0 },
		{ .sh_type = SHT_NOBITS,
		  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		  .sh_addr = ELF_MAKER_VADDR,
		  .sh_offset = ELF_MAKER_OFFSET,
		  .sh_size = ELF_MAKER_BYTES / 2 },
		{ .sh_type = SHT_NOTE, .sh_offset = l->note, .sh_size = l->note_bytes },
		{ .sh_type = m->dynsym ? SHT_DYNSYM : SHT_SYMTAB,
		  .sh_offset = l->symbols,
		  .sh_size = l->symbols_bytes,
		  .sh_link = 4,
		  .sh_entsize = m->symbol_entry_bytes ? m->symbol_entry_bytes : entry },
		{ .sh_type = SHT_STRTAB,
		  .sh_offset = l->strings,
		  .sh_size = l->strings_bytes },
		{ .sh_type = SHT_NOBITS,
		  .sh_flags = SHF_ALLOC | SHF_WRITE,
		  .sh_addr = ELF_MAKER_VADDR + ELF_MAKER_BYTES / 2,
		  .sh_offset = ELF_MAKER_OFFSET + ELF_MAKER_BYTES / 2,
		  .sh_size = ELF_MAKER_BYTES / 2 },
	};

	for (size_t i = 0; i < NR_SECTIONS; i++)
		put_section(w, &sections[i]);
}

static void put_extra_sections(const struct writer *w, const struct layout *l)
{
	const struct elf_maker *m = w->m;
	uint64_t end = l->extras;
	uint64_t names = 1;

	for (size_t i = 0; i < m->nr_sections; i++) {
		const struct elf_maker_section *s = &m->sections[i];
		const Elf64_Shdr section = { .sh_name = (uint32_t)names,
					     .sh_type = s->type,
					     .sh_flags = s->flags,
					     .sh_addr = s->vaddr,
					     .sh_offset = extra_offset(s, end),
					     .sh_size = s->len,
					     .sh_link = s->link,
					     .sh_entsize = s->entry_bytes };

		put_section(w, &section);
		end = section.sh_offset + s->len;
		names += strlen(s->name) + 1;
	}
	if (m->nr_sections)
		put_section(w, &(const Elf64_Shdr){ .sh_type = SHT_STRTAB,
						    .sh_offset = end,
						    .sh_size = names });
}

static void put_extra_bytes(const struct writer *w)
{
	const struct elf_maker *m = w->m;

	for (size_t i = 0; i < m->nr_sections; i++) {
		while (w->out->len < extra_offset(&m->sections[i], w->out->len))
			buf_put_u8(w->out, 0);
		buf_put(w->out, m->sections[i].bytes, m->sections[i].len);
	}
	buf_put_u8(w->out, 0);
	for (size_t i = 0; i < m->nr_sections; i++)
		buf_put(w->out, m->sections[i].name, strlen(m->sections[i].name) + 1);
}

static void put_note(const struct writer *w)
{
	const struct elf_maker *m = w->m;

	put(w, sizeof("GNU"), 4);
	put(w, m->build_id_len, 4);
	put(w, NT_GNU_BUILD_ID, 4);
	buf_put(w->out, "GNU", sizeof("GNU"));
	buf_put(w->out, m->build_id, m->build_id_len);
	put(w, 0, -m->build_id_len & 3);
}

void elf_maker_write(const struct elf_maker *m, struct buf *out)
{
	static const struct elf_maker_symbol none = { 0 };
	struct layout l = lay_out(m);
	struct writer w = { m, out };
	uint32_t name = 1;

	put_header(&w, &l);
	put_segment(&w, PT_LOAD, PF_R | PF_X, ELF_MAKER_OFFSET, ELF_MAKER_VADDR,
		    ELF_MAKER_BYTES);
	put_segment(&w, PT_NOTE, PF_R, l.note, l.note, l.note_bytes);
	put_segment(&w, m->eh_frame_hdr ? PT_GNU_EH_FRAME : PT_NULL, PF_R,
		    m->eh_frame_hdr - ELF_MAKER_VADDR + ELF_MAKER_OFFSET,
		    m->eh_frame_hdr, 4);
	if (m->build_id)
		put_note(&w);
	put_symbol(&w, 0, &none, 0);
	for (size_t i = 0; i < m->nr_symbols; i++) {
		put_symbol(&w, name, &m->symbols[i], m->others ? m->others[i] : 0);
		name += (uint32_t)strlen(m->symbols[i].name) + 1;
	}
	buf_put_u8(out, 0);
	for (size_t i = 0; i < m->nr_symbols; i++)
		buf_put(out, m->symbols[i].name, strlen(m->symbols[i].name) + 1);
	if (!m->no_sections) {
		put_sections(&w, &l);
		put_extra_sections(&w, &l);
	}
	if (m->nr_sections)
		put_extra_bytes(&w);
}
