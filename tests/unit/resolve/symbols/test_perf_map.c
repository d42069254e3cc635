/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "resolve/symbols/perf_map.h"

/* Returns the name at `at`, without the rest of its line. */
static const char *name_at(const struct perf_map *map, uint64_t at)
{
	static char name[64];

	for (size_t i = 0; i < map->pieces.nr; i++) {
		const struct perf_map_piece *p = &map->pieces.at[i];

		if (at >= p->start && at < p->end) {
			snprintf(name, sizeof(name), "%.*s", (int)p->name_len,
				 map->text + p->name);
			return name;
		}
	}
	return "-";
}

static void read_map(struct perf_map *map, const char *text)
{
	assert_int_equal(perf_map_read(map, text, strlen(text)), 0);
}

static void reads_lines_in_any_order(void **state)
{
	struct perf_map map;

	(void)state;
	read_map(&map, "2000 10 second\n0x1000 0x20 first with blanks\r\n");
	assert_int_equal(map.pieces.nr, 2);
	assert_int_equal(map.nr_bad, 0);
	assert_string_equal(name_at(&map, 0x1000), "first with blanks");
	assert_string_equal(name_at(&map, 0x101f), "first with blanks");
	assert_string_equal(name_at(&map, 0x1020), "-");
	assert_string_equal(name_at(&map, 0x200f), "second");
	perf_map_done(&map);
}

static void counts_malformed_lines(void **state)
{
	struct perf_map map;

	(void)state;
	read_map(&map, "nonsense\n1000 0 empty\n1000 10\n1000 10 \n\n"
		       "fffffffffffffff0 20 wraps\n12345678901234567 10 long\n"
		       "3000 10 good\n4000 10 cut");
	assert_int_equal(map.nr_bad, 6);
	assert_int_equal(map.pieces.nr, 2);
	assert_string_equal(name_at(&map, 0x3000), "good");
	assert_string_equal(name_at(&map, 0x4000), "cut");
	perf_map_done(&map);
}

static void the_last_of_several_lines_wins(void **state)
{
	struct perf_map map;

	(void)state;
	/* One function is in the middle of another one, one ends after it, and one is at the same
	 * address. */
	read_map(&map, "1000 100 old\n1040 10 inside\n10f0 20 behind\n"
		       "1000 8 new\n3000 10 x\n3000 10 y\n");
	assert_string_equal(name_at(&map, 0x1000), "new");
	assert_string_equal(name_at(&map, 0x1007), "new");
	assert_string_equal(name_at(&map, 0x1008), "old");
	assert_string_equal(name_at(&map, 0x1040), "inside");
	assert_string_equal(name_at(&map, 0x1050), "old");
	assert_string_equal(name_at(&map, 0x10ef), "old");
	assert_string_equal(name_at(&map, 0x10f0), "behind");
	assert_string_equal(name_at(&map, 0x110f), "behind");
	assert_string_equal(name_at(&map, 0x3000), "y");
	for (size_t i = 1; i < map.pieces.nr; i++)
		assert_true(map.pieces.at[i - 1].end <= map.pieces.at[i].start);
	perf_map_done(&map);
}

static void an_earlier_line_does_not_replace_a_later_one(void **state)
{
	struct perf_map map;

	(void)state;
	read_map(&map, "1020 10 early\n1000 100 late\n");
	assert_int_equal(map.pieces.nr, 1);
	assert_string_equal(name_at(&map, 0x1025), "late");
	perf_map_done(&map);
}

static void a_table_has_the_symbols_in_its_range(void **state)
{
	struct perf_map map;
	struct symtab *tab;

	(void)state;
	read_map(&map,
		 "0ff0 20 before\n1100 10 inside\n1ff8 10 beyond\n3000 10 other\n");
	assert_int_equal(perf_map_symtab(&map, 0x1000, 0x2000, 0x800, &tab), 0);
	assert_int_equal(symtab_count(tab), 3);
	/* Offset 0x800 is address 0x1000. */
	assert_string_equal(symtab_find(tab, 0x800)->name, "before");
	assert_int_equal(symtab_find(tab, 0x80f)->vaddr.v, 0xff0);
	assert_null(symtab_find(tab, 0x810));
	assert_string_equal(symtab_find(tab, 0x900)->name, "inside");
	assert_int_equal(symtab_vaddr(tab, 0x900).v, 0x1100);
	assert_string_equal(symtab_find(tab, 0x17ff)->name, "beyond");
	assert_null(symtab_find(tab, 0x1800));
	symtab_free(tab);
	assert_int_equal(perf_map_symtab(&map, 0x5000, 0x6000, 0x5000, &tab), -ENODATA);
	perf_map_done(&map);
}

static void handles_allocation_failure(void **state)
{
	static const char text[] = "1000 10 a\n1008 10 b\n2000 10 c\n";
	struct perf_map map;
	int r;

	(void)state;
	for (unsigned long n = 1;; n++) {
		struct symtab *tab = NULL;

		alloc_fail_at(n);
		r = perf_map_read(&map, text, sizeof(text) - 1);
		if (!r)
			r = perf_map_symtab(&map, 0, 0x10000, 0, &tab);
		symtab_free(tab);
		perf_map_done(&map);
		if (!alloc_fail_off())
			break;
		assert_int_equal(r, -ENOMEM);
	}
	assert_int_equal(r, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_lines_in_any_order),
		cmocka_unit_test(counts_malformed_lines),
		cmocka_unit_test(the_last_of_several_lines_wins),
		cmocka_unit_test(an_earlier_line_does_not_replace_a_later_one),
		cmocka_unit_test(a_table_has_the_symbols_in_its_range),
		cmocka_unit_test(handles_allocation_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
