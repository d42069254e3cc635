/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/elf/pe.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "base/err.h"
#include "resolve/elf/file.h"

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

enum {
	DOS_NEW_HEADER = 0x3c,
	DOS_HEADER_BYTES = 0x40,
	SIGNATURE_BYTES = 4,
	FILE_HEADER_BYTES = 20,
	OPTIONAL_HEADER_MAX = 256,
	MAGIC_32 = 0x10b,
	MAGIC_64 = 0x20b,
	SUBSYSTEM_AT = 68,
	SUBSYSTEM_EFI_FIRST = 10,
	SUBSYSTEM_EFI_LAST = 13,
	SECTION_BYTES = 40,
	SECTION_SHORT_NAME = 8,
	SECTION_NAME_MAX = 256,
	SYMBOL_BYTES = 18,
	CONTAINS_CODE = 0x20,
	DISCARDABLE = 0x02000000,
	EXECUTABLE = 0x20000000,
	WRITABLE_SHIFT = 31,
	FUNCTION_BYTES = 12,
	FUNCTIONS_MAX_BYTES = 1 << 26,
	UNWIND_CHAINED = 4,
	DEBUG_ENTRIES_MAX = 32,
	DEBUG_ENTRY_BYTES = 28,
	DEBUG_ENTRY_TYPE = 12,
	DEBUG_ENTRY_OFFSET = 24,
	DEBUG_CODEVIEW = 2
};

static uint16_t pe_machine(uint16_t machine)
{
	static const uint16_t machines[][2] = {
		{ 0x8664, EM_X86_64 }, { 0x14c, EM_386 },        { 0xaa64, EM_AARCH64 },
		{ 0x1c0, EM_ARM },     { 0x1c2, EM_ARM },        { 0x1c4, EM_ARM },
		{ 0x5064, EM_RISCV },  { 0x6264, EM_LOONGARCH },
	};

	for (size_t i = 0; i < COUNT_OF(machines); i++)
		if (machines[i][0] == machine)
			return machines[i][1];
	return EM_NONE;
}

/* Returns the file offset of the header's signature; 0: none. */
static uint32_t pe_signature_at(const struct elf_file *f)
{
	struct cursor c = cursor_le(f->head, f->head_len);
	uint8_t signature[SIGNATURE_BYTES];
	uint32_t at;

	if (f->head_len < DOS_HEADER_BYTES || memcmp(f->head, "MZ", 2) != 0)
		return 0;
	c.pos = DOS_NEW_HEADER;
	at = cursor_u32(&c);
	if (elf_file_read(f, at, signature, sizeof(signature)) ||
	    memcmp(signature, "PE\0\0", sizeof(signature)) != 0)
		return 0;
	return at;
}

bool pe_is_image(const struct elf_file *f)
{
	return pe_signature_at(f);
}

/* Reads the optional header, which executable files have. Firmware, such as a kernel that can be
 * booted by EFI, is never mapped. */
static int pe_read_optional(struct elf_file *f, uint64_t at, uint16_t bytes)
{
	uint8_t raw[OPTIONAL_HEADER_MAX];
	size_t len = bytes < sizeof(raw) ? bytes : sizeof(raw);
	struct cursor c = cursor_of(raw, len, f->swap);
	uint16_t magic, subsystem;

	if (elf_file_read(f, at, raw, len))
		return -EBADMSG;
	magic = cursor_u16(&c);
	if (magic != MAGIC_32 && magic != MAGIC_64)
		return -EBADMSG;
	f->is64 = magic == MAGIC_64;
	c.pos = f->is64 ? 24 : 28;
	f->pe.base = f->is64 ? cursor_u64(&c) : cursor_u32(&c);
	c.pos = SUBSYSTEM_AT;
	subsystem = cursor_u16(&c);
	c.pos = f->is64 ? 108 : 92;
	f->pe.nr_directories = cursor_u32(&c);
	f->pe.directories = at + (f->is64 ? 112 : 96);
	if (c.failed ||
	    (subsystem >= SUBSYSTEM_EFI_FIRST && subsystem <= SUBSYSTEM_EFI_LAST))
		return -EBADMSG;
	return 0;
}

/* Appends a section's name, and a NUL. "/123" is an offset in the table of long names. */
static void pe_put_name(const struct elf_file *f, const uint8_t *raw, struct buf *names)
{
	char text[SECTION_NAME_MAX] = "";
	uint64_t at = f->pe.symbols + (uint64_t)f->pe.nr_symbols * SYMBOL_BYTES;
	uint64_t offset = 0;
	uint64_t len;

	memcpy(text, raw, SECTION_SHORT_NAME);
	if (text[0] == '/' && f->pe.symbols) {
		for (const char *c = text + 1; *c >= '0' && *c <= '9'; c++)
			offset = offset * 10 + (uint64_t)(*c - '0');
		at += offset;
		len = f->len > at ? f->len - at : 0;
		if (len > sizeof(text) - 1)
			len = sizeof(text) - 1;
		if (len && !elf_file_read(f, at, text, (size_t)len))
			text[len] = '\0';
	}
	buf_put(names, text, strlen(text) + 1);
}

