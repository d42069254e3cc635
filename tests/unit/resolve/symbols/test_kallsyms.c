/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fail.h"
#include "base/array.h"
#include "base/err.h"
#include "resolve/symbols/kallsyms.h"
#include "resolve/symbols/symtab.h"

#define BASE 0xffffffff81000000

static const char text[] = "ffffffff80ffff00 t before_text\n"
			   "ffffffff81000000 T startup_64\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000100 t local_one\n"
			   "ffffffff81000100 W weak_one_longer\n"
			   "ffffffff81000180 d not_text\n"
			   "ffffffff81000200 t $mark\n"
			   "ffffffff81000300 T sys_read\n"
			   "ffffffff81000300 T SyS_read\n"
			   "this line is broken\n"
			   "ffffffff81001000 T _etext\n"
			   "ffffffffc0000000 t ext4_read\t[ext4]\n"
			   "ffffffffc0000080 T ext4_write\t[ext4]\n"
			   "ffffffffc0100000 t do_snd\t[snd_hda_intel]\n"
			   "ffffffffc0200000 t bpf_prog_1_x\t[bpf]";

static int load_text(const char *from, size_t len, const char *module, uint64_t start,
		     struct symtab **ret_tab, struct err *err)
{
	const struct symtab_kallsyms k = { from, len, module, start, NULL, 0 };

	return symtab_load_kallsyms(&k, ret_tab, err);
}

static struct symtab *load(const char *module, uint64_t start)
{
	struct symtab *tab = NULL;
	struct err err = { 0 };

	if (load_text(text, sizeof(text) - 1, module, start, &tab, &err))
		fail_msg("%s", err.text);
	return tab;
}

static const char *name_at(const struct symtab *tab, uint64_t offset)
{
	const struct symbol *s = symtab_find(tab, offset);

	return s ? s->name : "-";
}

static void reads_the_kernels_text_symbols(void **state)
{
	struct symtab *tab = load(NULL, BASE);

	(void)state;
	assert_int_equal(symtab_count(tab), 4);
	assert_string_equal(name_at(tab, 0), "_text");
	assert_string_equal(name_at(tab, 0x1ff),
			    "weak_one_longer"); /* the last symbol, as in perf */
	assert_string_equal(name_at(tab, 0x300), "SyS_read");
	assert_string_equal(name_at(tab, 0x1fff), "_etext");
	assert_string_equal(name_at(tab, 0x2000), "-"); /* a page after the last one */
	assert_int_equal(symtab_at(tab, 1)->vaddr.v, BASE + 0x100);
	assert_int_equal(symtab_vaddr(tab, 0x123).v, BASE + 0x123);
	symtab_free(tab);
}

static void handles_an_unknown_kernel_base(void **state)
{
	struct symtab *tab = load(NULL, 0);

	(void)state;
	assert_string_equal(name_at(tab, BASE + 0x310), "SyS_read");
	assert_string_equal(name_at(tab, BASE - 1), "before_text");
	symtab_free(tab);
}

static void reads_modules(void **state)
{
	struct symtab *tab = load("ext4", 0xffffffffc0000000);

	(void)state;
	assert_int_equal(symtab_count(tab), 2);
	assert_string_equal(name_at(tab, 0x7f), "ext4_read");
	assert_string_equal(name_at(tab, 0x80), "ext4_write");
	symtab_free(tab);
	tab = load("snd-hda-intel", 0xffffffffc0100000);
	assert_string_equal(name_at(tab, 0), "do_snd");
	symtab_free(tab);
	tab = load("bpf", 0xffffffffc0200000);
	assert_string_equal(name_at(tab, 0), "bpf_prog_1_x");
	symtab_free(tab);
}

/* Returns the last symbol's end; `section` is the next section's offset, if there is one. */
static uint64_t end_of_last(const char *lines, uint64_t section)
{
	const uint64_t start = 0xffffffffc0000000;
	const struct section_address sections[] = { { ".data", start + section },
						    { ".text", start },
						    { ".init.text",
						      start + 0x100000 } };
	const struct symtab_kallsyms from = { lines, strlen(lines), "m",
					      start, sections,      3 };
	const struct symbol *last;
	struct symtab *tab = NULL;
	uint64_t end;

	assert_int_equal(symtab_load_kallsyms(&from, &tab, NULL), 0);
	assert_int_equal(symtab_count(tab), 2);
	last = symtab_at(tab, 1);
	end = last->offset + last->size;
	assert_ptr_equal(symtab_find(tab, end - 1), last);
	assert_null(symtab_find(tab, end));
	symtab_free(tab);
	return end;
}

static void the_last_symbol_ends_with_its_section(void **state)
{
	static const char ordered[] = "ffffffffc0000000 t one\t[m]\n"
				      "ffffffffc0000080 t two\t[m]\n";
	static const char mixed[] = "ffffffffc0000080 t two\t[m]\n"
				    "ffffffffc0000000 t one\t[m]\n";

	(void)state;
	assert_int_equal(end_of_last(ordered, 0x200), 0x200);
	assert_int_equal(end_of_last(mixed, 0x200), 0x200);
	/* Without a section nearby, the last symbol extends to the end of the next page. */
	assert_int_equal(end_of_last(ordered, 0x5000), 0x2000);
	assert_int_equal(end_of_last(mixed, 0x5000), 0x2000);
	assert_int_equal(end_of_last(ordered, 0x80), 0x2000);
}

