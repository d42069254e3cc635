/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shortens names that are too long. The expected texts were written by hand. */
#include "base/array.h"
#include "present/lines/elide.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "present/lines/screen.h"

#include "unit.h"

#define DOTS "\xe2\x80\xa6"

struct row {
	const char *text;
	unsigned int columns;
	bool utf8;
	const char *expected;
};

static void check(const struct row *row)
{
	struct buf out = { 0 };
	size_t columns =
		elide_put(&out, row->text, strlen(row->text), row->columns, row->utf8);

	buf_put_u8(&out, 0);
	assert_string_equal((const char *)out.data, row->expected);
	assert_int_equal(columns, screen_columns(row->expected, strlen(row->expected)));
	assert_true(columns <= row->columns);
	buf_done(&out);
}

#define CHECK_ALL(rows)                                                                \
	for (size_t i_ = 0; i_ < COUNT_OF(rows); i_++)                                 \
	check(&(rows)[i_])

static void shortens_in_the_middle(void **state)
{
	static const struct row rows[] = {
		{ "abcdefghij", 10, true, "abcdefghij" },
		{ "abcdefghijk", 10, true, "abcde" DOTS "hijk" },
		{ "abcdefghijk", 9, true, "abcd" DOTS "hijk" },
		{ "abcdefghijk", 10, false, "abcd...ijk" },
		{ "abcdefghijk", 5, false, "a...k" },
		{ "abcdefghijk", 4, false, "abcd" },
		{ "abcdefghijk", 1, true, "a" },
		{ "abcdefghijk", 0, true, "" },
		{ "", 0, true, "" },
		{ "anon (tgid:4242 range:0x7f0000000000-0x7f0000010fff)", 20, true,
		  "anon (tgid" DOTS "00010fff)" },
	};

	(void)state;
	CHECK_ALL(rows);
}

static void removes_directories_of_paths_first(void **state)
{
	static const char libc[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";
	static const struct row rows[] = {
		{ libc, 35, true, libc },
		{ libc, 34, true, "/usr/lib/" DOTS "/libc.so.6" },
		{ libc, 20, true, "/usr/lib/" DOTS "/libc.so.6" },
		{ libc, 19, true, "/usr/" DOTS "/libc.so.6" },
		{ libc, 21, false, "/usr/.../libc.so.6" },
		{ libc, 12, true, "/" DOTS "/libc.so.6" },
		{ libc, 11, true, DOTS "/libc.so.6" },
		/* The last part itself is too long. */
		{ libc, 10, true, "/usr/" DOTS "so.6" },
		{ "/usr/lib/folder/", 10, true, "/usr/" DOTS "der/" },
	};

	(void)state;
	CHECK_ALL(rows);
}

static void removes_text_in_brackets(void **state)
{
	static const char push[] =
		"std::vector<int, std::allocator<int> >::push_back(int const&)";
	static const struct row rows[] = {
		{ push, 61, true, push },
		{ push, 60, true,
		  "std::vector<int, std::allocator<" DOTS
		  "> >::push_back(int const&)" },
		{ push, 40, true, "std::vector<" DOTS ">::push_back(" DOTS ")" },
		{ push, 28, true, "std::vector<" DOTS ">::push_back(" DOTS ")" },
		{ push, 27, true, "std::vector<" DOTS ":push_back(" DOTS ")" },
		/* The innermost ones are shortened first. */
		{ "f(a<b<c<int, int>, d>, e>)", 25, true,
		  "f(a<b<c<" DOTS ">, d>, e>)" },
		{ "f(a<b<c<int, int>, d>, e>)", 17, true, "f(a<b<" DOTS ">, e>)" },
		/* Text that is shorter than the dots is kept. */
		{ "alphabet<int>::soup(unsigned long)", 30, false,
		  "alphabet<int>::soup(...)" },
		/* These characters are not brackets. */
		{ "ns::operator<< <char>(std::ostream&)", 25, true,
		  "ns::operator<< <" DOTS ">(" DOTS ")" },
		{ "ns::thing::operator()(int, int) const", 30, true,
		  "ns::thing::operator()(" DOTS ") const" },
		{ "a::operator->(std::string const&)", 20, true,
		  "a::operator->(" DOTS ")" },
		{ "my_operator<int, int, int>()", 20, true, "my_operator<" DOTS ">()" },
		{ "(anonymous namespace)::f(int, int)", 30, true,
		  "(anonymous namespace)::f(" DOTS ")" },
		{ "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", 24, true,
		  "<" DOTS ">::drop" },
		{ "call<fn(u8) -> bool>::once", 19, true, "call<" DOTS ">::once" },
		/* The brackets do not match. */
		{ "a<b>c>d(efghijklmn", 10, true, "a<b>c" DOTS "klmn" },
		{ "abcdefghijk<(((((((", 10, true, "abcde" DOTS "((((" },
	};

	(void)state;
	CHECK_ALL(rows);
}

static void keeps_characters_intact(void **state)
{
	static const struct row rows[] = {
		/* Two columns each: with 6 there is room for one on each side. */
		{ "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 6, true,
		  "\xe4\xb8\xad" DOTS "\xe4\xb8\xad" },
		/* An accent stays with its letter, on both sides. */
		{ "e\xcc\x81"
		  "bcdefghi\xcc\x81"
		  "j",
		  4, true,
		  "e\xcc\x81"
		  "b" DOTS "j" },
		{ "e\xcc\x81"
		  "bcdefghi\xcc\x81"
		  "j",
		  5, true,
		  "e\xcc\x81"
		  "b" DOTS "i\xcc\x81"
		  "j" },
	};

	(void)state;
	CHECK_ALL(rows);
}

/* With any bytes, the result fits and stays valid UTF-8. */
static void fits_every_width(void **state)
{
	static const char *const parts[] = {
		"<",
		">",
		"(",
		")",
		"/",
		"a",
		"operator",
		"->",
		" ",
		"::",
		"(anonymous namespace)",
		"\xe4\xb8\xad",
		"\xcc\x81",
		DOTS,
		"xyz",
	};
	const size_t nr_parts = COUNT_OF(parts);
	uint32_t dice = 1;

	(void)state;
	for (int n = 0; n < 20000; n++) {
		struct buf text = { 0 };
		struct buf out = { 0 };
		unsigned int columns;

		for (int i = 0; i < 12; i++) {
			dice = dice * 1664525 + 1013904223;
			buf_put(&text, parts[(dice >> 16) % nr_parts],
				strlen(parts[(dice >> 16) % nr_parts]));
		}
		columns = (dice >> 8) % 40;
		elide_put(&out, (const char *)text.data, text.len, columns, n & 1);
		assert_true(screen_columns((const char *)out.data, out.len) <= columns);
		for (size_t at = 0; at < out.len;) {
			size_t len = utf8_next(out.data + at, out.len - at, NULL);

			assert_true(len > 0);
			at += len;
		}
		buf_done(&text);
		buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(shortens_in_the_middle),
		cmocka_unit_test(removes_directories_of_paths_first),
		cmocka_unit_test(removes_text_in_brackets),
		cmocka_unit_test(keeps_characters_intact),
		cmocka_unit_test(fits_every_width),
	};

	return UNIT_RUN(cases);
}
