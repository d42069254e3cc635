/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "base/parse.h"

#include "unit.h"

static void parses_integers(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t want;
	} rows[] = {
		{ "0", true, 0 },
		{ "007", true, 7 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "99999999999999999999999", false, 0 },
		{ "0x0", true, 0 },
		{ "0xfF", true, 255 },
		{ "0Xffffffffffffffff", true, UINT64_MAX },
		{ "0x10000000000000000", false, 0 },
		{ "", false, 0 },
		{ "0x", false, 0 },
		{ "-1", false, 0 },
		{ "+1", false, 0 },
		{ " 1", false, 0 },
		{ "1 ", false, 0 },
		{ "12a", false, 0 },
		{ "0xg", false, 0 },
		{ "1.5", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t v = 4711;

		assert_int_equal(parse_u64(rows[i].text, &v), rows[i].good);
		assert_true(v == (rows[i].good ? rows[i].want : 4711));
	}
}

static void enforces_bounds(void **state)
{
	uint64_t v = 0;

	(void)state;
	assert_true(parse_u64_max("100", 100, &v));
	assert_int_equal(v, 100);
	assert_false(parse_u64_max("101", 100, &v));
	assert_int_equal(v, 100);
}

static void parses_fractions(void **state)
{
	static const struct {
		const char *text;
		bool good;
		double want;
	} rows[] = {
		{ "0", true, 0 },      { "0.5", true, 0.5 }, { ".25", true, 0.25 },
		{ "3.", true, 3 },     { "100", true, 100 }, { "", false, 0 },
		{ ".", false, 0 },     { "-1", false, 0 },   { "nan", false, 0 },
		{ "inf", false, 0 },   { "1e3", false, 0 },  { "0x1p3", false, 0 },
		{ "1,5", false, 0 },   { " 1", false, 0 },   { "1 ", false, 0 },
		{ "1.2.3", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		double v = -7;
		double diff;

		assert_int_equal(parse_double(rows[i].text, &v), rows[i].good);
		diff = v - (rows[i].good ? rows[i].want : -7);
		assert_true(diff < 1e-12 && diff > -1e-12);
	}
}

static void rejects_too_many_digits(void **state)
{
	char text[400];
	double v = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = '9';
	text[sizeof(text) - 1] = '\0';
	assert_false(parse_double(text, &v));
	assert_true(v == 1);
}

static void hex_stops_after_its_digits(void **state)
{
	const char *text = "7fff1000-7fff2000";
	const char *at = text;
	uint64_t v = 0;

	(void)state;
	assert_true(parse_hex_at(&at, &v));
	assert_int_equal(v, 0x7fff1000);
	assert_ptr_equal(at, text + 8);
	assert_false(parse_hex_at(&at, &v));
	assert_ptr_equal(at, text + 8);

	at = text = "ffffffffffffffff ";
	assert_true(parse_hex_at(&at, &v));
	assert_true(v == UINT64_MAX);
	assert_ptr_equal(at, text + 16);
	at = text = "00000000000000001";
	assert_false(parse_hex_at(&at, &v));
	assert_ptr_equal(at, text);
	at = "";
	assert_false(parse_hex_at(&at, &v));
}

static void parses_durations(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t want;
	} rows[] = {
		{ "10", true, 10000000000 },
		{ "1.5s", true, 1500000000 },
		{ "250ms", true, 250000000 },
		{ "2m", true, 120000000000 },
		{ "2min", true, 120000000000 },
		{ "1h", true, 3600000000000 },
		{ "7us", true, 7000 },
		{ "9ns", true, 9 },
		{ "0", true, 0 },
		{ "s", false, 0 },
		{ "1 s", false, 0 },
		{ "1d", false, 0 },
		{ "-1", false, 0 },
		{ "", false, 0 },
		{ "99999999999h", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t ns = 3;

		assert_int_equal(parse_duration_ns(rows[i].text, &ns), rows[i].good);
		assert_true(ns == (rows[i].good ? rows[i].want : 3));
	}
}

static void parses_source_locations(void **state)
{
	static const struct {
		const char *text;
		size_t length;
		uint32_t line;
	} rows[] = {
		{ "/src/a.c:12", 8, 12 },
		{ "a:b.c:0", 5, 0 },
		{ "a.c:4294967295", 3, 4294967295 },
		{ "a.c:4294967296", 0, 7 },
		{ "a.c:", 0, 7 },
		{ "a.c:1x", 0, 7 },
		{ "(no location information)", 0, 7 },
		{ ":5", 0, 5 },
		{ "", 0, 7 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint32_t line = 7;

		assert_int_equal(parse_source_position(rows[i].text, &line),
				 rows[i].length);
		assert_int_equal(line, rows[i].line);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(parses_integers),
		cmocka_unit_test(enforces_bounds),
		cmocka_unit_test(parses_fractions),
		cmocka_unit_test(rejects_too_many_digits),
		cmocka_unit_test(hex_stops_after_its_digits),
		cmocka_unit_test(parses_durations),
		cmocka_unit_test(parses_source_locations),
	};

	return UNIT_RUN(cases);
}
