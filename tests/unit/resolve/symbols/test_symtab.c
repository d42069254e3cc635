/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "resolve/elf/elf_maker.h"
#include "resolve/elf/xz.h"
#include "resolve/symbols/symtab.h"

enum {
	V = ELF_MAKER_VADDR,
	O = ELF_MAKER_OFFSET,
	TEXT = ELF_MAKER_TEXT
};

static struct symtab *load(const struct elf_maker *m)
{
	struct symtab *tab = NULL;
	struct err err = { 0 };
	struct buf b = { 0 };
	int r;

	elf_maker_write(m, &b);
	r = symtab_load_elf_bytes(b.data, b.len, &tab, &err);
	buf_done(&b);
	if (r && r != -ENODATA)
		fail_msg("%s", err.text);
	assert_non_null(tab);
	return tab;
}

static const char *name_at(const struct symtab *tab, uint64_t offset)
{
	const struct symbol *s = symtab_find(tab, offset);

	return s ? s->name : "-";
}

static struct symtab *load_symbols(const struct elf_maker_symbol *symbols, size_t nr)
{
	struct elf_maker m = {
		.is64 = true, .machine = EM_X86_64, .symbols = symbols, .nr_symbols = nr
	};

	return load(&m);
}

#define LOAD(symbols) load_symbols(symbols, COUNT_OF(symbols))

static const struct elf_maker_symbol plain[] = {
	{ "second", V + 0x100, 0x20, STT_FUNC, STB_LOCAL, TEXT },
	{ "first", V, 0x40, STT_FUNC, STB_GLOBAL, TEXT },
};

/* Positions are file offsets, even if the segment is elsewhere in memory. */
static void reads_every_class_and_byte_order(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 16; i++) {
		struct elf_maker m = { .is64 = i & 1,
				       .big_endian = i & 2,
				       .dynsym = i & 4,
				       .extended_count = i & 8,
				       .machine = EM_MIPS,
				       .symbols = plain,
				       .nr_symbols = 2 };
		struct symtab *tab = load(&m);

		assert_int_equal(symtab_count(tab), 2);
		assert_string_equal(name_at(tab, O), "first");
		assert_string_equal(name_at(tab, O + 0x3f), "first");
		assert_string_equal(name_at(tab, O + 0x40), "-");
		assert_string_equal(name_at(tab, O - 1), "-");
		assert_string_equal(name_at(tab, O + 0x11f), "second");
		assert_string_equal(name_at(tab, V), "-");
		assert_int_equal(symtab_at(tab, 1)->vaddr.v, V + 0x100);
		assert_int_equal(symtab_vaddr(tab, O + 0x123).v, V + 0x123);
		assert_int_equal(symtab_vaddr(tab, 5).v, 5);
		symtab_free(tab);
	}
}

static void omits_data_objects(void **state)
{
	static const struct elf_maker_symbol symbols[] = {
		{ "function", V, 0x40, STT_FUNC, STB_GLOBAL, TEXT },
		{ "code_label", V + 0x60, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "table", V + 0x100, 0x20, STT_OBJECT, STB_GLOBAL, ELF_MAKER_DATA },
		{ "label", V + 0x100, 0, STT_NOTYPE, STB_GLOBAL, ELF_MAKER_DATA },
		{ "not_in_the_file", V + ELF_MAKER_BYTES - 8, 8, STT_OBJECT, STB_LOCAL,
		  ELF_MAKER_DATA },
	};
	struct elf_maker m = {
		.is64 = true, .machine = EM_X86_64, .symbols = symbols, .nr_symbols = 5
	};
	char path[] = "/tmp/test_symtab.XXXXXX";
	int fd = mkstemp(path);
	struct symtab *tab;
	struct buf b = { 0 };

	(void)state;
	elf_maker_write(&m, &b);
	assert_int_equal(io_write_all(fd, b.data, b.len), 0);
	assert_int_equal(symtab_load_elf_data(fd, -1, &tab, NULL), 0);
	assert_string_equal(name_at(tab, O), "-");
	assert_string_equal(name_at(tab, O + 0x60), "-");
	assert_string_equal(name_at(tab, O + 0x100), "table");
	assert_string_equal(name_at(tab, O + 0x11f), "table");
	assert_string_equal(name_at(tab, O + ELF_MAKER_BYTES - 1), "not_in_the_file");
	symtab_free(tab);
	buf_done(&b);
	close(fd);
	unlink(path);
}

