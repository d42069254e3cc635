/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "alloc_fail.h"
#include "base/buf.h"
#include "resolve/elf/elf_maker.h"
#include "resolve/elf/file.h"
#include "resolve/symbolize/unnamed.h"
#include "resolve/symbols/plt.h"
#include "resolve/symbols/symtab.h"

enum {
	V = ELF_MAKER_VADDR,
	O = ELF_MAKER_OFFSET,
	PLT = 0x800, /* these three are distances from V and from O */
	ASM = 0x900,
	FRAMES = 0xa00,
	GOT = V + 0xc00,
	CODE = SHF_ALLOC | SHF_EXECINSTR
};

/* Two imported functions, as .dynsym has them: numbers 1 and 2. */
static const struct elf_maker_symbol imported[] = {
	{ "malloc", 0, 0, STT_FUNC, STB_GLOBAL, SHN_UNDEF },
	{ "free", 0, 0, STT_FUNC, STB_GLOBAL, SHN_UNDEF },
	{ "known", V, 0x10, STT_FUNC, STB_GLOBAL, ELF_MAKER_TEXT },
	{ "cut_short", V + 0x200, 4, STT_FUNC, STB_GLOBAL, ELF_MAKER_TEXT },
};

static void put(struct buf *b, uint64_t v, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		buf_put_u8(b, (uint8_t)(i < 8 ? v >> (8 * i) : 0));
}

/* The slot GOT + 8 * i is for symbol i + 1. */
static void put_relocations(struct buf *b, bool is64)
{
	for (unsigned int i = 0; i < 2; i++) {
		put(b, GOT + 8 * (1 - i), is64 ? 8 : 4);
		put(b, is64 ? (uint64_t)(2 - i) << 32 | 7 : (2 - i) << 8 | 7,
		    is64 ? 8 : 4);
		if (is64)
			put(b, 0, 8);
	}
}

static struct elf_maker maker(uint16_t machine, bool is64,
			      const struct elf_maker_section *sections, size_t nr)
{
	return (struct elf_maker){ .is64 = is64,
				   .machine = machine,
				   .dynsym = true,
				   .symbols = imported,
				   .nr_symbols = 4,
				   .sections = sections,
				   .nr_sections = nr };
}

static struct symtab *load_plt(uint16_t machine, bool is64, const char *name,
			       const struct buf *code, size_t entry)
{
	struct buf relocations = { 0 };
	const struct elf_maker_section sections[] = {
		{ is64 ? ".rela.plt" : ".rel.plt", is64 ? SHT_RELA : SHT_REL, SHF_ALLOC,
		  0, NULL, 0, ELF_MAKER_SYMBOLS, 0 },
		{ name, SHT_PROGBITS, CODE, V + PLT, code->data, code->len, 0, entry },
		{ ".got.plt", SHT_PROGBITS, SHF_ALLOC, GOT, "", 1, 0, 0 },
	};
	struct elf_maker_section filled[3];
	struct elf_maker m = maker(machine, is64, filled, 3);
	struct symtab *tab;
	struct buf b = { 0 };
	struct elf_file f;

	put_relocations(&relocations, is64);
	memcpy(filled, sections, sizeof(filled));
	filled[0].bytes = relocations.data;
	filled[0].len = relocations.len;
	elf_maker_write(&m, &b);
	assert_int_equal(elf_file_init_bytes(&f, b.data, b.len, NULL), 0);
	assert_int_equal(elf_file_sections(&f, NULL), 0);
	assert_int_equal(plt_load(&f, &tab), 0);
	elf_file_done(&f);
	buf_done(&relocations);
	buf_done(&b);
	return tab;
}

static void expect(const struct symtab *tab, uint64_t offset, const char *name)
{
	const struct symbol *s = symtab_find(tab, O + offset);

	assert_string_equal(s ? s->name : "-", name);
}