static void handles_empty_input(void **state)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 t a\n";
	struct symtab *tab = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(load_text(hidden, sizeof(hidden) - 1, NULL, 0, &tab, &err),
			 -ENODATA);
	assert_non_null(strstr(err.text, "kptr_restrict"));
	assert_int_equal(load_text(hidden, sizeof(hidden) - 1, NULL, BASE, &tab, &err),
			 -ENODATA);
	assert_non_null(strstr(err.text, "kptr_restrict"));
	assert_int_equal(load_text(text, sizeof(text) - 1, "xfs", 0, &tab, &err),
			 -ENODATA);
	assert_non_null(strstr(err.text, "xfs"));
	assert_int_equal(load_text("", 0, NULL, 0, &tab, &err), -ENODATA);
	assert_null(tab);
}

static void separates_sections_of_the_text(void **state)
{
	struct kallsyms_index index;
	const struct kallsyms_part *p;

	(void)state;
	assert_int_equal(kallsyms_index(&index, text, sizeof(text) - 1), 0);
	assert_int_equal(index.parts.nr, 4);
	p = kallsyms_part(&index, NULL);
	assert_int_equal(p->begin, 0);
	p = kallsyms_part(&index, "ext4");
	assert_memory_equal(text + p->begin, "ffffffffc0000000 t ext4_read", 28);
	assert_memory_equal(text + p->end - 7, "[ext4]\n", 7);
	assert_non_null(kallsyms_part(&index, "snd_hda_intel"));
	assert_int_equal(kallsyms_part(&index, "bpf")->end, sizeof(text) - 1);
	assert_null(kallsyms_part(&index, "ext"));
	kallsyms_index_done(&index);
}

/* A module that was loaded twice. */
static void finds_sections_by_address(void **state)
{
	static const char twice[] = "1000 T _text\n3000 t a\t[m]\n3100 t b\t[m]\n\n"
				    "8000 t a\t[m]\n\n5010 t a\t[m]\n";
	struct kallsyms_index index;

	(void)state;
	assert_int_equal(kallsyms_index(&index, twice, sizeof(twice) - 1), 0);
	assert_int_equal(kallsyms_part_at(&index, "m", 0x3000, 0x4000)->begin, 13);
	assert_ptr_equal(kallsyms_part_at(&index, "m", 0x8000, 0x9000)->module,
			 strstr(twice, "8000 t a") + strlen("8000 t a\t["));
	assert_ptr_equal(kallsyms_part_at(&index, "m", 0x5000, 0x6000)->module,
			 strstr(twice, "5010 t a") + strlen("5010 t a\t["));
	assert_int_equal(kallsyms_part_at(&index, "m", 0x6000, 0x7000)->begin, 13);
	assert_null(kallsyms_part_at(&index, "n", 0x3000, 0x4000));
	kallsyms_index_done(&index);
}

static void parses_lines(void **state)
{
	static const struct {
		const char *text;
		int r;
	} cases[] = {
		{ "", -1 },
		{ "\n", 0 },
		{ "ffff T", 0 },
		{ "ffff T ", 0 },
		{ "ffff T x", 1 },
		{ "ffff T x\t[m]", 1 },
		{ " T x", 0 },
		{ "10000000000000000 T too_wide", 0 },
		{ "FFFF T capitals", 0 },
		{ "ffff  T x", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct kallsyms_line line;
		size_t pos = 0;
		int r = kallsyms_next(cases[i].text, strlen(cases[i].text), &pos,
				      &line);

		if (r != cases[i].r)
			fail_msg("\"%s\": %d", cases[i].text, r);
	}
}

static void survives_every_prefix(void **state)
{
	(void)state;
	for (size_t len = 0; len < sizeof(text); len++) {
		char *cut = malloc(len + 1);
		struct symtab *tab = NULL;

		memcpy(cut, text, len);
		(void)load_text(cut, len, "ext4", 0, &tab, NULL);
		symtab_free(tab);
		free(cut);
	}
}

static void handles_allocation_failure(void **state)
{
	(void)state;
	for (unsigned long n = 1;; n++) {
		struct symtab *tab = NULL;
		int r;

		alloc_fail_at(n);
		r = load_text(text, sizeof(text) - 1, NULL, 0, &tab, NULL);
		if (!alloc_fail_off()) {
			assert_int_equal(r, 0);
			symtab_free(tab);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(tab);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(reads_the_kernels_text_symbols),
		cmocka_unit_test(handles_an_unknown_kernel_base),
		cmocka_unit_test(reads_modules),
		cmocka_unit_test(the_last_symbol_ends_with_its_section),
		cmocka_unit_test(handles_empty_input),
		cmocka_unit_test(separates_sections_of_the_text),
		cmocka_unit_test(finds_sections_by_address),
		cmocka_unit_test(parses_lines),
		cmocka_unit_test(survives_every_prefix),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}