static void chooses_the_best_name_of_an_address(void **state)
{
	static const struct elf_maker_symbol symbols[] = {
		{ "unsized_global_long_name", V, 0, STT_FUNC, STB_GLOBAL, TEXT },
		{ "local", V, 8, STT_FUNC, STB_LOCAL, TEXT },
		{ "weak_and_long", V + 0x10, 8, STT_FUNC, STB_WEAK, TEXT },
		{ "local2", V + 0x10, 8, STT_FUNC, STB_LOCAL, TEXT },
		{ "__long_private", V + 0x20, 8, STT_FUNC, STB_GLOBAL, TEXT },
		{ "open", V + 0x20, 8, STT_FUNC, STB_GLOBAL, TEXT },
		{ "short", V + 0x30, 8, STT_FUNC, STB_GLOBAL, TEXT },
		{ "longer", V + 0x30, 8, STT_FUNC, STB_GLOBAL, TEXT },
		{ "is_global", V + 0x40, 8, STT_FUNC, STB_GLOBAL, TEXT },
		{ "is_local_but_long", V + 0x40, 8, STT_FUNC, STB_LOCAL, TEXT },
	};
	struct symtab *tab = LOAD(symbols);

	(void)state;
	assert_int_equal(symtab_count(tab), 5);
	assert_string_equal(name_at(tab, O), "local");
	assert_string_equal(name_at(tab, O + 0x10), "local2");
	assert_string_equal(name_at(tab, O + 0x20), "open");
	assert_string_equal(name_at(tab, O + 0x30), "longer");
	assert_string_equal(name_at(tab, O + 0x40), "is_global");
	symtab_free(tab);
}

static void estimates_missing_sizes(void **state)
{
	static const struct elf_maker_symbol symbols[] = {
		{ "to_the_next", V, 0, STT_FUNC, STB_GLOBAL, TEXT },
		{ "next", V + 0x80, 0x10, STT_FUNC, STB_GLOBAL, TEXT },
		{ "to_the_end", V + 0x200, 0, STT_FUNC, STB_GLOBAL, TEXT },
	};
	struct symtab *tab = LOAD(symbols);

	(void)state;
	assert_int_equal(symtab_at(tab, 0)->size, 0x80);
	assert_string_equal(name_at(tab, O + 0x7f), "to_the_next");
	assert_string_equal(name_at(tab, O + 0x90), "-");
	assert_string_equal(name_at(tab, O + 0x7ff), "to_the_end");
	assert_string_equal(name_at(tab, O + 0x800), "-"); /* .text ends */
	symtab_free(tab);
}

static void resolves_nested_and_overlapping_symbols(void **state)
{
	static const struct elf_maker_symbol symbols[] = {
		{ "outer", V, 0x100, STT_FUNC, STB_GLOBAL, TEXT },
		{ "inner", V + 0x10, 0x20, STT_FUNC, STB_LOCAL, TEXT },
		{ "innermost", V + 0x18, 0x8, STT_FUNC, STB_LOCAL, TEXT },
		{ "tail", V + 0xf0, 0x30, STT_FUNC, STB_LOCAL, TEXT },
	};
	struct symtab *tab = LOAD(symbols);

	(void)state;
	assert_string_equal(name_at(tab, O + 0x0f), "outer");
	assert_string_equal(name_at(tab, O + 0x10), "inner");
	assert_string_equal(name_at(tab, O + 0x1f), "innermost");
	assert_string_equal(name_at(tab, O + 0x20), "inner");
	assert_string_equal(name_at(tab, O + 0x30), "outer");
	assert_string_equal(name_at(tab, O + 0xf0), "tail");
	assert_string_equal(name_at(tab, O + 0x11f), "tail");
	assert_string_equal(name_at(tab, O + 0x120), "-");
	symtab_free(tab);
}

static void omits_symbols_that_are_not_functions(void **state)
{
	static const struct elf_maker_symbol symbols[] = {
		{ "func", V, 0x40, STT_FUNC, STB_GLOBAL, TEXT },
		{ "label_inside", V + 0x10, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "label_alone", V + 0x40, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ ".Llocal", V + 0x50, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "object", V + 0x60, 8, STT_OBJECT, STB_GLOBAL, TEXT },
		{ "undefined", 0, 0, STT_FUNC, STB_GLOBAL, SHN_UNDEF },
		{ "absolute", V + 0x70, 0, STT_NOTYPE, STB_GLOBAL, SHN_ABS },
		{ "data_label", V + 0x900, 0, STT_NOTYPE, STB_GLOBAL, ELF_MAKER_DATA },
		{ "unmapped", 0x10, 8, STT_FUNC, STB_GLOBAL, TEXT },
		{ "ifunc", V + 0x100, 8, STT_GNU_IFUNC, STB_GLOBAL, TEXT },
		{ "", V + 0x200, 8, STT_FUNC, STB_GLOBAL, TEXT },
	};
	struct symtab *tab = LOAD(symbols);

	(void)state;
	assert_int_equal(symtab_count(tab), 3);
	assert_string_equal(name_at(tab, O + 0x10), "func");
	assert_string_equal(name_at(tab, O + 0x70), "label_alone");
	assert_string_equal(name_at(tab, O + 0x100), "ifunc");
	symtab_free(tab);
}