static void names_plt_of_x86_64(void **state)
{
	struct buf code = { 0 };
	struct symtab *tab;

	(void)state;
	put(&code, 0x35ff, 2); /* push: the table's first entry has no name */
	put(&code, 0, 14);
	put(&code, 0x25ff, 2); /* jmp *malloc's slot */
	put(&code, (uint32_t)(GOT - (V + PLT + 0x16)), 4);
	put(&code, 0, 10);
	put(&code, 0xfa1e0ff3, 4); /* endbr64; bnd jmp *free's slot */
	put(&code, 0x25fff2, 3);
	put(&code, (uint32_t)(GOT + 8 - (V + PLT + 0x2b)), 4);
	put(&code, 0, 5);
	put(&code, 0x25ff, 2); /* a slot without a relocation */
	put(&code, 0x1000, 4);
	put(&code, 0, 10);
	put(&code, 0x25ff, 2); /* cut */
	tab = load_plt(EM_X86_64, true, ".plt", &code, 16);
	assert_int_equal(symtab_count(tab), 2);
	expect(tab, PLT + 0x0f, "-");
	expect(tab, PLT + 0x10, "malloc@plt");
	expect(tab, PLT + 0x1f, "malloc@plt");
	expect(tab, PLT + 0x20, "free@plt");
	expect(tab, PLT + 0x30, "-");
	assert_int_equal(symtab_at(tab, 1)->vaddr.v, V + PLT + 0x20);
	symtab_free(tab);
	buf_done(&code);
}

static void names_short_plt_of_x86_64(void **state)
{
	struct buf code = { 0 };
	struct symtab *tab;

	(void)state;
	put(&code, 0x25ff, 2);
	put(&code, (uint32_t)(GOT + 8 - (V + PLT + 6)), 4);
	put(&code, 0x9066, 2);
	put(&code, 0x25ff, 2);
	put(&code, (uint32_t)(GOT - (V + PLT + 14)), 4);
	put(&code, 0x9066, 2);
	tab = load_plt(EM_X86_64, true, ".plt.got", &code, 8);
	expect(tab, PLT + 7, "free@plt");
	expect(tab, PLT + 8, "malloc@plt");
	symtab_free(tab);
	buf_done(&code);
}

static void names_plt_of_i386(void **state)
{
	struct buf code = { 0 };
	struct symtab *tab;

	(void)state;
	put(&code, 0x25ff, 2); /* by address */
	put(&code, GOT, 4);
	put(&code, 0, 10);
	put(&code, 0xa3ff, 2); /* from ebx, which points to .got.plt */
	put(&code, 8, 4);
	put(&code, 0, 10);
	tab = load_plt(EM_386, false, ".plt", &code, 16);
	expect(tab, PLT, "malloc@plt");
	expect(tab, PLT + 0x1f, "free@plt");
	symtab_free(tab);
	buf_done(&code);
}

static void names_plt_of_arm64(void **state)
{
	struct buf code = { 0 };
	struct symtab *tab;

	(void)state;
	put(&code, 0xa9bf7bf0, 4); /* stp: the first entry, 32 bytes */
	put(&code, 0x90000010, 4); /* adrp, ldr from another slot */
	put(&code, 0xf9400211 | (0xfe8 / 8) << 10, 4);
	put(&code, 0, 20);
	put(&code, 0x90000010, 4); /* adrp x16: this page */
	put(&code, 0xf9400211 | (0xc00 / 8) << 10, 4);
	put(&code, 0x91300210, 4);
	put(&code, 0xd61f0220, 4);
	put(&code, 0xd503245f, 4); /* bti c */
	put(&code, 0xb0000010, 4); /* the next page, just after the target */
	put(&code, 0xf9400211, 4);
	put(&code, 0, 8);
	put(&code, 0xd503245f, 4);
	put(&code, 0x90000010, 4);
	put(&code, 0xf9400211 | (0xc08 / 8) << 10, 4);
	put(&code, 0, 8);
	tab = load_plt(EM_AARCH64, true, ".plt", &code, 0);
	assert_int_equal(symtab_count(tab), 2);
	expect(tab, PLT + 0x1f, "-");
	expect(tab, PLT + 0x20, "malloc@plt");
	expect(tab, PLT + 0x2f, "malloc@plt");
	expect(tab, PLT + 0x30, "-");
	expect(tab, PLT + 0x44, "free@plt");
	symtab_free(tab);
	buf_done(&code);
}