/* Adds a section, and the segment as which it is mapped. Returns false if memory runs out. */
static bool pe_add_section(struct elf_file *f, const uint8_t *raw, uint32_t name)
{
	struct cursor c = cursor_of(raw, SECTION_BYTES, f->swap);
	struct elf_section s = { .name = name, .type = SHT_PROGBITS };
	struct elf_segment segment = { .type = PT_LOAD, .flags = PF_R };
	uint64_t virtual_bytes;
	uint32_t flags;

	c.pos = SECTION_SHORT_NAME;
	virtual_bytes = cursor_u32(&c);
	s.vaddr = f->pe.base + cursor_u32(&c);
	s.bytes = cursor_u32(&c);
	s.offset = cursor_u32(&c);
	c.pos = SECTION_BYTES - 4;
	flags = cursor_u32(&c);
	/* In the file, sections are padded, so the size in memory is the true size. */
	if (virtual_bytes && virtual_bytes < s.bytes)
		s.bytes = virtual_bytes;
	segment.offset = s.offset;
	segment.vaddr = s.vaddr;
	segment.file_bytes = s.bytes;
	segment.mem_bytes = virtual_bytes ? virtual_bytes : s.bytes;
	if (!s.bytes || !s.offset)
		s.type = SHT_NOBITS;
	if (!(flags & DISCARDABLE))
		s.flags |= SHF_ALLOC;
	if (flags & (EXECUTABLE | CONTAINS_CODE)) {
		s.flags |= SHF_EXECINSTR;
		segment.flags |= PF_X;
	}
	if (flags >> WRITABLE_SHIFT) {
		s.flags |= SHF_WRITE;
		segment.flags |= PF_W;
	}
	if (s.type == SHT_PROGBITS && (s.flags & SHF_ALLOC) &&
	    f->segments.nr < ELF_SEGMENTS_MAX && !vec_push(&f->segments, segment))
		return false;
	return vec_push(&f->sections, s);
}

static int pe_read_sections(struct elf_file *f, uint64_t at, uint32_t nr)
{
	struct buf names = { 0 };
	int r = 0;

	buf_put_u8(&names, 0);
	for (uint32_t i = 0; !r && i < nr; i++) {
		uint8_t raw[SECTION_BYTES];
		uint32_t name = (uint32_t)names.len;

		r = elf_file_read(f, at + (uint64_t)i * SECTION_BYTES, raw,
				  sizeof(raw));
		if (r)
			break;
		pe_put_name(f, raw, &names);
		if (!pe_add_section(f, raw, name))
			r = -ENOMEM;
	}
	if (names.failed)
		r = -ENOMEM;
	if (r) {
		buf_done(&names);
		return r;
	}
	f->section_names = (char *)names.data;
	f->section_names_len = names.len;
	f->nr_sections = f->sections.nr;
	return 0;
}

int pe_init(struct elf_file *f, struct err *err)
{
	uint8_t raw[FILE_HEADER_BYTES];
	struct cursor c;
	uint64_t at;
	uint32_t nr;
	uint16_t optional_bytes;
	int r;

	f->swap = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
	f->is_pe = true;
	f->type = ET_DYN;
	at = pe_signature_at(f) + (uint64_t)SIGNATURE_BYTES;
	r = elf_file_read(f, at, raw, sizeof(raw));
	if (r)
		return err_set(err, r, "PE header is truncated");
	c = cursor_of(raw, sizeof(raw), f->swap);
	f->machine = pe_machine(cursor_u16(&c));
	nr = cursor_u16(&c);
	cursor_u32(&c); /* the time stamp */
	f->pe.symbols = cursor_u32(&c);
	f->pe.nr_symbols = cursor_u32(&c);
	optional_bytes = cursor_u16(&c);
	at += FILE_HEADER_BYTES;
	r = pe_read_optional(f, at, optional_bytes);
	if (r)
		return err_set(err, r, "neither an ELF file nor a Windows program");
	at += optional_bytes;
	f->shoff = at;
	f->section_bytes = SECTION_BYTES;
	r = pe_read_sections(f, at, nr < PE_SECTIONS_MAX ? nr : PE_SECTIONS_MAX);
	return r ? err_set(err, r, "PE section headers are truncated") : 0;
}

bool pe_directory(const struct elf_file *f, uint32_t number, uint64_t *ret_vaddr,
		  uint64_t *ret_bytes)
{
	uint8_t raw[8];
	struct cursor c = cursor_of(raw, sizeof(raw), f->swap);
	uint32_t rva;

	if (!f->is_pe || number >= f->pe.nr_directories ||
	    elf_file_read(f, f->pe.directories + 8 * (uint64_t)number, raw,
			  sizeof(raw)))
		return false;
	rva = cursor_u32(&c);
	*ret_vaddr = f->pe.base + rva;
	*ret_bytes = cursor_u32(&c);
	return rva && *ret_bytes;
}