static void handles_files_without_symbols(void **state)
{
	struct elf_maker m = { .is64 = true, .no_sections = true };
	struct symtab *tab = NULL;
	struct buf b = { 0 };

	(void)state;
	elf_maker_write(&m, &b);
	assert_int_equal(symtab_load_elf_bytes(b.data, b.len, &tab, NULL), -ENODATA);
	assert_int_equal(symtab_count(tab), 0);
	assert_null(symtab_find(tab, O));
	assert_int_equal(symtab_vaddr(tab, O + 1).v, V + 1);
	symtab_free(tab);
	buf_done(&b);
}

static void rejects_invalid_files(void **state)
{
	struct elf_maker m = {
		.is64 = true, .symbols = plain, .nr_symbols = 2, .symbol_entry_bytes = 7
	};
	struct symtab *tab = NULL;
	struct err err = { 0 };
	struct buf b = { 0 };

	(void)state;
	elf_maker_write(&m, &b);
	assert_int_equal(symtab_load_elf_bytes(b.data, b.len, &tab, &err), -EBADMSG);
	assert_null(tab);
	assert_non_null(strstr(err.text, "7 bytes"));
	assert_int_equal(
		symtab_load_elf_bytes("#!/bin/sh\n\n\n\n\n\n\n\n", 17, &tab, &err),
		-EBADMSG);
	assert_int_equal(symtab_load_elf("/dev/null", &tab, &err), -EINVAL);
	assert_int_equal(symtab_load_elf("/proc/self/nowhere", &tab, &err), -ENOENT);
	buf_done(&b);
}

/* A cut file gives no table, or one that only contains valid symbols. */
static void survives_every_prefix_and_bit_flip(void **state)
{
	struct elf_maker m = { .is64 = true, .symbols = plain, .nr_symbols = 2 };
	struct buf b = { 0 };

	(void)state;
	elf_maker_write(&m, &b);
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *cut = malloc(len + 1);
		struct symtab *tab = NULL;

		memcpy(cut, b.data, len);
		assert_int_not_equal(symtab_load_elf_bytes(cut, len, &tab, NULL), 0);
		symtab_free(tab);
		free(cut);
	}
	for (size_t at = 0; at < b.len; at++) {
		struct symtab *tab = NULL;

		b.data[at] ^= 0xff;
		(void)symtab_load_elf_bytes(b.data, b.len, &tab, NULL);
		for (size_t i = 0; tab && i < symtab_count(tab); i++)
			assert_true(strlen(symtab_at(tab, i)->name) < b.len);
		symtab_free(tab);
		b.data[at] ^= 0xff;
	}
	buf_done(&b);
}

/* Only .dynsym is left; .gnu_debugdata has the other symbols. */
static void reads_names_in_gnu_debugdata(void **state)
{
	char path[512];
	struct symtab *tab;
	size_t nr_expected = xz_version() ? 2 : 1;

	(void)state;
	snprintf(path, sizeof(path), "%s/minidebug.so", getenv("TEST_DATA"));
	assert_int_equal(symtab_load_elf(path, &tab, NULL), 0);
	assert_int_equal(symtab_count(tab), nr_expected);
	if (nr_expected == 2) {
		assert_string_equal(symtab_at(tab, 0)->name, "hidden_inner");
		assert_string_equal(symtab_at(tab, 1)->name, "visible");
	}
	symtab_free(tab);
}