/* Writes a PLT entry of RISC-V at `vaddr`, which jumps to the address in `slot`. */
static void put_riscv(struct buf *code, uint64_t vaddr, uint64_t slot, bool is64)
{
	/* auipc t3, 0; ld (lw) t3, distance(t3); jalr t1, t3; nop */
	put(code, 0xe17, 4);
	put(code, (uint32_t)(slot - vaddr) << 20 | (is64 ? 0xe3e03 : 0xe2e03), 4);
	put(code, 0x000e0367, 4);
	put(code, 0x13, 4);
}

static void names_plt_of_riscv(void **state)
{
	(void)state;
	for (int is64 = 0; is64 < 2; is64++) {
		struct buf code = { 0 };
		struct symtab *tab;

		put(&code, 0x00060397, 4); /* the table's head: auipc t2 */
		put(&code, 0, 28);
		put_riscv(&code, V + PLT + 0x20, GOT, is64);
		put_riscv(&code, V + PLT + 0x30, GOT + 8, is64);
		put_riscv(&code, V + PLT + 0x40, GOT + 16, is64); /* of no symbol */
		put(&code, 0xe17, 4);                             /* cut */
		tab = load_plt(EM_RISCV, is64, ".plt", &code, 16);
		assert_int_equal(symtab_count(tab), 2);
		expect(tab, PLT + 0x1f, "-");
		expect(tab, PLT + 0x20, "malloc@plt");
		expect(tab, PLT + 0x3f, "free@plt");
		expect(tab, PLT + 0x40, "-");
		symtab_free(tab);
		buf_done(&code);
	}
}

/* Writes two FDEs: V + 0x100..0x180 without a symbol, V + 0x200..0x240, where a symbol begins. */
static void put_frames(struct buf *b)
{
	static const uint64_t functions[][2] = { { V + 0x100, 0x80 },
						 { V + 0x200, 0x40 } };

	put(b, 12, 4);
	put(b, 0, 4);
	put(b, 1, 2); /* version, no augmentation */
	put(b, 0x107801, 6);
	for (unsigned int i = 0; i < 2; i++) {
		put(b, 20, 4);
		put(b, b->len, 4);
		put(b, functions[i][0], 8);
		put(b, functions[i][1], 8);
	}
	put(b, 0, 4);
}

/* Writes an x86-64 file with a PLT (nameless here), a section of bare assembly, and FDEs. */
static void write_file(bool with_symbols, struct buf *out)
{
	static const uint8_t code[0x20];
	struct buf frames = { 0 };
	struct elf_maker_section sections[] = {
		{ ".plt", SHT_PROGBITS, CODE, V + PLT, code, sizeof(code), 0, 16 },
		{ ".text.asm", SHT_PROGBITS, CODE, V + ASM, code, sizeof(code), 0, 0 },
		{ ".eh_frame", SHT_PROGBITS, SHF_ALLOC, V + FRAMES, NULL, 0, 0, 0 },
	};
	struct elf_maker m = maker(EM_X86_64, true, sections, 3);

	put_frames(&frames);
	sections[2].bytes = frames.data;
	sections[2].len = frames.len;
	if (!with_symbols)
		m.nr_symbols = 2;
	elf_maker_write(&m, out);
	buf_done(&frames);
}

struct file {
	struct buf bytes;
	struct elf_file elf;
	struct symtab *tab;
	struct unnamed *unnamed;
};

static void open_file(struct file *f, bool with_symbols)
{
	int r;

	memset(f, 0, sizeof(*f));
	write_file(with_symbols, &f->bytes);
	r = symtab_load_elf_bytes(f->bytes.data, f->bytes.len, &f->tab, NULL);
	assert_int_equal(r, with_symbols ? 0 : -ENODATA);
	assert_int_equal(
		elf_file_init_bytes(&f->elf, f->bytes.data, f->bytes.len, NULL), 0);
	assert_int_equal(unnamed_new(&f->elf, f->tab, &f->unnamed), 0);
}

static void close_file(struct file *f)
{
	unnamed_free(f->unnamed);
	elf_file_done(&f->elf);
	symtab_free(f->tab);
	buf_done(&f->bytes);
}

