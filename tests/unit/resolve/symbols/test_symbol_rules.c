/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machine-specific rules for symbols, in small files as written by linkers. */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "resolve/elf/elf_maker.h"
#include "resolve/symbols/symtab.h"

enum {
	V = ELF_MAKER_VADDR,
	O = ELF_MAKER_OFFSET,
	TEXT = ELF_MAKER_TEXT,
	OPD = ELF_MAKER_FIRST_EXTRA,
	OPD_AT = V + 0xa00 /* after .text */
};

static int load_file(const struct elf_maker *m, struct symtab **ret_tab)
{
	struct buf b = { 0 };
	int r;

	elf_maker_write(m, &b);
	r = symtab_load_elf_bytes(b.data, b.len, ret_tab, NULL);
	buf_done(&b);
	return r;
}

/* Returns the names in order of address, each with its offset in .text and size: "first 0+40
 * second 100+20". */
static void check_table(const struct symtab *tab, const char *expected)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < symtab_count(tab); i++) {
		const struct symbol *s = symtab_at(tab, i);

		if (i)
			buf_put(&text, " ", 1);
		buf_put(&text, s->name, strlen(s->name));
		buf_put(&text, " ", 1);
		buf_put_hex(&text, s->offset - O, 1);
		buf_put(&text, "+", 1);
		buf_put_hex(&text, s->size, 1);
		assert_true(s->vaddr.v == s->offset - O + V);
	}
	buf_put_u8(&text, 0);
	assert_string_equal((const char *)text.data, expected);
	buf_done(&text);
}

static void check(const struct elf_maker *m, const char *expected)
{
	struct symtab *tab;

	assert_int_equal(load_file(m, &tab), 0);
	check_table(tab, expected);
	symtab_free(tab);
}

static void clears_the_thumb_bit(void **state)
{
	static const struct elf_maker_symbol symbols[] = {
		{ "$a", V, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "arm", V, 0x10, STT_FUNC, STB_GLOBAL, TEXT },
		{ "$t", V + 0x10, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "thumb", V + 0x11, 0x10, STT_FUNC, STB_GLOBAL, TEXT },
		{ "ifunc", V + 0x21, 0x10, STT_GNU_IFUNC, STB_GLOBAL, TEXT },
		{ "$d.7", V + 0x30, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "old", V + 0x40, 0x10, STT_ARM_TFUNC, STB_GLOBAL, TEXT },
		{ "unsized", V + 0x51, 0, STT_FUNC, STB_GLOBAL, TEXT },
		{ "$table", V + 0x60, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "$", V + 0x70, 0, STT_NOTYPE, STB_LOCAL, TEXT },
	};
	struct elf_maker m = { .machine = EM_ARM,
			       .symbols = symbols,
			       .nr_symbols = COUNT_OF(symbols) };

	(void)state;
	check(&m, "arm 0+10 thumb 10+10 ifunc 20+10 old 40+10 unsized 50+10 "
		  "$table 60+10 $ 70+790");
	m.big_endian = true;
	m.dynsym = true;
	check(&m, "arm 0+10 thumb 10+10 ifunc 20+10 old 40+10 unsized 50+10 "
		  "$table 60+10 $ 70+790");
	/* Type 13 and "$a" have no special meaning elsewhere, and odd addresses are valid. */
	m.machine = EM_386;
	m.nr_symbols = 7;
	check(&m, "arm 0+10 $t 10+1 thumb 11+10 ifunc 21+10");
}

static void clears_the_mips_isa_bit(void **state)
{
	static const struct elf_maker_symbol symbols[] = {
		{ "mips32", V, 0x10, STT_FUNC, STB_GLOBAL, TEXT },
		/* Linkers set the bit in dynamic symbols, and only mark the others. */
		{ "micro", V + 0x11, 0x10, STT_FUNC, STB_GLOBAL, TEXT },
		{ "micro_local", V + 0x20, 0x10, STT_FUNC, STB_LOCAL, TEXT },
		{ "mips16", V + 0x30, 0x10, STT_FUNC, STB_LOCAL, TEXT },
		{ "$L12", V + 0x40, 0, STT_NOTYPE, STB_LOCAL, TEXT },
	};
	static const uint8_t others[] = { 0, 0, 0x80, 0xf0, 0 };
	struct elf_maker m = { .machine = EM_MIPS,
			       .big_endian = true,
			       .others = others,
			       .symbols = symbols,
			       .nr_symbols = COUNT_OF(symbols) };

	(void)state;
	check(&m, "mips32 0+10 micro 10+10 micro_local 20+10 mips16 30+10");
	m.is64 = true;
	check(&m, "mips32 0+10 micro 10+10 micro_local 20+10 mips16 30+10");
}

