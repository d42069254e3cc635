/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs line number programs written by hand after DWARF 4, section 6.2, and checks their rows. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "resolve/dwarf/line.h"

/* The input of a program. */
struct fixture {
	struct dwarf_file file;
	struct dwarf_info info;
	struct dwarf_unit unit;
	struct dwarf_program program;
	struct dwarf_reader reader;
	dwarf_row_vec rows;
	struct buf bytes;
};

/* The header of version 4: minimum length 1, `max_ops`, line_base -5, line_range 14,
 * opcode_base 10; directory "inc", files a.c (in the unit's directory) and b.h (in inc). */
static void begin(struct fixture *x, uint8_t max_ops)
{
	static const uint8_t counts[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1 };
	static const char paths[] = "inc\0\0a.c\0\0\0\0b.h\0\1\0\0";
	struct dwarf_code all = { 0x1000, 0x10000 };

	memset(x, 0, sizeof(*x));
	x->info.file = &x->file;
	x->unit.info = &x->info;
	x->unit.has_line = true;
	x->unit.widths = (struct dwarf_widths){ 4, 8, 4 };
	assert_true(vec_push(&x->file.code, all));
	for (int i = 0; i < DWARF_SECTIONS; i++)
		x->file.sections[i].fd = -1;
	buf_put_u32(&x->bytes, 0); /* length: set by run() */
	buf_put_u16(&x->bytes, 4);
	buf_put_u32(&x->bytes, 6 + sizeof(counts) + sizeof(paths));
	buf_put_u8(&x->bytes, 1);
	buf_put_u8(&x->bytes, max_ops);
	buf_put_u8(&x->bytes, 1);
	buf_put_u8(&x->bytes, (uint8_t)-5);
	buf_put_u8(&x->bytes, 14);
	buf_put_u8(&x->bytes, 10);
	buf_put(&x->bytes, counts, sizeof(counts));
	buf_put(&x->bytes, paths, sizeof(paths));
}

static void put(struct fixture *x, const char *ops, size_t len)
{
	buf_put(&x->bytes, ops, len);
}

static void set_address(struct fixture *x, uint64_t addr)
{
	put(x, "\0\x9\x2", 3);
	buf_put_u64(&x->bytes, addr);
}

static void run(struct fixture *x)
{
	uint32_t length = (uint32_t)x->bytes.len - 4;

	memcpy(x->bytes.data, &length, 4);
	x->file.elf.swap = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
	assert_int_equal(dwarf_section_of_bytes(x->bytes.data, x->bytes.len,
						&x->file.sections[DWARF_LINE]),
			 0);
	assert_int_equal(dwarf_program_open(&x->program, &x->unit, &x->reader), 0);
	assert_int_equal(dwarf_program_run(&x->program, &x->rows), 0);
}

static void end(struct fixture *x)
{
	vec_done(&x->rows);
	buf_done(&x->bytes);
	dwarf_program_done(&x->program);
	dwarf_reader_done(&x->reader);
	dwarf_file_close(&x->file);
}

static void expect_row(const struct fixture *x, size_t i, uint64_t addr, uint32_t line)
{
	assert_in_range(i, 0, x->rows.nr - 1);
	assert_int_equal(x->rows.at[i].addr, addr);
	assert_int_equal(x->rows.at[i].line, line);
	assert_int_equal(x->rows.at[i].end, line == 0);
}

#define END_SEQUENCE "\0\1\1"

static void test_special_opcodes(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, 1);
	set_address(&x, 0x2000);
	put(&x, "\1", 1); /* copy: line 1 */
	put(&x, "\x3\xe4\0\1",
	    4);             /* line +100, copy: same address, the last row counts */
	put(&x, "\x25", 1); /* 37 - 10 = 27: address +1, line -5 + 13 */
	put(&x, "\x2\x81\1\1", 4); /* address +129, copy: nothing new, no row */
	put(&x, "\x8\x5\x7\1",
	    4); /* const_add_pc: (255 - 10) / 14 = 17; column 7, copy */
	put(&x, "\x9\x10\0" END_SEQUENCE, 6); /* fixed_advance_pc 16 */
	run(&x);
	assert_int_equal(x.rows.nr, 4);
	expect_row(&x, 0, 0x2000, 101);
	expect_row(&x, 1, 0x2001, 109);
	expect_row(&x, 2, 0x2001 + 129 + 17, 109);
	assert_int_equal(x.rows.at[2].column, 7);
	expect_row(&x, 3, 0x2001 + 129 + 17 + 16, 0);
	end(&x);
}