static const char *name_at(struct file *f, uint64_t offset, enum unnamed_kind kind)
{
	enum unnamed_part part = unnamed_needs(f->unnamed, O + offset);
	enum unnamed_kind found = kind;
	const struct symbol *s;

	assert_int_equal(unnamed_read(f->unnamed, &f->elf, part), 0);
	assert_int_equal(unnamed_needs(f->unnamed, O + offset), UNNAMED_READ_NOTHING);
	s = unnamed_find(f->unnamed, O + offset, &found);
	if (!s)
		return "-";
	assert_int_equal(found, kind);
	assert_ptr_equal(s, unnamed_find(f->unnamed, O + offset, &found));
	return s->name;
}

static void names_functions_and_sections(void **state)
{
	struct file f;

	(void)state;
	open_file(&f, true);
	assert_int_equal(unnamed_needs(f.unnamed, O + PLT), UNNAMED_READ_PLT);
	assert_int_equal(unnamed_needs(f.unnamed, O + ASM), UNNAMED_READ_UNWIND);
	assert_string_equal(name_at(&f, 0x100, UNNAMED_FUNCTION), "0x401100");
	assert_string_equal(name_at(&f, 0x17f, UNNAMED_FUNCTION), "0x401100");
	assert_string_equal(name_at(&f, 0x180, UNNAMED_FUNCTION), "-");
	assert_string_equal(name_at(&f, 0x23f, UNNAMED_NAMED), "cut_short");
	assert_string_equal(name_at(&f, ASM + 5, UNNAMED_SECTION),
			    "anonymous symbol from section .text.asm");
	assert_string_equal(name_at(&f, PLT, UNNAMED_SECTION),
			    "anonymous symbol from section .plt");
	assert_string_equal(unnamed_section(f.unnamed, O + ASM), ".text.asm");
	assert_string_equal(unnamed_section(f.unnamed, O + 0xfff), "");
	close_file(&f);
}

/* A stripped file: the section's name would be less useful than the file's. */
static void names_nothing_but_code(void **state)
{
	struct file f;

	(void)state;
	open_file(&f, false);
	assert_string_equal(name_at(&f, 0x100, UNNAMED_FUNCTION), "0x401100");
	assert_string_equal(name_at(&f, 0x23f, UNNAMED_FUNCTION), "0x401200");
	assert_string_equal(name_at(&f, ASM, UNNAMED_SECTION), "-");
	close_file(&f);
}

static void handles_allocation_failure(void **state)
{
	(void)state;
	for (unsigned long n = 1;; n++) {
		struct file f = { 0 };
		const struct symbol *s = NULL;
		enum unnamed_kind kind;
		bool failed;
		int r;

		write_file(true, &f.bytes);
		assert_int_equal(
			symtab_load_elf_bytes(f.bytes.data, f.bytes.len, &f.tab, NULL),
			0);
		assert_int_equal(
			elf_file_init_bytes(&f.elf, f.bytes.data, f.bytes.len, NULL),
			0);
		alloc_fail_at(n);
		r = unnamed_new(&f.elf, f.tab, &f.unnamed);
		if (!r) {
			(void)unnamed_read(f.unnamed, &f.elf, UNNAMED_READ_UNWIND);
			(void)unnamed_read(f.unnamed, &f.elf, UNNAMED_READ_PLT);
			(void)unnamed_find(f.unnamed, O + PLT, &kind);
			s = unnamed_find(f.unnamed, O + 0x100, &kind);
		}
		failed = alloc_fail_off();
		if (!failed)
			assert_string_equal(s->name, "0x401100");
		close_file(&f);
		if (!failed)
			break;
		assert_true(n < 1000);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(names_plt_of_x86_64),
		cmocka_unit_test(names_short_plt_of_x86_64),
		cmocka_unit_test(names_plt_of_i386),
		cmocka_unit_test(names_plt_of_arm64),
		cmocka_unit_test(names_plt_of_riscv),
		cmocka_unit_test(names_functions_and_sections),
		cmocka_unit_test(names_nothing_but_code),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}