static void reads_a_module_by_its_sections(void **state)
{
	static const uint64_t base = 0xffffffffc0100000;
	static const struct elf_maker_section sections[] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, "12345678", 8, 0,
		  0 },
		{ ".init.text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, "12345678",
		  8, 0, 0 },
		{ ".exit.text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, "12345678",
		  8, 0, 0 },
	};
	static const struct elf_maker_symbol symbols[] = {
		{ "reads", 0, 4, STT_FUNC, STB_LOCAL, ELF_MAKER_FIRST_EXTRA },
		{ "writes", 4, 0, STT_FUNC, STB_LOCAL, ELF_MAKER_FIRST_EXTRA },
		{ "starts", 0, 8, STT_FUNC, STB_LOCAL, ELF_MAKER_FIRST_EXTRA + 1 },
		{ "ends", 2, 4, STT_FUNC, STB_LOCAL, ELF_MAKER_FIRST_EXTRA + 2 },
		{ "outside", 9, 4, STT_FUNC, STB_LOCAL, ELF_MAKER_FIRST_EXTRA + 2 },
	};
	const struct section_address loaded_at[] = {
		{ ".text", base + 0x1000 },
		{ ".init.text", base + 0x8000 },
		{ ".exit.text", base + 0x2000 },
		{ ".none", 1 },
	};
	struct elf_maker m = { .is64 = true,
			       .symbols = symbols,
			       .nr_symbols = 5,
			       .sections = sections,
			       .nr_sections = 3 };
	char path[] = "/tmp/test_symtab.XXXXXX";
	int fd = mkstemp(path);
	struct symtab *tab;
	struct buf b = { 0 };

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	elf_maker_write(&m, &b);
	assert_int_equal(io_write_all(fd, b.data, b.len), 0);
	buf_done(&b);
	assert_int_equal(symtab_load_module_fd(fd, loaded_at, 4, base, &tab, NULL), 0);
	assert_int_equal(symtab_count(tab), 3);
	assert_string_equal(name_at(tab, 0x1003), "reads");
	assert_string_equal(name_at(tab, 0x1007), "writes");
	assert_string_equal(name_at(tab, 0x1008), "-");
	assert_string_equal(name_at(tab, 0x2002), "ends");
	assert_true(symtab_find(tab, 0x2002)->vaddr.v == base + 0x2002);
	assert_true(symtab_vaddr(tab, 0x10).v == base + 0x10);
	symtab_free(tab);
	assert_int_equal(symtab_load_module_fd(fd, NULL, 0, base, &tab, NULL),
			 -ENODATA);
	close(fd);
}

static void handles_allocation_failure(void **state)
{
	struct elf_maker m = { .is64 = true, .symbols = plain, .nr_symbols = 2 };
	struct buf b = { 0 };

	(void)state;
	elf_maker_write(&m, &b);
	for (unsigned long n = 1;; n++) {
		struct symtab *tab = NULL;
		int r;

		alloc_fail_at(n);
		r = symtab_load_elf_bytes(b.data, b.len, &tab, NULL);
		if (!alloc_fail_off()) {
			assert_int_equal(r, 0);
			assert_true(n > 3);
			symtab_free(tab);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(tab);
	}
	buf_done(&b);
}

/* Many symbols in descending order are sorted by the radix sort. */
static void sorts_many_symbols(void **state)
{
	enum {
		NR = 900
	};
	static struct elf_maker_symbol symbols[NR];
	static char names[NR][8];
	struct symtab *tab;

	(void)state;
	for (size_t i = 0; i < NR; i++) {
		size_t at = NR - 1 - i * 7 % NR;

		snprintf(names[i], sizeof(names[i]), "f%zu", at);
		symbols[i] = (struct elf_maker_symbol){ names[i], V + 2 * at, 1,
							STT_FUNC, STB_GLOBAL, TEXT };
	}
	tab = LOAD(symbols);
	assert_int_equal(symtab_count(tab), NR);
	for (size_t i = 0; i < NR; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%zu", i);
		assert_string_equal(name_at(tab, O + 2 * i), name);
		assert_string_equal(name_at(tab, O + 2 * i + 1), "-");
	}
	symtab_free(tab);
}

/* This program's own names, at the addresses where they are mapped. */
static void reads_its_own_program(void **state)
{
	struct symtab *tab = NULL;
	struct err err = { 0 };
	bool seen = false;

	(void)state;
	if (symtab_load_elf("/proc/self/exe", &tab, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < symtab_count(tab); i++) {
		const struct symbol *s = symtab_at(tab, i);

		if (strcmp(s->name, "reads_its_own_program") != 0)
			continue;
		seen = true;
		assert_ptr_equal(symtab_find(tab, s->offset + s->size - 1), s);
		assert_int_equal(symtab_vaddr(tab, s->offset).v, s->vaddr.v);
	}
	assert_true(seen);
	symtab_free(tab);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(reads_every_class_and_byte_order),
		cmocka_unit_test(omits_data_objects),
		cmocka_unit_test(chooses_the_best_name_of_an_address),
		cmocka_unit_test(estimates_missing_sizes),
		cmocka_unit_test(resolves_nested_and_overlapping_symbols),
		cmocka_unit_test(omits_symbols_that_are_not_functions),
		cmocka_unit_test(handles_files_without_symbols),
		cmocka_unit_test(rejects_invalid_files),
		cmocka_unit_test(survives_every_prefix_and_bit_flip),
		cmocka_unit_test(reads_names_in_gnu_debugdata),
		cmocka_unit_test(reads_a_module_by_its_sections),
		cmocka_unit_test(handles_allocation_failure),
		cmocka_unit_test(sorts_many_symbols),
		cmocka_unit_test(reads_its_own_program),
	};

	return UNIT_RUN(cases);
}