static void skips_marker_symbols_by_machine(void **state)
{
	static const struct elf_maker_symbol symbols[] = {
		{ "$x", V + 0x10, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "$x.3", V + 0x20, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "$d", V + 0x30, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "$xrv64i2p1_m2p0", V + 0x40, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ ".L0 ", V + 0x50, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "label", V + 0x60, 0, STT_NOTYPE, STB_LOCAL, TEXT },
	};
	static const struct {
		uint16_t machine;
		const char *expected;
	} cases[] = {
		{ EM_AARCH64, "$xrv64i2p1_m2p0 40+20 label 60+7a0" },
		{ EM_RISCV, "label 60+7a0" },
		{ EM_X86_64, "$x 10+10 $x.3 20+10 $d 30+10 $xrv64i2p1_m2p0 40+20 "
			     "label 60+7a0" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct elf_maker m = { .is64 = true,
				       .machine = cases[i].machine,
				       .symbols = symbols,
				       .nr_symbols = COUNT_OF(symbols) };

		check(&m, cases[i].expected);
	}
}

/* Callers within a file enter up to 2^5 words after the symbol's address (PowerPC ELFv2); other
 * bits of st_other have no effect. */
static void adds_local_entry_points(void **state)
{
	static const struct elf_maker_symbol symbols[] = {
		{ "plain", V, 0x10, STT_FUNC, STB_GLOBAL, TEXT },
		{ "with_toc", V + 0x10, 0x20, STT_FUNC, STB_GLOBAL, TEXT },
		{ "hidden", V + 0x30, 0x10, STT_FUNC, STB_LOCAL, TEXT },
	};
	static const uint8_t others[] = { 0, 3 << 5, 7 << 5 | STV_HIDDEN };
	struct elf_maker m = { .is64 = true,
			       .machine = EM_PPC64,
			       .others = others,
			       .symbols = symbols,
			       .nr_symbols = COUNT_OF(symbols) };
	struct symtab *tab;

	(void)state;
	check(&m, "plain 0+10 with_toc 10+20 hidden 30+10");
	assert_int_equal(load_file(&m, &tab), 0);
	assert_string_equal(symtab_find(tab, O + 0x18)->name, "with_toc");
	symtab_free(tab);
}

/* Function descriptors of PowerPC ELFv1: address of the code, of the table, and 0. */
static const uint8_t descriptors[] = {
	0, 0, 0, 0, 0, 0x40, 0x10, 0x40, /* V + 0x40 */
	0, 0, 0, 0, 0, 0x41, 0,    0,    /* */
	0, 0, 0, 0, 0, 0,    0,    0,    /* */
	0, 0, 0, 0, 0, 0x40, 0x10, 0x60, /* V + 0x60 */
	0, 0, 0, 0, 0, 0x41, 0,    0,    /* */
	0, 0, 0, 0, 0, 0,    0,    0,    /* relocated first */
	0, 0, 0, 0,
};

static const struct elf_maker_symbol described[] = {
	{ "sized", OPD_AT, 0x18, STT_FUNC, STB_GLOBAL, OPD },
	{ "weak_sized", OPD_AT, 0x18, STT_FUNC, STB_WEAK, OPD },
	{ "unsized", OPD_AT + 24, 0, STT_FUNC, STB_LOCAL, OPD },
	{ ".code", V + 0x80, 0x10, STT_FUNC, STB_GLOBAL, TEXT },
	{ "zero", OPD_AT + 40, 8, STT_FUNC, STB_GLOBAL, OPD },
	{ "cut", OPD_AT + 48, 8, STT_FUNC, STB_GLOBAL, OPD },
	{ "descriptor_label", OPD_AT, 0, STT_NOTYPE, STB_LOCAL, OPD },
	{ ".Lcode", V + 0x90, 0, STT_NOTYPE, STB_LOCAL, TEXT },
	{ ".2code", V + 0xa0, 0, STT_NOTYPE, STB_LOCAL, TEXT },
};

static const struct elf_maker_section opd_section = { ".opd",
						      SHT_PROGBITS,
						      SHF_ALLOC | SHF_WRITE,
						      OPD_AT,
						      descriptors,
						      sizeof(descriptors),
						      0,
						      0 };

static const struct elf_maker elfv1 = { .is64 = true,
					.big_endian = true,
					.machine = EM_PPC64,
					.symbols = described,
					.nr_symbols = COUNT_OF(described),
					.sections = &opd_section,
					.nr_sections = 1 };

static const char in_elfv1[] = "sized 40+18 unsized 60+20 code 80+10 .2code a0+760";

static void resolves_function_descriptors(void **state)
{
	struct elf_maker m = elfv1;

	(void)state;
	check(&m, in_elfv1);
	m.dynsym = true;
	check(&m, in_elfv1);
}

static int file_of(const struct elf_maker *m)
{
	struct buf b = { 0 };
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	elf_maker_write(m, &b);
	assert_int_equal(io_write_all(fd, b.data, b.len), 0);
	buf_done(&b);
	return fd;
}

/* A debug file only keeps the headers of these sections. */
static void resolves_descriptors_of_a_debug_file(void **state)
{
	struct elf_maker_section empty = opd_section;
	struct elf_maker debug = elfv1;
	struct elf_maker code = elfv1;
	struct symtab *tab;
	int debug_fd;
	int code_fd;

	(void)state;
	empty.type = SHT_NOBITS;
	debug.sections = &empty;
	code.nr_symbols = 0;
	debug_fd = file_of(&debug);
	code_fd = file_of(&code);
	assert_int_equal(symtab_load_elf_debug(code_fd, debug_fd, SYMTAB_FILE_OFFSETS,
					       &tab, NULL),
			 0);
	check_table(tab, in_elfv1);
	symtab_free(tab);
	close(debug_fd);
	close(code_fd);
}

/* A module's symbols are relative to their sections, and its descriptors are empty. */
static void reads_kernel_modules(void **state)
{
	static const struct elf_maker_section sections[] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0,
		  "12345678123456781234567812345678", 32, 0, 0 },
		{ ".opd", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0,
		  "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24, 0, 0 },
	};
	static const struct elf_maker_symbol symbols[] = {
		{ "reads", 1, 8, STT_FUNC, STB_LOCAL, ELF_MAKER_FIRST_EXTRA },
		{ ".writes", 8, 8, STT_FUNC, STB_LOCAL, ELF_MAKER_FIRST_EXTRA },
		{ "writes", 0, 8, STT_FUNC, STB_LOCAL, ELF_MAKER_FIRST_EXTRA + 1 },
	};
	const struct section_address loaded_at[] = { { ".text", 0xc0001000 },
						     { ".opd", 0xc0002000 } };
	struct elf_maker m = { .machine = EM_ARM,
			       .symbols = symbols,
			       .nr_symbols = 1,
			       .sections = sections,
			       .nr_sections = 1 };
	struct symtab *tab;
	int fd = file_of(&m);

	(void)state;
	assert_int_equal(
		symtab_load_module_fd(fd, loaded_at, 2, 0xc0000000, &tab, NULL), 0);
	assert_int_equal(symtab_count(tab), 1);
	assert_int_equal(symtab_at(tab, 0)->offset, 0x1000);
	symtab_free(tab);
	close(fd);
	m.machine = EM_PPC64;
	m.is64 = true;
	m.nr_symbols = 3;
	m.nr_sections = 2;
	fd = file_of(&m);
	assert_int_equal(
		symtab_load_module_fd(fd, loaded_at, 2, 0xc0000000, &tab, NULL), 0);
	assert_int_equal(symtab_count(tab), 2);
	assert_int_equal(symtab_at(tab, 0)->offset, 0x1001);
	assert_string_equal(symtab_at(tab, 1)->name, "writes");
	assert_int_equal(symtab_at(tab, 1)->offset, 0x1008);
	symtab_free(tab);
	close(fd);
}