/* Copies the bytes at an address. Returns false if they are not in the file. */
static bool pe_read_at(const struct elf_file *f, uint64_t vaddr, void *ret_bytes,
		       size_t len)
{
	for (size_t i = 0; i < f->segments.nr; i++) {
		const struct elf_segment *s = &f->segments.at[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->file_bytes)
			return !elf_file_read(f, s->offset + (vaddr - s->vaddr),
					      ret_bytes, len);
	}
	return false;
}

/* Copies the GUID of an RSDS record, whose first numbers are little-endian, also on other machines,
 * in the order of a build-id. */
static void pe_swap_guid(const uint8_t *raw, uint8_t *ret_guid)
{
	static const uint8_t order[] = { 3, 2, 1, 0, 5, 4, 7, 6 };

	memcpy(ret_guid, raw, PE_GUID_BYTES);
	for (size_t i = 0; i < COUNT_OF(order); i++)
		ret_guid[i] = raw[order[i]];
}

bool pe_read_guid(const struct elf_file *f, uint8_t ret_guid[PE_GUID_BYTES])
{
	uint64_t vaddr, bytes;

	if (!pe_directory(f, PE_DEBUG, &vaddr, &bytes) ||
	    bytes > (uint64_t)DEBUG_ENTRIES_MAX * DEBUG_ENTRY_BYTES)
		return false;
	for (; bytes >= DEBUG_ENTRY_BYTES; bytes -= DEBUG_ENTRY_BYTES) {
		uint8_t entry[DEBUG_ENTRY_BYTES], record[4 + PE_GUID_BYTES];
		struct cursor c = cursor_of(entry, sizeof(entry), f->swap);

		if (!pe_read_at(f, vaddr, entry, sizeof(entry)))
			return false;
		vaddr += DEBUG_ENTRY_BYTES;
		c.pos = DEBUG_ENTRY_TYPE;
		if (cursor_u32(&c) != DEBUG_CODEVIEW)
			continue;
		c.pos = DEBUG_ENTRY_OFFSET;
		if (elf_file_read(f, cursor_u32(&c), record, sizeof(record)) ||
		    memcmp(record, "RSDS", 4) != 0)
			continue;
		pe_swap_guid(record + 4, ret_guid);
		return true;
	}
	return false;
}

/* Returns the flags of an entry for unwinding. */
static uint8_t pe_unwind_flags(const struct elf_file *f, uint64_t vaddr)
{
	uint8_t byte = 0;

	return pe_read_at(f, vaddr, &byte, 1) ? byte >> 3 : 0;
}

/* Adds an entry of the table. A chained entry continues the function of the previous one. An entry
 * that is empty or overlaps the previous one is ignored. Returns false if memory runs out. */
static bool pe_add_function(const struct elf_file *f, struct cursor *c,
			    pe_functions *functions)
{
	struct pe_function fn;
	uint64_t unwind;

	fn.low = f->pe.base + cursor_u32(c);
	fn.high = f->pe.base + cursor_u32(c);
	unwind = f->pe.base + cursor_u32(c);
	if (functions->nr) {
		struct pe_function *last = &functions->at[functions->nr - 1];

		if (fn.low < last->high)
			return true;
		if (fn.low == last->high && fn.high > fn.low &&
		    pe_unwind_flags(f, unwind) & UNWIND_CHAINED) {
			last->high = fn.high;
			return true;
		}
	}
	return fn.low >= fn.high || vec_push(functions, fn);
}

int pe_read_functions(const struct elf_file *f, pe_functions *ret_functions)
{
	const struct elf_section *s = NULL;
	uint64_t vaddr, bytes;
	struct cursor c;
	uint8_t *table;
	int r;

	if (f->machine != EM_X86_64 || !pe_directory(f, PE_FUNCTIONS, &vaddr, &bytes) ||
	    bytes > FUNCTIONS_MAX_BYTES)
		return 0;
	for (size_t i = 0; i < f->sections.nr && !s; i++) {
		const struct elf_section *at = &f->sections.at[i];

		if (vaddr >= at->vaddr && vaddr - at->vaddr < at->bytes &&
		    bytes <= at->bytes - (vaddr - at->vaddr))
			s = at;
	}
	if (!s)
		return 0;
	r = elf_file_read_new(f, s->offset + (vaddr - s->vaddr), bytes, &table);
	if (r)
		return r == -ENOMEM ? r : 0;
	c = cursor_of(table, (size_t)bytes, f->swap);
	while (!r && cursor_left(&c) >= FUNCTION_BYTES)
		if (!pe_add_function(f, &c, ret_functions))
			r = -ENOMEM;
	free(table);
	return r;
}