static void test_files_and_discriminators(void **state)
{
	struct fixture x;
	struct buf path = { 0 };

	(void)state;
	begin(&x, 1);
	set_address(&x, 0x2000);
	put(&x, "\x4\x2\0\x2\x4\x9\1", 7); /* file 2, discriminator 9, copy */
	put(&x, "\x2\x4\x3\1\1", 5); /* address +4, line +1, copy: discriminator 0 */
	put(&x, "\x2\x4" END_SEQUENCE, 5);
	run(&x);
	assert_int_equal(x.rows.nr, 3);
	assert_int_equal(x.rows.at[0].file, 2);
	assert_int_equal(x.rows.at[0].discriminator, 9);
	assert_int_equal(x.rows.at[1].discriminator, 0);
	assert_int_equal(dwarf_program_path(&x.program, 2, &path), 0);
	assert_string_equal((char *)path.data, "inc/b.h");
	buf_clear(&path);
	assert_int_equal(dwarf_program_path(&x.program, 1, &path), 0);
	assert_string_equal((char *)path.data, "a.c");
	assert_int_not_equal(dwarf_program_path(&x.program, 3, &path), 0);
	buf_done(&path);
	end(&x);
}

/* Sequences come in any order; those of removed code (address 0), and one without an end, are
 * ignored. */
static void test_sequences(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, 1);
	set_address(&x, 0x3000);
	put(&x, "\1\x2\x8" END_SEQUENCE, 6);
	set_address(&x, 0);
	put(&x, "\1\x2\x8" END_SEQUENCE, 6);
	set_address(&x, 0x2000);
	put(&x, "\1\x2\x8" END_SEQUENCE, 6);
	set_address(&x, 0x4000);
	put(&x, "\1\x2\x8", 3);
	run(&x);
	assert_int_equal(x.rows.nr, 4);
	expect_row(&x, 0, 0x2000, 1);
	expect_row(&x, 1, 0x2008, 0);
	expect_row(&x, 2, 0x3000, 1);
	expect_row(&x, 3, 0x3008, 0);
	end(&x);
}

/* Three operations in an instruction of one byte: only complete instructions advance the
 * address. */
static void test_very_long_instruction_words(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, 3);
	set_address(&x, 0x2000);
	put(&x, "\1", 1);
	put(&x, "\x2\x2\x3\1\1", 5); /* two operations: index 2, same address */
	put(&x, "\x2\x2\x3\1\1", 5); /* two more: address +1, index 1 */
	put(&x, "\x2\x9" END_SEQUENCE, 5);
	run(&x);
	assert_int_equal(x.rows.nr, 3);
	expect_row(&x, 0, 0x2000, 2);
	expect_row(&x, 1, 0x2001, 3);
	expect_row(&x, 2, 0x2004, 0);
	end(&x);
}

/* A program that is shared by very many units is read a limited number of times. */
static void test_limit_of_shared_strings(void **state)
{
	enum {
		PROGRAM = 1 << 19,
		ENOUGH = 8, /* more often than in a valid file */
		MOST = 16
	};
	struct fixture x;
	unsigned int times = 1;

	(void)state;
	begin(&x, 1);
	set_address(&x, 0x2000);
	while (x.bytes.len < PROGRAM)
		put(&x, "\2\1\1", 3);
	put(&x, END_SEQUENCE, 3);
	run(&x);
	while (times <= MOST && !dwarf_program_open(&x.program, &x.unit, &x.reader))
		times++;
	assert_in_range(times, ENOUGH, MOST);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_special_opcodes),
		cmocka_unit_test(test_files_and_discriminators),
		cmocka_unit_test(test_sequences),
		cmocka_unit_test(test_very_long_instruction_words),
		cmocka_unit_test(test_limit_of_shared_strings),
	};

	return UNIT_RUN(tests);
}