static void keeps_symbol_versions(void **state)
{
	static const struct elf_maker_symbol symbols[] = {
		{ "read@@V2", V, 0x10, STT_FUNC, STB_GLOBAL, TEXT },
		{ "__read", V, 0x10, STT_FUNC, STB_GLOBAL, TEXT },
		{ "read@V1", V + 0x10, 0x10, STT_FUNC, STB_GLOBAL, TEXT },
	};
	struct elf_maker m = { .machine = EM_386, .symbols = symbols, .nr_symbols = 3 };

	(void)state;
	check(&m, "read@@V2 0+10 read@V1 10+10");
}

static void handles_allocation_failure(void **state)
{
	struct buf b = { 0 };

	(void)state;
	elf_maker_write(&elfv1, &b);
	for (unsigned long n = 1;; n++) {
		struct symtab *tab = NULL;
		int r;

		alloc_fail_at(n);
		r = symtab_load_elf_bytes(b.data, b.len, &tab, NULL);
		if (!alloc_fail_off()) {
			assert_int_equal(r, 0);
			check_table(tab, in_elfv1);
			symtab_free(tab);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(tab);
	}
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(clears_the_thumb_bit),
		cmocka_unit_test(clears_the_mips_isa_bit),
		cmocka_unit_test(skips_marker_symbols_by_machine),
		cmocka_unit_test(adds_local_entry_points),
		cmocka_unit_test(resolves_function_descriptors),
		cmocka_unit_test(resolves_descriptors_of_a_debug_file),
		cmocka_unit_test(reads_kernel_modules),
		cmocka_unit_test(keeps_symbol_versions),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}
